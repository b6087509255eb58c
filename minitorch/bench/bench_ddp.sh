#!/usr/bin/env bash
# bench_ddp.sh BUILD [ROUNDS] -- a training step of data parallelism: `train_gpt2 --ranks 2` beside PyTorch's
# DistributedDataParallel over gloo, two ranks of one thread each on this machine, the same GPT-2, batch, clipping and AdamW.
#
# In turns, so that other programs disturb both alike: means of some steps after others that do not count, the least of all
# rounds; theirs with each core type of OpenBLAS (CORE=Haswell: with this one). Needs PyTorch (TORCH_ROOT, peer.sh), and GPT-2's
# vocabulary (datasets/fetch gpt2). Writes build/bench/ddp.csv: model,batch,time,ms,torch_ms,ratio
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. minitorch/bench/peer.sh
build=$1 rounds=${2:-1}
python=${PYTHON:-/usr/bin/python3} peer=minitorch/bench/peers/gpt2_torch.py csv=build/bench/ddp.csv
name=$(peer_name) || { echo "PyTorch is not here, nothing to race: see minitorch/bench/peer.sh" && exit 0; }
work=$(mktemp -d build/ddp.XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir -p build/bench
for set in gpt2 shakespeare; do
    datasets/fetch --or-standin $set >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
done
"$build/bin/tokenize" --vocabulary datasets/cache/gpt2 -o "$work/gpt2.bin" datasets/cache/shakespeare/*.txt >"$work/log" || exit 1
vectors=avx2
! grep -qm1 ' avx512f' /proc/cpuinfo || vectors=avx512
export OMP_WAIT_POLICY=active

# ours NAME BATCH TIME STEPS FLAG...: ms of a step, the mean of STEPS after as many that do not count, to $work/NAME.ours
ours()
{
    "$build/bin/train_gpt2" --ranks 2 --batch "$2" --block "$3" --steps $((2 * $4)) --eval-every "$4" --eval-batches 1 \
        --save-every 1000000 --log-every 0 --clip 1 --warmup 0 --threads 2 -q --overwrite -o "$work/run" "${@:5}" >"$work/log" 2>&1 ||
        { tail -3 "$work/log" && exit 1; }
    awk -F, -v tokens=$(($2 * $3)) 'END { printf "%.2f\n", 1000 * tokens / $5 }' "$work/run/metrics.csv" >>"$work/$1.ours"
    rm -rf "$work/run"
}

# theirs NAME BATCH TIME STEPS "BLOCK LAYERS HEADS WIDTH TOKENS" SETTING...: ms of the fastest step, to $work/NAME.theirs
theirs()
{
    local rank
    for rank in 1 0; do
        in_root env USE_LIBUV=0 RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 20000)) SIZE="$5" \
            OMP_NUM_THREADS=1 ATEN_CPU_CAPABILITY=$vectors GLIBC_TUNABLES=glibc.malloc.hugetlb=1 "${@:6}" \
            "$python" $peer --batch "$2" --time "$3" --steps "$4" >"$work/rank$rank" 2>"$work/log$rank" &
    done
    wait $! || { tail -3 "$work/log0" && exit 1; }
    wait
    cut -d, -f4 "$work/rank0" >>"$work/$1.theirs"
}

least() { sort -g "$1" | head -n 1; }

# race NAME BATCH TIME STEPS SIZE FLAG...
race()
{
    local core ms torch_ms
    for _ in $(seq "$rounds"); do
        ours "$1" "$2" "$3" "$4" "${@:6}"
        for core in ${CORE:-$(core_types)}; do
            # shellcheck disable=SC2046 # empty, or one word
            theirs "$1" "$2" "$3" "$4" "$5" $(core_setting "$core")
        done
        ours "$1" "$2" "$3" "$4" "${@:6}"
    done
    ms=$(least "$work/$1.ours") torch_ms=$(least "$work/$1.theirs")
    awk -v n="$1" -v b="$2" -v t="$3" -v o="$ms" -v p="$torch_ms" \
        'BEGIN { printf "%s,%d,%d,%s,%s,%.2f\n", n, b, t, o, p, p / o }' >>$csv
}

echo "$name, two ranks of one thread; ms of a step"
echo model,batch,time,ms,torch_ms,ratio >$csv
race gpt2 4 64 3 '1024 12 12 768 50257' --data "$work/gpt2.bin" --vocab datasets/cache/gpt2 --size gpt2
tokens=$("$build/bin/train_gpt2" --plan | sed -nE 's/.*vocabulary of ([0-9]+).*/\1/p')
race toy 12 64 100 "64 4 4 128 ${tokens:-512}"
column -s, -t $csv
echo "bench ddp: ratio_gpt2=$(awk -F, 'NR == 2 { print $6 }' $csv) ratio_toy=$(awk -F, 'NR == 3 { print $6 }' $csv) csv=$csv"
