#!/usr/bin/env bash
# bench_gpt2.sh BUILD [ROUNDS] -- a training step of GPT-2 124M (fp32, two threads, clipping, AdamW) beside PyTorch's, in three
# shapes, by turns (ours, theirs, theirs, ours) so that both meet the same neighbours on the machine; of each the fastest
# step counts. Then generation, beside what memory allows.
#
# PyTorch gets its best set-up: wide vectors, huge pages, threads that wait awake, and whichever core type of OpenBLAS is
# faster in the first shape. It should have OpenBLAS's OpenMP build: apt install libopenblas0-openmp
# Writes build/bench/gpt2.csv: batch,time,ms,torch_ms,ratio,rss_mb,torch_rss_mb,products,attention,gflops,peak_gflops,mfu
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=$1 rounds=${2:-1}
python=${PYTHON:-/usr/bin/python3}
peer=minitorch/bench/peers/gpt2_torch.py
csv=build/bench/gpt2.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p build/bench
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=active

# run_ours BATCH TIME STEPS, run_torch BATCH TIME STEPS SETUP... -- append one line to $work/{ours,torch}.TIME
run_ours() { "$build/bin/bench_gpt2" --batch "$1" --time "$2" --steps "$3" --csv >>"$work/ours.$2" || exit 1; }
run_torch()
{
    local batch=$1 time=$2 steps=$3
    shift 3
    env ATEN_CPU_CAPABILITY="$vectors" GLIBC_TUNABLES=glibc.malloc.hugetlb=1 "$@" \
        "$python" $peer --batch "$batch" --time "$time" --steps "$steps" >>"$work/torch.$time" || exit 1
}

fastest() { sort -t, -k4,4g "$1" | head -n 1; }
field()   { cut -d, -f"$2" <<<"$1"; }
most()    { cut -d, -f5 "$1" | sort -g | tail -n 1; }
ratio()   { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

# now WORDS -- what is measured now, on a terminal: a step takes seconds, a shape a minute.
now() { [ ! -t 2 ] || printf '%-60s\r' "$* ..." >&2; }

# best_core -- the core type with which PyTorch's step of the first shape is fastest; empty: OpenBLAS's own choice.
best_core()
{
    local core best='' least=''
    for core in '' Haswell ${wide:+SkylakeX}; do
        rm -f "$work/torch.64"
        now "PyTorch's set-ups: ${core:-own core type}"
        run_torch 4 64 2 ${core:+OPENBLAS_CORETYPE=$core}
        local ms
        ms=$(field "$(fastest "$work/torch.64")" 4)
        if [ -z "$least" ] || awk "BEGIN { exit !($ms < $least) }"; then
            least=$ms best=${core:+OPENBLAS_CORETYPE=$core}
        fi
    done
    rm -f "$work/torch.64"
    echo "$best"
}

vectors=avx2 wide=''
if grep -qm1 avx512f /proc/cpuinfo; then
    vectors=avx512 wide=1
fi
peer_there='' core=''
if "$python" -c 'import torch' 2>/dev/null; then
    peer_there=1
    core=$(best_core) || exit 1
    echo "PyTorch: ATEN_CPU_CAPABILITY=$vectors GLIBC_TUNABLES=glibc.malloc.hugetlb=1 $core"
else
    echo "PyTorch is not here, nothing to compare with: apt install python3-torch libopenblas0-openmp"
fi

echo batch,time,ms,torch_ms,ratio,rss_mb,torch_rss_mb,products,attention,gflops,peak_gflops,mfu >"$csv"
printf '%-12s %9s %9s %7s %8s %9s %9s %10s %9s %6s\n' shape ms torch ratio 'RSS MB' torch products attention GFLOP/s MFU
summary=''
for shape in '4 64 3' '4 256 2' '1 1024 2'; do
    read -r batch time steps <<<"$shape"
    for round in $(seq "$rounds"); do
        now "B=$batch T=$time, round $round of $rounds"
        run_ours "$batch" "$time" "$steps"
        for _ in ${peer_there:+1 2}; do
            # shellcheck disable=SC2086 # empty, or one word
            run_torch "$batch" "$time" "$steps" $core
        done
        run_ours "$batch" "$time" "$steps"
    done
    ours=$(fastest "$work/ours.$time") rss=$(most "$work/ours.$time")
    ms=$(field "$ours" 4) torch_ms=none torch_rss=none gain=none
    if [ -n "$peer_there" ]; then
        torch_ms=$(field "$(fastest "$work/torch.$time")" 4) torch_rss=$(most "$work/torch.$time")
        gain=$(ratio "$torch_ms" "$ms")
    fi
    rest=$(cut -d, -f7- <<<"$ours")
    echo "$batch,$time,$ms,$torch_ms,$gain,$rss,$torch_rss,$rest" >>"$csv"
    IFS=, read -r products attention rate _ mfu <<<"$rest"
    printf '%-12s %9s %9s %7s %8s %9s %10s %9s %9s %6s\n' "B=$batch T=$time" "$ms" "$torch_ms" "$gain" "$rss" \
        "$torch_rss" "$products" "$attention" "$rate" "$mfu"
    summary+=" ratio_B${batch}_T$time=$gain"
done
generated=$("$build/bin/bench_gpt2" --generate --csv) || exit 1
printf 'generation: %s tokens/s, memory allows %s\n' "$(field "$generated" 3)" "$(field "$generated" 4)"
echo "bench gpt2:$summary rss_mb=$(awk -F, 'NR == 2 { print $6 }' "$csv") generation=$(field "$generated" 5) csv=$csv"
