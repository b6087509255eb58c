#!/usr/bin/env bash
# bench_gpt2.sh BUILD [ROUNDS] -- a training step of GPT-2 124M (fp32, two threads, clipping, AdamW) compared with
# PyTorch's, in three shapes, in turns (ours, theirs, theirs, ours) so that other programs disturb both alike; the
# fastest step of each counts. Then generation, compared with the limit of memory bandwidth.
#
# PyTorch gets its best set-up: wide vectors, huge pages, spinning threads, and the core type of OpenBLAS that is
# fastest in the first shape. It should have OpenBLAS's OpenMP build (apt install libopenblas0-openmp), and be a current
# version: TORCH_ROOT, peer.sh. Then both with products in bf16. ROWS="bf16 4 64 3" runs only this type, batch, time and
# number of steps (several rows: one a line), CORE=Haswell takes that core type without a search.
# Writes build/bench/gpt2.csv:
# dtype,batch,time,ms,torch_ms,ratio,rss_mb,torch_rss_mb,products,attention,gflops,peak_gflops,mfu
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. minitorch/bench/peer.sh
build=$1 rounds=${2:-1}
python=${PYTHON:-/usr/bin/python3}
peer=minitorch/bench/peers/gpt2_torch.py
csv=build/bench/gpt2.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p build/bench
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=active

# run_ours DTYPE BATCH TIME STEPS, run_torch DTYPE BATCH TIME STEPS SETUP... -- append one line to
# $work/{ours,torch}.DTYPE.TIME
run_ours()
{
    local kind=()
    [ "$1" = f32 ] || kind=(--bf16)
    "$build/bin/bench_gpt2" "${kind[@]}" --batch "$2" --time "$3" --steps "$4" --csv >>"$work/ours.$1.$3" || exit 1
}
run_torch()
{
    local dtype=$1 batch=$2 time=$3 steps=$4
    shift 4
    in_root env ATEN_CPU_CAPABILITY="$vectors" GLIBC_TUNABLES=glibc.malloc.hugetlb=1 "$@" "$python" $peer \
        --dtype "$dtype" --batch "$batch" --time "$time" --steps "$steps" >>"$work/torch.$dtype.$time" || exit 1
}

fastest() { sort -t, -k4,4g "$1" | head -n 1; }
field()   { cut -d, -f"$2" <<<"$1"; }
most()    { cut -d, -f5 "$1" | sort -g | tail -n 1; }
ratio()   { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

# now WORDS -- prints what is being measured, on a terminal: a step takes seconds, a shape a minute.
now() { [ ! -t 2 ] || printf '%-60s\r' "$* ..." >&2; }

# best_core -- the core type, as a setting, with which PyTorch's step of the first shape is fastest; empty: OpenBLAS's
# own.
best_core()
{
    local core ms best='' least=''
    [ -z "${CORE:-}" ] || { core_setting "$CORE" && return; }
    for core in $(core_types); do
        rm -f "$work/torch.f32.64"
        now "PyTorch's set-ups: core type $core"
        # shellcheck disable=SC2046 # empty, or one word
        run_torch f32 4 64 2 $(core_setting "$core")
        ms=$(field "$(fastest "$work/torch.f32.64")" 4)
        if [ -z "$least" ] || awk "BEGIN { exit !($ms < $least) }"; then
            least=$ms best=$(core_setting "$core")
        fi
    done
    rm -f "$work/torch.f32.64"
    echo "$best"
}

# race DTYPE BATCH TIME STEPS -- a row of the table and of the CSV.
race()
{
    local dtype=$1 batch=$2 time=$3 steps=$4 round ours rss ms torch_ms=none torch_rss=none gain=none rest
    for round in $(seq "$rounds"); do
        now "$dtype B=$batch T=$time, round $round of $rounds"
        run_ours "$dtype" "$batch" "$time" "$steps"
        for _ in ${peer_there:+1 2}; do
            # shellcheck disable=SC2086 # empty, or one word
            run_torch "$dtype" "$batch" "$time" "$steps" $core
        done
        run_ours "$dtype" "$batch" "$time" "$steps"
    done
    ours=$(fastest "$work/ours.$dtype.$time") rss=$(most "$work/ours.$dtype.$time")
    ms=$(field "$ours" 4)
    if [ -n "$peer_there" ]; then
        torch_ms=$(field "$(fastest "$work/torch.$dtype.$time")" 4) torch_rss=$(most "$work/torch.$dtype.$time")
        gain=$(ratio "$torch_ms" "$ms")
    fi
    rest=$(cut -d, -f7- <<<"$ours")
    echo "$dtype,$batch,$time,$ms,$torch_ms,$gain,$rss,$torch_rss,$rest" >>"$csv"
    local products attention rate mfu
    IFS=, read -r products attention rate _ mfu <<<"$rest"
    printf '%-5s %-12s %9s %9s %7s %8s %9s %10s %9s %9s %6s\n' "$dtype" "B=$batch T=$time" "$ms" "$torch_ms" "$gain" "$rss" \
        "$torch_rss" "$products" "$attention" "$rate" "$mfu"
    summary+=" ratio_${dtype}_B${batch}_T$time=$gain"
}

vectors=avx2
! grep -qm1 ' avx512f' /proc/cpuinfo || vectors=avx512
peer_there='' core=''
if name=$(peer_name); then
    peer_there=1
    core=$(best_core) || exit 1
    echo "$name: ATEN_CPU_CAPABILITY=$vectors GLIBC_TUNABLES=glibc.malloc.hugetlb=1 $core"
else
    echo "PyTorch is not here, nothing to compare with: see minitorch/bench/peer.sh, or apt install python3-torch libopenblas0-openmp"
fi

echo dtype,batch,time,ms,torch_ms,ratio,rss_mb,torch_rss_mb,products,attention,gflops,peak_gflops,mfu >"$csv"
printf '%-5s %-12s %9s %9s %7s %8s %9s %9s %10s %9s %6s\n' '' shape ms torch ratio 'RSS MB' torch products attention GFLOP/s MFU
summary='' rows=$'f32 4 64 3\nf32 4 256 2\nf32 1 1024 2\n'
if grep -qm1 ' avx512_bf16' /proc/cpuinfo; then
    rows+=${rows//f32/bf16}
else
    echo 'bf16 is not raced: this processor has no instruction for it (avx512_bf16)'
fi
while read -r dtype batch time steps; do
    [ -z "$dtype" ] || race "$dtype" "$batch" "$time" "$steps"
done <<<"${ROWS:-$rows}"
generated=$("$build/bin/bench_gpt2" --generate --csv) || exit 1
printf 'generation: %s tokens/s, memory allows %s\n' "$(field "$generated" 3)" "$(field "$generated" 4)"
echo "bench gpt2:$summary rss_mb=$(awk -F, 'NR == 2 { print $7 }' "$csv") generation=$(field "$generated" 5) csv=$csv"
