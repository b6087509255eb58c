#!/usr/bin/env bash
# memory_limit: a run that needs more memory than there is is refused in words before anything is made; a run on the CPU
# reserves nothing for a device.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,train_mnist,make_digits,capstone} >/dev/null || exit 1
export OMP_NUM_THREADS=1
seq 9999 >"$dir/text"
"$bin/make_digits" --out "$dir/digits" --train 200 --test 20 >/dev/null
gpt2=("$bin/train_gpt2" --data "$dir/text" -o "$dir/run")
# refused WORDS COMMAND...: with status 1, and no folder is made.
refused() {
    "${@:2}" >"$dir/log" 2>&1
    [ $? = 1 ] && grep -qE -- "needs [0-9.e+]+ GB, and [0-9.]+ GB are $1" "$dir/log" && [ ! -e "$dir/run/step-1" ] && [ ! -e "$dir/run/metrics.csv" ] && ok || bad "$*"
}
limited() { (ulimit -v $((1 << 20)) && exec "$@"); } # 1 GiB
refused '.*: a smaller --batch with more --micro-batches, or --recompute' "${gpt2[@]}" --size gpt2-xl --block 1024 --batch 4096
refused '.*: a smaller --batch' "${gpt2[@]}" --size gpt2-xl --block 1024 --batch 4096 --ranks 4
refused 'left by ulimit -v: ' limited "${gpt2[@]}" --size gpt2 --block 64 --batch 4
refused 'left by ulimit -v: ' limited "${gpt2[@]}" --width 512 --heads 8 --layers 8 --block 64 --batch 8 --ranks 8
refused 'left by ulimit -v: ' limited "${gpt2[@]}" --width 512 --heads 8 --layers 6 --block 16 --batch 4 --ranks 4 --zero 3 # whole at first
refused '.*: use a smaller --batch, or smaller layers' "$bin/train_mnist" --data "$dir/digits" -o "$dir/run" --hidden 65536,65536
"${gpt2[@]}" --size gpt2-xl --block 1024 --batch 4096 --plan >"$dir/log" 2>&1 && ok || bad "--plan only calculates"
limited "${gpt2[@]}" --steps 2 --eval-batches 1 -q >"$dir/log" 2>&1 && ok || bad "the toy in 1 GiB"
limited "$bin/train_mnist" --data "$dir/digits" -o "$dir/mnist" --epochs 1 -q >"$dir/log" 2>&1 && ok || bad "train_mnist in 1 GiB"
finish memory_limit
