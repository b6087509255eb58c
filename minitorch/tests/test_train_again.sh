#!/usr/bin/env bash
# train_again: a run of 300 steps that is killed three times and begun again by the same command ends with the bits of an
# unbroken one, also in the job files of `plan`. It is killed at a step (preload/kill_at.c), not after a time: when half of a row
# of metrics.csv is written, while a checkpoint is, and behind a row.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,train_mnist,plan,curve,make_digits} >/dev/null || exit 1
${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC -o "$dir/kill_at.so" "$(dirname "$0")/preload/kill_at.c" || exit 1
for i in $(seq 300); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
"$bin/make_digits" --out "$dir/digits" --train 654 --test 50 >/dev/null

# All columns of a run's metrics.csv but those of speed and memory.
losses() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) drop[i] = $i ~ /second|mfu|memory/ } { for (i in drop) if (drop[i]) $i = ""; print }' "$dir/$1/metrics.csv"; }
# same NAME ROWS KILLS COMMAND...: the command ends at step 300, killed and unbroken, with the same files and so many rows.
same() {
    local name=$1 rows=$2 kills=$3 at
    shift 3
    "$@" -o "$dir/$name-whole" >"$dir/log" 2>&1 && ok || bad "$name: $(tail -1 "$dir/log")"
    for at in $kills; do
        { KILL_AT=$at LD_PRELOAD=$dir/kill_at.so "$@" -o "$dir/$name" >"$dir/log" 2>&1; } 2>/dev/null
        [ $? = 137 ] && ok || bad "$name: it was not killed at $at: $(tail -1 "$dir/log")"
    done
    "$@" -o "$dir/$name" >"$dir/log" 2>&1 && grep -q '^Continuing from .*/step-[0-9]' "$dir/log" && ok || bad "$name, again: $(tail -1 "$dir/log")"
    diff -r "$dir/$name"{-whole,}/step-300 && ok || bad "$name: other bits"
    diff <(cd "$dir/$name-whole" && echo step-*) <(cd "$dir/$name" && echo step-*) && ok || bad "$name: other checkpoints"
    diff <(losses "$name-whole") <(losses "$name") && [ "$(losses "$name" | wc -l)" = $((rows + 1)) ] && ok || bad "$name: other losses"
    "$@" -o "$dir/$name" >"$dir/log" 2>&1 && diff -r "$dir/$name"{-whole,}/step-300 && ok || bad "$name: run again at its end"
}
every=(--eval-every 20 --eval-batches 1 --save-every 30 -q)
gpt2=("$bin/train_gpt2" --data "$dir/text" --layers 2 --heads 2 --width 16 --block 8 --batch 4 --warmup 10 --steps 300 "${every[@]}" --resume=auto)
same plain 31 '80:half 150:checkpoint 260:row' "${gpt2[@]}"
same parts 31 '20:checkpoint 100:row 240:half' "${gpt2[@]}" --async-save --ema 0.9 --micro-batches 2 --ranks 2 --zero 1
same digits 11 '2:half 5:row 210:checkpoint' "$bin/train_mnist" --data "$dir/digits" --hidden 8 --batch 20 --epochs 10 -q --resume=auto

# The job files of a plan of as many steps: what Slurm starts, the script beside it on two ranks, and what Kubernetes starts.
job() { "$bin/plan" --model layers=2,heads=2,width=16,block=8,vocabulary=30 --batch 4 --tokens 9600 --dtype f32 "${@:2}" -o "$dir/$1.plan" >"$dir/log" 2>&1 && ok || bad "$1: $(tail -1 "$dir/log")"; }
export DEVICE=cpu DATA=$dir/text TRAIN_GPT2=$bin/train_gpt2
job slurm --cluster 1xV100
same slurm 31 '120:checkpoint 200:half 280:row' bash "$dir/slurm.plan/job.slurm" "${every[@]}"
job ranks --cluster 2xV100 --dp 2
same ranks 31 '40:row 180:checkpoint 300:half' bash "$dir/ranks.plan/train.sh" "${every[@]}"
sed -n 's|^ *exec build/release/bin/train_gpt2 --device cuda|exec "$TRAIN_GPT2" --device cpu --data "$DATA"|p' "$dir/slurm.plan/job.yaml" | sed 's/$/ "$@"/' >"$dir/pod.sh"
same pod 31 '20:row 30:checkpoint 300:checkpoint' bash "$dir/pod.sh" "${every[@]}"
finish train_again
