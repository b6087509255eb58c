#!/usr/bin/env bash
# converge_sweep: each optimizer with its best constant rate, found by sweeps, on MNIST and on the toy GPT-2 (lab 04).
#     minitorch/bench/converge_sweep.sh [STEPS]          of the last sweep (240); 5 minutes of processor time
# MNIST: one epoch, rates of half decades from 1e-4 to 1. GPT-2: the same from 1e-4 to 3.16 in a third of STEPS, and
# then STEPS with the best of these and its two neighbours. Prints the best rate, the validation loss at the end, and
# after how many steps it was first at each level (-: never).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
steps=${1:-240} out=build/run/converge bin=build/release/bin optimizers=${OPTIMIZERS:-sgd momentum rmsprop adam lion}
make -s $bin/{sweep,train_gpt2,train_mnist} >/dev/null || exit 1
for set in shakespeare mnist; do datasets/fetch --or-standin $set >/dev/null 2>&1 || exit 1; done
mkdir -p "$out"

search() { # NAME RATES STEPS COMMAND
    $bin/sweep -q --search grid -j 2 --steps "$3" --space "lr=log:$2" -o "$out/$1" --resume --run \
        "$bin/$4 -q --schedule constant --weight-decay 0 --lr {lr} -o {dir}" >"$out/$1.log" 2>&1 || { tail -3 "$out/$1.log" && exit 1; }
}
best() { awk -F, '$7 == "done" && (!n || $6 < v) { n = 1; t = $2; r = $5; v = $6 } END { print t, r, v }' "$out/$1/sweep.csv"; }
table() { # NAME EVERY LEVELS: a row of an optimizer
    read -r trial rate value < <(best "$1")
    awk -F, -v every="$2" -v levels="$3" -v head="${1#*-} $rate $value" '
        BEGIN { n = split(levels, level, " ") }
        NR > 2 { for (i = 1; i <= n; i++) if (!(i in at) && $3 <= level[i]) at[i] = (NR - 2) * every } # the first row is before the first step
        END { printf "%-10s %-12s %-10.4f", head_word(1), head_word(2), head_word(3)
              for (i = 1; i <= n; i++) printf " %6s", i in at ? at[i] : "-"
              print "" }
        function head_word(i) { split(head, w, " "); return w[i] }' "$out/$1/trial-$trial-rung-0/metrics.csv"
}
gpt2="train_gpt2 --warmup 0 --clip 1e9 --batch 4 --eval-batches 4 --log-every 0"

echo "MNIST, 784-256-128-10, batches of 64, one epoch: rate, loss, steps to 0.3, 0.2, 0.15"
for o in $optimizers; do
    search "mnist-$o" 1e-4..1:9 1 "train_mnist --ema 0 --epochs 1 --eval-steps 20 --hold-out 1000 --optimizer $o"
    table "mnist-$o" 20 "0.3 0.2 0.15"
done
echo "Toy GPT-2, batches of 4 x 64, $steps steps: rate, loss, steps to 3, 2.8, 2.65, 2.6"
for o in $optimizers; do
    search "short-$o" 1e-4..3.16227766:10 $((steps / 3)) "$gpt2 --optimizer $o --steps {steps} --eval-every 4"
    read -r _ rate _ < <(best "short-$o")
    search "gpt2-$o" "$(awk -v r="$rate" 'BEGIN { printf "%.6g..%.6g:3", r / 10 ^ 0.5, r * 10 ^ 0.5 }')" "$steps" \
        "$gpt2 --optimizer $o --steps {steps} --eval-every 6"
    table "gpt2-$o" 6 "3 2.8 2.65 2.6"
done
