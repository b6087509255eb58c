#!/usr/bin/env bash
# gpu_counts.sh OUT [SECONDS] -- a part of make gpu-check: the memory requests, sectors and wavefronts of each kernel of labs 06
# and 07, as the emulator counts them and as ncu does (OUT/counts.md; OUT/counts.json: one object a line). Kernels for
# which SECONDS (default 120) leave no time are named. CUDA=emu: ncu gets the emulator's programs, as a test of this script.
set -uo pipefail
out=$(realpath "$1") limit=${2:-120} CUDA=${CUDA:-nvcc} equal=0 near=0 other=0 unknown=0
cd "$(dirname "$0")/../.." || exit 2
PATH+=:/usr/local/cuda/bin
files06=(minitorch/bench/count_lab06.cu solutions/06-cuda-kernels/*.cu minitorch/cuda/{device,strided}.cu)
files07=(minitorch/bench/count_lab07.cu solutions/07-cuda-matmul/{naive,shared,register,pipelined,tensor,cublas}.cu
    minitorch/cuda/{device,cublas}.cu)
host06=(minitorch/core/{base,shape}.c minitorch/kernels/nd.c solutions/00-tensors/{view,strides}.c)
host07=(minitorch/testing/matmul_ladder_cuda.c minitorch/kernels/matmul.c minitorch/core/base.c)

# built LAB: OUT/countLAB.emu and, with nvcc, OUT/countLAB.gpu.
built() {
    local files="files$1[@]" host="host$1[@]" objects=() c
    build/release/emu/cuemu -Iminitorch -D_GNU_SOURCE -std=gnu11 "${!files}" "${!host}" -fopenmp -o "$out/count$1.emu" || return 1
    if [ "$CUDA" = emu ]; then
        ln -f "$out/count$1.emu" "$out/count$1.gpu"
        return
    fi
    for c in "${!host}"; do
        objects+=("$out/$(basename "$c").o")
        gcc -std=gnu11 -D_GNU_SOURCE -O2 -fopenmp -Iminitorch -c "$c" -o "${objects[-1]}" || return 1
    done
    nvcc -O3 --extended-lambda -arch=native -Iminitorch "${!files}" "${objects[@]}" -lgomp -lcublas -o "$out/count$1.gpu"
}

# What the emulator counts as one: loads, stores, atomics with and without a result, and asynchronous copies. Their names
# differ from device to device: those that this ncu knows.
choose_metrics() {
    local known op
    known=$(timeout 60 ncu --query-metrics 2>/dev/null | grep -oE 'l1tex__(t_(requests|sectors)_pipe_lsu_mem_global|data_pipe_lsu_wavefronts_mem_shared)_op_[a-z_]+')
    [ -n "$known" ] || known=$(printf '%s\n' l1tex__{t_requests_pipe_lsu_mem_global,t_sectors_pipe_lsu_mem_global,data_pipe_lsu_wavefronts_mem_shared}_op_{ld,st})
    op='_op_(ld|st|red|atom|ldgsts)$'
    grep -q '_op_ldgsts$' <<<"$known" || op='_op_(ld|st|red|atom|ldgsts_cache_(access|bypass))$'
    metrics=$(grep -E "$op" <<<"$known" | sort -u | sed 's/$/.sum/' | paste -sd,)
}

# measured LAB NAME SKIP: ncu's sums "requests sectors wavefronts" over the launches of a kernel, after SKIP launches that make
# its inputs; or, with status 1, why there are none. A line of --csv has its fields in quotation marks, and numbers
# have commas in them: "16,384".
measured() {
    local log=$out/ncu.log status
    LC_ALL=C timeout 30 ncu --csv --clock-control none --launch-skip "$3" --metrics "$metrics" "$out/count$1.gpu" "$2" >"$log" 2>&1
    status=$?
    if grep -m 1 -oE '==ERROR== .*' "$log" || [ $status -ne 0 ]; then
        echo "ncu ended with status $status"
        return 1
    fi
    awk -F '","' '/^"ID"/ { for (i = 1; i <= NF; i++) { gsub(/"/, "", $i); column[$i] = i } next }
        /^"[0-9]/ && column["Metric Value"] { name = $column["Metric Name"]; value = $column["Metric Value"]; gsub(/[",]/, "", value)
            if (value !~ /^[0-9.]+$/) next
            rows++
            sum[name ~ /t_requests/ ? 1 : name ~ /t_sectors/ ? 2 : 3] += value }
        END { if (!rows) { print "ncu has profiled no kernel"; exit 1 } printf "%.0f %.0f %.0f\n", sum[1], sum[2], sum[3] }' "$log"
}

# compared LAB NAME REQUESTS SECTORS WAVEFRONTS SKIP: a row, with the verdict.
compared() {
    local theirs verdict
    if [ $SECONDS -ge "$limit" ]; then
        theirs="- - -" verdict="no time left" unknown=$((unknown + 1))
    elif ! $with_ncu; then
        theirs="- - -" verdict="ncu is not there" unknown=$((unknown + 1))
    elif ! theirs=$(measured "$1" "$2" "$6"); then
        verdict=$(tr -d '|"\\' <<<"$theirs" | head -1) theirs="- - -" unknown=$((unknown + 1))
    elif [ "$theirs" = "$3 $4 $5" ]; then
        verdict=equal equal=$((equal + 1))
    elif awk -v a="$3 $4 $5" -v b="$theirs" 'BEGIN { split(a, x); split(b, y); for (i = 1; i <= 3; i++) if ((x[i] - y[i]) ^ 2 > (0.02 * x[i]) ^ 2) exit 1 }'; then
        verdict="within 2 %" near=$((near + 1))
    else
        verdict=DIFFERENT other=$((other + 1))
    fi
    echo "| $2 | $3 | $4 | $5 | ${theirs// / | } | $verdict |" >>"$out/counts.md"
    echo "{\"name\": \"$2\", \"emulator\": [$3, $4, $5], \"ncu\": \"$theirs\", \"verdict\": \"$verdict\"}" >>"$out/counts.json"
}

make -s emulator CUDA=emu && built 06 && built 07 || exit 1
printf '## Counts\n\n| kernel | requests | sectors | wavefronts | ncu: requests | sectors | wavefronts | |\n|---|---|---|---|---|---|---|---|\n' >"$out/counts.md"
: >"$out/counts.json"
with_ncu=false
command -v ncu >/dev/null && with_ncu=true && choose_metrics
for lab in 06 07; do
    CUEMU_LEAKS=0 "$out/count$lab.emu" --raw >"$out/count$lab.csv" || exit 1
    while IFS=, read -r name requests sectors wavefronts; do
        compared $lab "$name" "$requests" "$sectors" "$wavefronts" "$([ $lab = 06 ] && echo 6 || echo 0)" # launches of make_inputs
    done <"$out/count$lab.csv"
done
said="counts of $((equal + near + other + unknown)) kernels: $equal equal, $near within 2 %, $other different, $unknown not measured by ncu"
printf '\n%s\n' "$said" >>"$out/counts.md"
echo "$said"
