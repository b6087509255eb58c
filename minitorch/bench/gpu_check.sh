#!/usr/bin/env bash
# make gpu-check: on a machine with a GPU, nvcc and gcc (and no other package) builds gpu_check and runs its values and
# times; then, where installed, compute-sanitizer, and ncu compared with the emulator's counts. It takes at most nine
# minutes: every part has a time limit, and what was not run is reported. Writes build/gpu-check/report.md and
# report.json; fails when a value is wrong.
#
#   gpu_check.sh              on the GPU
#   gpu_check.sh --emulated   the same in the emulator, at small sizes: a test of this script; its times are meaningless
set -uo pipefail
cd "$(dirname "$0")/../.."
out=build/gpu-check cuda=nvcc patience=1 failed=0 begin=$SECONDS
[ "${1:-}" != --emulated ] || { cuda=emu patience=4 && out=build/gpu-check-emulated; }
fail() { echo "gpu-check: $*" >&2 && exit 1; }
if [ $cuda = nvcc ]; then
    [ -e /dev/nvidia0 ] || [ -e /dev/dxg ] || fail "there is no GPU here: nothing was checked"
    command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || fail "there is no nvcc: install the CUDA toolkit"
fi
bin=build/release/bin/gpu_check
rm -rf $out && mkdir -p $out/parts
echo "# gpu-check" >$out/report.md

tell() { echo "$*" | tee -a $out/report.md; } # a line for both
# part NAME SECONDS COMMAND...: its output goes to parts/NAME.log; says when it was cut off or failed
part() {
    local name=$1 seconds=$(($2 * patience)) status
    shift 2
    timeout "$seconds" "$@" >"$out/parts/$name.log" 2>&1
    status=$?
    case $status in
    0) return 0 ;;
    124) tell "$name: cut off after $seconds seconds" ;;
    *) tell "$name: failed" && tail -20 "$out/parts/$name.log" ;;
    esac
    failed=1
    return 1
}

part build 200 make -s -j"$(nproc)" CUDA=$cuda $bin || fail "gpu_check was not built: $out/parts/build.log"
# Output that was written before the time limit is kept.
part values 90 $bin $out values
part times 100 $bin $out times $((80 * patience))
for name in values times; do
    [ ! -e $out/$name.md ] || { echo && cat $out/$name.md; } >>$out/report.md
    cat "$out/parts/$name.log"
done

echo >>$out/report.md
if [ $cuda = nvcc ] && command -v compute-sanitizer >/dev/null; then
    mkdir -p $out/sanitizer
    part compute-sanitizer 60 compute-sanitizer --error-exitcode 1 $bin $out/sanitizer values && tell "compute-sanitizer: no errors"
else
    tell "compute-sanitizer: skipped, it is not there"
fi

# The memory requests of one kernel: "requests sectors wavefronts", by the emulator and by ncu.
units=(minitorch/bench/count_lab06.cu solutions/06-cuda-kernels/*.cu minitorch/cuda/{device,strided}.cu)
rungs=(minitorch/bench/count_lab07.cu solutions/07-cuda-matmul/{naive,shared,register,pipelined,tensor,cublas}.cu
    minitorch/cuda/{device,cublas}.cu)
host06=(minitorch/core/{base,shape}.c minitorch/kernels/nd.c solutions/00-tensors/{view,strides}.c)
host07=(minitorch/testing/matmul_ladder_cuda.c minitorch/kernels/matmul.c minitorch/core/base.c)
emulated() { CUEMU_LEAKS=0 "$out/parts/count$1.emu" --raw; }
metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
metrics+=,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
# counted LAB NAME SKIP: the sums of ncu's rows over the launches of the kernel `name`; SKIP launches make the inputs
counted() {
    timeout 20 ncu --csv --launch-skip "$3" --metrics $metrics "$out/parts/count$1.gpu" "$2" 2>/dev/null | tr -d '"' |
        awk -F, '{ gsub(/[^0-9.]/, "", $NF) } /t_requests/ { r += $NF } /t_sectors/ { s += $NF } /wavefronts/ { w += $NF }
                 END { printf "%.0f %.0f %.0f\n", r, s, w }'
}
count_both() {
    make -s emulator CUDA=emu || return 1
    build/release/emu/cuemu -Iminitorch -D_GNU_SOURCE -std=gnu11 "${units[@]}" "${host06[@]}" -fopenmp -o $out/parts/count06.emu &&
        build/release/emu/cuemu -Iminitorch -D_GNU_SOURCE -std=gnu11 "${rungs[@]}" "${host07[@]}" -o $out/parts/count07.emu ||
        return 1
    emulated 06 >$out/parts/count06.csv && emulated 07 >$out/parts/count07.csv
}
export -f count_both emulated
count() {
    local objects=() lab name requests sectors wavefronts skip
    if [ $cuda = nvcc ]; then
        for c in "${host06[@]}" "${host07[@]}"; do
            objects+=("$out/parts/$(basename "$c").o")
            gcc -std=gnu11 -D_GNU_SOURCE -O2 -fopenmp -Iminitorch -c "$c" -o "${objects[-1]}" || return 1
        done
        nvcc -O3 --extended-lambda -arch=native -Iminitorch "${units[@]}" "${objects[@]:0:${#host06[@]}}" -lgomp -o $out/parts/count06.gpu &&
            nvcc -O3 --extended-lambda -arch=native -Iminitorch "${rungs[@]}" "${objects[@]:${#host06[@]}}" -lcublas -o $out/parts/count07.gpu ||
            return 1
    fi
    printf '\n## Counts\n\n| kernel | requests | sectors | wavefronts | ncu: requests | sectors | wavefronts |\n|---|---|---|---|---|---|---|\n' >>$out/report.md
    for lab in 06 07; do
        skip=$([ $lab = 06 ] && echo 6 || echo 0) # launches of count_lab06's make_inputs
        while IFS=, read -r name requests sectors wavefronts; do
            local theirs="- - -"
            if [ $((SECONDS - begin)) -ge $((520 * patience)) ]; then
                theirs="cut off -"
            elif [ $cuda = nvcc ]; then
                theirs=$(counted $lab "$name" "$skip")
            fi
            echo "| $name | $requests | $sectors | $wavefronts | ${theirs// / | } |" >>$out/report.md
            echo "{\"name\": \"$name\", \"emulator\": [$requests, $sectors, $wavefronts], \"ncu\": \"$theirs\"}" >>$out/parts/counts.json
        done <$out/parts/count$lab.csv
    done
}
if [ $cuda = emu ] || command -v ncu >/dev/null; then
    (count_both) >$out/parts/counts.log 2>&1 && count || { tell "counts: failed" && tail -5 $out/parts/counts.log && failed=1; }
else
    tell "ncu: skipped, it is not there"
fi

{
    echo
    echo "## Machine"
    echo
    if [ $cuda = emu ]; then
        echo "The emulator: not measured on a GPU."
    else
        nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    fi
    echo "$((SECONDS - begin)) seconds"
} >>$out/report.md
whole() { if [ "$(tail -n 1 "$1" 2>/dev/null)" = "]" ]; then cat "$1"; else echo '[]'; fi; } # not one that was cut off
{
    echo "{\"values\": $(whole $out/values.json), \"times\": $(whole $out/times.json),"
    echo " \"counts\": [$(paste -sd, $out/parts/counts.json 2>/dev/null)]}"
} >$out/report.json
[ $failed = 0 ] && echo "gpu-check: PASS, the report is in $out/report.md" || fail "FAIL, see $out/report.md"
