#!/usr/bin/env bash
# test_train_mnist_cuda.sh -- train_mnist --device cuda has the losses of --device cpu, step by step, on stand-in
# digits: on the GPU where there is one, else in the emulator.
#
# The tolerance. In a step every number has at most ROUNDINGS roundings (the longest sum, and the operations before and
# after it), on either device, so the relative error of its update is at most ROUNDINGS * 2^-24. The effect of such an
# error on later losses is measured: a third run, on the CPU, has a learning rate, and so updates, larger by 1/1024, in
# the direction in which the loss changes most. The losses of the two devices may differ by ROUNDINGS * 2^-24 * 1024
# times its largest difference so far, for each of the two, and by the rounding of the loss itself and of its six
# printed digits.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${MT_BIN:-$root/build/release/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
export OMP_WAIT_POLICY=passive
ROUNDINGS=$((784 + 32 + 16 + 50)) # pixels, hidden units, batch; exponentials, divisions, the update

result() { # 0|1 NAME [LOG]
    if [ "$1" = 0 ]; then
        passed=$((passed + 1)) && echo "ok   $2"
    else
        failed=$((failed + 1)) && echo "FAIL $2" && sed 's/^/  | /' "${3:-/dev/null}" | tail -12
    fi
}
# losses NAME FLAG...: of twenty steps, in $work/NAME
losses() {
    local name=$1
    shift
    "$bin/train_mnist" --data "$work/digits" --out "$work/run" --quiet --epochs 1 --eval-steps 1 --hold-out 0 --batch 16 --hidden 32 \
        --optimizer sgd --schedule constant "$@" >"$work/$name.log" 2>&1
    result $? "trains: $name $*" "$work/$name.log"
    cut -d, -f2 "$work/run/metrics.csv" | tail -n +2 >"$work/$name"
}

if ! [ -x "$bin/train_mnist" ] || ! [ -x "$bin/make_digits" ]; then
    echo "$bin/train_mnist or make_digits is missing: run make first" && echo '0 passed, 1 failed' && exit 1
fi
if [[ $("$bin/train_mnist" --device cuda --data "$work/none" 2>&1) == *"there is no cuda device"* ]]; then
    echo "this build has no device (CUDA=off)" && echo '0 passed, 0 failed' && exit 0
fi
"$bin/make_digits" --out "$work/digits" --train 320 --test 20 >"$work/log" 2>&1
result $? "draws digits" "$work/log"
losses cpu --device cpu --lr 0.1
losses moved --device cpu --lr 0.10009765625
losses cuda --device cuda --lr 0.1
paste "$work/cpu" "$work/moved" "$work/cuda" | awk -v roundings=$ROUNDINGS '
    function abs(x) { return x < 0 ? -x : x }
    {
        off = roundings * 2^-24
        if (abs($2 - $1) > most) most = abs($2 - $1)
        tolerance = 2 * off * (1024 * most + $1) + 1e-6
        printf "step %2d: cpu %s cuda %s tolerance %.6f\n", NR, $1, $3, tolerance
        wrong += !(abs($3 - $1) <= tolerance)
    }
    END { exit wrong > 0 || NR != 20 }' >"$work/compared"
result $? "the losses of 20 steps are the CPU's: $(tail -1 "$work/compared")" "$work/compared"
awk 'NR == 1 { first = $1 } END { exit !($1 < 0.9 * first) }' "$work/cuda"
result $? "... and they fall" "$work/cuda"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
