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
. "$(dirname "$0")/../../.ci/check.bash"
bin=${MT_BIN:-$bin}
export OMP_WAIT_POLICY=passive
ROUNDINGS=$((784 + 32 + 16 + 50)) # pixels, hidden units, batch; exponentials, divisions, the update

# losses NAME FLAG...: of twenty steps, in $dir/NAME
losses() {
    local name=$1
    shift
    "$bin/train_mnist" --data "$dir/digits" --out "$dir/run" --overwrite --quiet --epochs 1 --eval-steps 1 --hold-out 0 --batch 16 --hidden 32 \
        --optimizer sgd --schedule constant "$@" >"$dir/$name.log" 2>&1 && ok || bad "trains: $name $*"
    cut -d, -f2 "$dir/run/metrics.csv" | tail -n +2 >"$dir/$name"
}

if ! [ -x "$bin/train_mnist" ] || ! [ -x "$bin/make_digits" ]; then
    echo "$bin/train_mnist or make_digits is missing: run make first" && echo '0 passed, 1 failed' && exit 1
fi
if [[ $("$bin/train_mnist" --device cuda --data "$dir/none" 2>&1) == *"there is no cuda device"* ]]; then
    echo "this build has no device (CUDA=off)" && echo '0 passed, 0 failed' && exit 0
fi
"$bin/make_digits" --out "$dir/digits" --train 320 --test 20 >"$dir/log" 2>&1 && ok || bad "draws digits"
losses cpu --device cpu --lr 0.1
losses moved --device cpu --lr 0.10009765625
losses cuda --device cuda --lr 0.1
paste "$dir/cpu" "$dir/moved" "$dir/cuda" | awk -v roundings=$ROUNDINGS '
    function abs(x) { return x < 0 ? -x : x }
    {
        off = roundings * 2^-24
        if (abs($2 - $1) > most) most = abs($2 - $1)
        tolerance = 2 * off * (1024 * most + $1) + 1e-6
        printf "step %2d: cpu %s cuda %s tolerance %.6f\n", NR, $1, $3, tolerance
        wrong += !(abs($3 - $1) <= tolerance)
    }
    END { exit wrong > 0 || NR != 20 }' >"$dir/compared" && ok || bad "the losses of 20 steps are the CPU's: $(tail -1 "$dir/compared")"
awk 'NR == 1 { first = $1 } END { exit !($1 < 0.9 * first) }' "$dir/cuda" && ok || bad "... and they fall"

finish train_mnist_cuda
