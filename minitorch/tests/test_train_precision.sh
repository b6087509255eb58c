#!/usr/bin/env bash
# Training in bf16 and f16: the validation loss is that of f32, and a run in f16 that was killed (-9) continues with the
# same bits, including its loss scaler, whatever backward computes again.
. "$(dirname "$0")/../../.ci/check.bash"
train=$bin/train_gpt2
make -s -C "$root" build/release/bin/train_gpt2 >/dev/null || exit 1
loss=()

for i in $(seq 400); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
flags=(--data "$dir/text" --layers 2 --heads 2 --width 32 --block 16 --batch 4 --micro-batches 2 --warmup 10 -q)
flags+=(--steps 600 --eval-every 100 --eval-batches 4)

for dtype in f32 bf16 f16; do
    "$train" "${flags[@]}" --dtype $dtype -o "$dir/$dtype" >"$dir/log" 2>&1 && ok || bad "$dtype: $(tail -1 "$dir/log")"
    loss+=("$(tail -1 "$dir/$dtype/metrics.csv" | cut -d, -f3)")
done
# 1 %: the effect of rounding is noise, a few times smaller than that of another seed.
awk -v f32="${loss[0]}" -v bf16="${loss[1]}" -v f16="${loss[2]}" 'function off(a) { return a > 1.01 * f32 || a < 0.99 * f32 }
    BEGIN { exit off(bf16) || off(f16) || bf16 == f32 || f16 == f32 }' && ok || bad "losses of f32, bf16, f16: ${loss[*]}"
[ "$(tail -1 "$dir/f16/metrics.csv" | cut -d, -f6)" = 32768 ] && ok || bad "the scale of f16: $(tail -1 "$dir/f16/metrics.csv")"

"$train" "${flags[@]}" --dtype f16 --recompute block -o "$dir/broken" >/dev/null 2>&1 &
victim=$!
await $victim '[ -e "$dir/broken/step-200/manifest.json" ] && [ "$(wc -l <"$dir/broken/metrics.csv")" -ge 3 ]'
kill -9 $victim && ok || bad "the run ended before it was killed"
wait $victim 2>/dev/null
"$train" "${flags[@]}" --dtype f16 -o "$dir/broken" --resume >"$dir/log" 2>&1 && ok || bad "resumed: $(tail -1 "$dir/log")"
diff -r "$dir/f16/step-600" "$dir/broken/step-600" && ok || bad "other bits after resuming"
"$train" "${flags[@]}" --dtype bf16 -o "$dir/broken" --resume >"$dir/log" 2>&1 && bad "resumed in another type" || ok
grep -qF 'with dtype f16, not bf16' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"
"$train" "${flags[@]}" --dtype i8 -o "$dir/none" >"$dir/log" 2>&1 && bad "products in i8" || ok
grep -qF 'there is no dtype "i8": use one of f32, f16, bf16' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"

# Where all steps between two evaluations overflow there is no loss: a dash, in words, and nan in the file; their tokens count.
"$train" "${flags[@]}" --dtype f16 --lr 1e3 --optimizer sgd --clip 1e9 --warmup 0 --eval-every 20 --steps 40 -o "$dir/dash" >"$dir/log" 2>&1 && ok || bad "dash"
grep -qE '^ *40 +- ' "$dir/log" && grep -qE 'no loss of the last 20 steps is finite: each was skipped' "$dir/log" && ok || bad "said: $(cat "$dir/log")"
awk -F, 'END { exit !($1 == 40 && $2 == "nan" && $5 > 0) }' "$dir/dash/metrics.csv" && ok || bad "wrote: $(tail -1 "$dir/dash/metrics.csv")"

# Gradients that are never finite end the run with a message, and change nothing.
"$train" "${flags[@]}" --dtype f16 --lr 1e3 --optimizer sgd --clip 1e9 --warmup 0 -o "$dir/inf" >"$dir/log" 2>&1 && bad "a rate of 1000" || ok
grep -qE 'the gradients of 100 steps in a row were not finite' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"
finish train_precision
