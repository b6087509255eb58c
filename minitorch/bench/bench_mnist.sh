#!/usr/bin/env bash
# bench_mnist.sh [ROUNDS] -- seconds per MNIST epoch of mnist_by_hand (lab 02's kernels, a fused SGD step) compared with
# PyTorch's, in turns (ours, theirs, theirs, ours) so that other programs disturb both alike; the fastest epoch of each
# counts. Then with data loaders: train_mnist (tape, modules, optimizer, loader) compared with PyTorch's DataLoader,
# each with or without workers, whichever is faster.
#
# PyTorch gets its best set-up: every combination of threads, vector width and OpenBLAS core type is tried first.
# Writes build/bench/mnist.csv: what,model,seconds_per_epoch,ratio,test_accuracy (ratio: to mnist_by_hand's seconds).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. minitorch/bench/peer.sh
rounds=${1:-2}
python=${PYTHON:-/usr/bin/python3}
ours=build/release/bin/mnist_by_hand
peer=minitorch/bench/peers/mnist_torch.py
csv=build/bench/mnist.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p build/bench

[ -x $ours ] || { echo "bench_mnist: $ours is missing: run make first" >&2; exit 1; }
data=$(datasets/fetch --or-standin mnist) || exit 1
data=${data##* in }
threads=$(nproc)
[ "$threads" -gt 2 ] && threads=2 # as in performance.md

# run_ours HIDDEN EPOCHS -- append its epochs to $work/ours.HIDDEN: seconds,accuracy
run_ours()
{
    $ours --threads "$threads" --hidden "$1" --epochs "$2" --data "$data" --csv "$work/epochs.csv" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
    awk -F, 'NR > 1 { print $2 "," $3 }' "$work/epochs.csv" >>"$work/ours.$1"
}

# run_stack WORKERS HIDDEN EPOCHS -- the same of train_mnist, to $work/stack.HIDDEN.
run_stack()
{
    build/release/bin/train_mnist --ema 0 --optimizer sgd --schedule constant --lr 0.15 --threads "$threads" --workers "$1" \
        --hidden "$2" --epochs "$3" --hold-out 0 --data "$data" --out "$work" --overwrite --quiet >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    awk -F, -v accuracy="$(sed -n 's/.*test_accuracy=\([^ ]*\).*/\1/p' "$work/log")" 'NR > 1 { print $3 "," accuracy }' \
        "$work/metrics.csv" >>"$work/stack.$2"
}

# run_torch INPUT HIDDEN EPOCHS SETUP... -- append its epochs to $work/INPUT.HIDDEN; a set-up is VAR=value words. INPUT
# is memory, or loader or loader:2 for a DataLoader without or with two workers; both go to $work/loader.HIDDEN.
run_torch()
{
    local input=${1%:*} workers=0 hidden=$2 epochs=$3
    [ "$1" = "$input" ] || workers=${1#*:}
    shift 3
    in_root env "$@" "$python" $peer --data "$data" --input "$input" --workers "$workers" --hidden "$hidden" --epochs "$epochs" \
        >"$work/log" || exit 1
    cut -d, -f4,6 "$work/log" >>"$work/$input.$hidden"
}

fastest()  { sort -t, -k1,1g "$1" | head -n 1 | cut -d, -f1; }
accuracy() { tail -n 1 "$1" | cut -d, -f2; }
ratio()    { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

# best_setup -- the set-up whose single epoch of the first network is the fastest.
best_setup()
{
    local count vectors blas setup wide=''
    grep -qm1 avx512f /proc/cpuinfo && wide=avx512
    for count in $(seq 1 "$threads"); do
        for vectors in '' ${wide:+ATEN_CPU_CAPABILITY=avx512}; do
            for blas in $(core_types); do
                setup="OMP_NUM_THREADS=$count $vectors $(core_setting "$blas")"
                rm -f "$work/memory.256,128"
                # shellcheck disable=SC2086 # a set-up is several words
                run_torch memory 256,128 1 $setup
                echo "$(fastest "$work/memory.256,128") $setup"
            done
        done
    done >"$work/setups"
    rm -f "$work/memory.256,128"
    sort -g "$work/setups" | head -n 1 | cut -d' ' -f2-
}

# row WHAT MODEL FILE OURS -- one line of the CSV and of the table.
row()
{
    local seconds share
    seconds=$(fastest "$3")
    share=$(ratio "$seconds" "$4")
    echo "$1,$2,$seconds,$share,$(accuracy "$3")" >>"$csv"
    printf '%-16s %-16s %10.3f s %8s x %10s\n' "$1" "$2" "$seconds" "$share" "$(accuracy "$3")"
}

echo what,model,seconds_per_epoch,ratio,test_accuracy >"$csv"
setup=''
if name=$(peer_name); then
    setup=$(best_setup) || exit 1
    echo "$name, its best set-up here: $setup"
else
    echo "PyTorch is not here, nothing to compare with: apt install python3-torch python3-numpy"
fi
summary=''
# shellcheck disable=SC2086 # a set-up is several words
for hidden in 256,128 512; do
    model=784-${hidden//,/-}-10
    for _ in $(seq "$rounds"); do
        run_ours $hidden 2
        [ -z "$setup" ] || run_torch memory $hidden 2 $setup
        run_stack 0 $hidden 2
        [ -z "$setup" ] || run_torch loader $hidden 1 $setup
        [ -z "$setup" ] || run_torch loader:2 $hidden 1 $setup
        run_stack 1 $hidden 2
        [ -z "$setup" ] || run_torch memory $hidden 2 $setup
        run_ours $hidden 2
    done
    run_ours $hidden 10 # last, for the accuracy after ten epochs
    best=$(fastest "$work/ours.$hidden")
    row minitorch "$model" "$work/ours.$hidden" "$best"
    row minitorch-stack "$model" "$work/stack.$hidden" "$best"
    [ -n "$setup" ] || continue
    run_torch memory $hidden 10 $setup
    row torch-memory "$model" "$work/memory.$hidden" "$best"
    row torch-loader "$model" "$work/loader.$hidden" "$best"
    summary+=" ratio_$model=$(ratio "$(fastest "$work/memory.$hidden")" "$best")"
    summary+=" loaders_$model=$(ratio "$(fastest "$work/loader.$hidden")" "$(fastest "$work/stack.$hidden")")"
done
main=$(awk -F, '$1 == "torch-memory" { print $4; exit }' "$csv")
echo "bench mnist: ratio=${main:-none}$summary test_accuracy=$(awk -F, 'NR == 2 { print $5 }' "$csv") data=$(basename "$data") csv=$csv"
