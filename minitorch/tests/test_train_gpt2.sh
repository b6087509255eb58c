#!/usr/bin/env bash
# train_gpt2 killed (-9) in the middle and resumed ends with the same bits as an uninterrupted run, with any number of workers.
set -uo pipefail
bin=$(cd "$(dirname "$0")/../.." && pwd)/build/release/bin
train=$bin/train_gpt2 generate=$bin/generate
make -s -C "$bin/../../.." build/release/bin/{train_gpt2,generate} >/dev/null || exit 1
dir=$(mktemp -d) passed=0 failed=0
trap 'rm -rf "$dir"' EXIT
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)) && echo "FAIL $*"; }

for i in $(seq 400); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
flags=(--data "$dir/text" --layers 2 --heads 2 --width 32 --block 16 --batch 4 --micro-batches 2 --warmup 10 -q)
flags+=(--steps 2000 --eval-every 100 --eval-batches 2)

"$train" "${flags[@]}" -o "$dir/straight" >"$dir/log" 2>&1 && ok || bad "a plain run: $(tail -1 "$dir/log")"
"$train" "${flags[@]}" --workers 2 -o "$dir/broken" >/dev/null 2>&1 &
victim=$!
until [ -e "$dir/broken/run.ckpt" ] && [ "$(wc -l <"$dir/broken/metrics.csv")" -ge 4 ]; do sleep 0.01; done
kill -9 $victim && ok || bad "the run ended before it was killed"
wait $victim 2>/dev/null
"$train" "${flags[@]}" --workers 3 --prefetch 1 -o "$dir/broken" --resume >"$dir/log" 2>&1 && ok || bad "resumed: $(tail -1 "$dir/log")"
cmp "$dir/straight/run.ckpt" "$dir/broken/run.ckpt" && ok || bad "other bits after resuming"
# All columns but the last, which is speed. A resumed run's first mean covers the same steps: it starts at an evaluation.
cmp <(cut -d, -f1-4 "$dir/straight/metrics.csv") <(cut -d, -f1-4 "$dir/broken/metrics.csv") && ok || bad "another curve"
"$train" "${flags[@]}" --steps 7 -o "$dir/broken" --resume >"$dir/log" 2>&1 && bad "resumed with other flags" || ok
grep -q 'use its flags' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"

# write NAME TEXT [FLAGS]: generate's text, and that it begins with its prompt.
write() { "$generate" -r "$dir/$1" -p 'line 7: the cat' -n 60 "${@:3}" >"$dir/$2" 2>"$dir/log" && grep -q '^line 7: the cat' "$dir/$2"; }
write straight a && write broken b && cmp "$dir/a" "$dir/b" && ok || bad "text: $(tail -1 "$dir/log")"
write straight c --seed 2 && ! cmp -s "$dir/a" "$dir/c" && ok || bad "another seed gives the same text"
write straight d -T 0 && write straight e --top-k 1 && cmp "$dir/d" "$dir/e" && ok || bad "greedy is not the best one of all"
head -c 1000 "$dir/straight/run.ckpt" >"$dir/broken/run.ckpt"
write broken f && bad "a checkpoint cut off was taken" || grep -qE 'cut off|damaged' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"
echo "train_gpt2: $passed passed, $failed failed"
[ $failed -eq 0 ]
