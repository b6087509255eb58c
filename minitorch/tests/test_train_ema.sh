#!/usr/bin/env bash
# Training with --ema: resumed, it ends with the same bits; `evaluate` takes the average, as the run's evaluations do.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,evaluate,follow} >/dev/null || exit 1
run() { "$bin/train_gpt2" "${flags[@]}" "$@" >"$dir/log" 2>&1 && ok || bad "$*"; }

for i in $(seq 200); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
flags=(--data "$dir/text" --layers 1 --heads 2 --width 16 --block 8 --batch 4 --warmup 10 -q --eval-every 20 --eval-batches 4
    --steps 60 --ema 0.9 --save-every 20)

run -o "$dir/whole" --keep 0
cp -r "$dir/whole" "$dir/parts" && rm -r "$dir/parts/step-60"
run -o "$dir/parts" --keep 0 --async-save --resume 40
diff -r "$dir"/{whole,parts}/step-60 >"$dir/log" && diff "$dir"/{whole,parts}/vocab.bpe && ok || bad "other bits"
last=$(tail -1 "$dir/whole/metrics.csv" | cut -d, -f3)
"$bin/evaluate" --data "$dir/text" --windows 16 --batch 4 --step 60 "$dir/whole" >"$dir/log" 2>&1
loss=$(grep -o 'loss=[0-9.]*' "$dir/log" | tail -1)
run -o "$dir/watched" --tensorboard && cmp -s "$dir"/{whole,watched}/step-60/manifest.json && ok || bad "watched"
"$bin/follow" --tensorboard "$dir/whole" && grep -qa val_loss "$dir"/whole/events.out.tfevents.* && ok || bad "no events"
awk -v a="$last" -v b="${loss#loss=}" 'BEGIN { exit !(b > 0 && (a - b) ^ 2 < 1e-9) }' && ok || bad "evaluate: $loss, the run: $last"
"$bin/train_gpt2" "${flags[@]}" --ema 1 -o "$dir/one" >"$dir/log" 2>&1 && bad "a decay of 1" || ok
"$bin/train_gpt2" "${flags[@]}" --ema 0.99 -o "$dir/parts" --resume >"$dir/log" 2>&1 && bad "another decay" || ok
grep -qF 'with ema 0.90000000000000002, not 0.98999999999999999' "$dir/log" && ok || bad "said"
without=("${flags[@]}")
unset "without[-4]" "without[-3]"
"$bin/train_gpt2" "${without[@]}" -o "$dir/parts" --resume >"$dir/log" 2>&1 && bad "without --ema" || ok
grep -qF 'with --ema 0.90000000000000002, not without; --resume needs the flags' "$dir/log" && ok || bad "said"
run -o "$dir/zero" --ema 0 && "$bin/train_gpt2" "${without[@]}" -o "$dir/none" >"$dir/log" 2>&1
cmp -s "$dir"/{zero,none}/step-60/manifest.json && ok || bad "--ema 0 is not the weights themselves"
run -o "$dir/none" --ema 0 --resume
"$bin/train_gpt2" "${flags[@]}" -o "$dir/none" --resume >"$dir/log" 2>&1 && bad "an average from here on" || ok
grep -qF 'without an average of the weights; --ema 0 continues it' "$dir/log" && ok || bad "said"
finish train_ema
