#!/usr/bin/env bash
# train_gpt2 killed (-9) in the middle and resumed ends with the same bits as an uninterrupted run, with any number of
# workers, whatever backward computes again.
. "$(dirname "$0")/../../.ci/check.bash"
train=$bin/train_gpt2 generate=$bin/generate
make -s -C "$root" build/release/bin/{train_gpt2,generate,evaluate} >/dev/null || exit 1

for i in $(seq 400); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
flags=(--data "$dir/text" --layers 2 --heads 2 --width 32 --block 16 --batch 4 --micro-batches 2 --warmup 10 -q)
flags+=(--steps 2000 --eval-every 100 --eval-batches 2)

"$train" "${flags[@]}" -o "$dir/straight" >"$dir/log" 2>&1 && ok || bad "a plain run: $(tail -1 "$dir/log")"
grep -qx 'Attention: packed' "$dir/log" && ok || bad "which attention: $(head -3 "$dir/log")"
"$train" "${flags[@]}" --workers 2 --recompute selective -o "$dir/broken" >/dev/null 2>&1 &
victim=$!
await $victim '[ -e "$dir/broken/step-200/manifest.json" ] && [ "$(wc -l <"$dir/broken/metrics.csv")" -ge 4 ]'
kill -9 $victim && ok || bad "the run ended before it was killed"
wait $victim 2>/dev/null
"$train" "${flags[@]}" --workers 3 --prefetch 1 --recompute block -o "$dir/broken" --resume >"$dir/log" 2>&1 && ok || bad "resumed: $(tail -1 "$dir/log")"
grep -q '^Backward computes again: layers 0-1 block$' "$dir/log" && ok || bad "--recompute block says nothing"
diff -r "$dir/straight/step-2000" "$dir/broken/step-2000" && ok || bad "other bits after resuming"
# All columns but the last, which is speed. A resumed run's first mean covers the same steps: it starts at an
# evaluation.
cmp <(cut -d, -f1-4 "$dir/straight/metrics.csv") <(cut -d, -f1-4 "$dir/broken/metrics.csv") && ok || bad "another curve"

# A rate that was published for many more tokens a step; the run ends before the model is made, since its folder cannot be.
few='^A step has 512 tokens, and --lr is 0.002: Brown et al. 2020 took 0.0006 for this size with 500000 tokens a step'
rate() { "$train" --data "$dir/text" --size gpt2 --block 64 --batch 8 -o /proc/self/none "$@" >"$dir/log" 2>&1; }
rate || grep -q "$few" "$dir/log" && ok || bad "few tokens"
quiet() { rate "${@:2}" || grep -q 'train_gpt2: .*/proc/self/none' "$dir/log" && ! grep -q '^A step has' "$dir/log" && ok || bad "$1"; }
quiet "a smaller rate" --lr 5e-4
quiet "enough tokens" --micro-batches 128
quiet "another size" --width 96
quiet "another rule" --optimizer sgd
quiet "a plan" --size gpt2-xl --lr 2e-4 --plan

# The allocator changes no bit; a block whose size comes again costs no call of the system.
short=("${flags[@]}" --steps 40 --eval-every 20)
"$train" "${short[@]}" -o "$dir/system" >"$dir/log" 2>&1 && ok || bad "a short run: $(tail -1 "$dir/log")"
"$train" "${short[@]}" --allocator caching -o "$dir/caching" >"$dir/log" 2>&1 && ok || bad "--allocator caching: $(tail -1 "$dir/log")"
diff -r "$dir/system/step-40" "$dir/caching/step-40" && ok || bad "other bits with --allocator caching"
grep -qE '^[0-9]{4,} allocations, for which the system was asked [0-9] times' "$dir/log" && ok || bad "said: $(cat "$dir/log")"
"$train" "${short[@]}" --allocator fast >"$dir/log" 2>&1 && bad "an allocator that does not exist" || ok
grep -qF 'there is no allocator "fast": use one of system, caching' "$dir/log" && ok || bad "said: $(cat "$dir/log")"

# A budget below what a plain step takes: the plan keeps it, and says what is computed again.
peak() { awk -v name="$1" '$1 == name && /GFLOP/ { print $4 * 1000 }' "$dir/log"; } # kB
"$train" "${flags[@]}" --plan >"$dir/log" 2>&1 && [ "$(peak block)" -lt "$(peak none)" ] && ok || bad "a plan: $(cat "$dir/log")"
budget=$((($(peak block) + $(peak none)) / 2))
"$train" "${flags[@]}" --plan --recompute ${budget}kB >"$dir/log" 2>&1 && [ "$(peak chosen)" -le $budget ] && ok || bad "a plan with a budget: $(cat "$dir/log")"
grep -q '^Backward computes again: layers 0' "$dir/log" && ok || bad "a budget says nothing"
"$train" "${short[@]}" --recompute ${budget}kB -o "$dir/budget" >"$dir/log" 2>&1 && diff -r "$dir/system/step-40" "$dir/budget/step-40" && ok || bad "a budget: $(tail -1 "$dir/log")"

# Activations that wait on the host: the same bits, and words that say so; without room there a line, and the same bits.
"$train" "${short[@]}" --recompute offload -o "$dir/offload" >"$dir/log" 2>&1 && diff -r "$dir/system/step-40" "$dir/offload/step-40" && ok || bad "offload: $(tail -1 "$dir/log")"
grep -q '^Activations of layers 0-0 wait on the host' "$dir/log" && grep -qE '^offloaded in the first step: 0.[0-9]+ MB to the host, 0.[0-9]+ MB back' "$dir/log" && ok || bad "offload says: $(cat "$dir/log")"
TMPDIR=/dev/null "$train" "${short[@]}" --recompute offload -o "$dir/noroom" >"$dir/log" 2>&1 && diff -r "$dir/system/step-40" "$dir/noroom/step-40" && ok || bad "offload without room: $(tail -1 "$dir/log")"
grep -q '^a segment stays on the device: /dev/null: no file of [0-9]* bytes .* Name a folder with room in TMPDIR' "$dir/log" && ok || bad "offload without room says: $(cat "$dir/log")"

# refused WORDS FLAG...: a run with these flags does not continue from the checkpoint, and prints the reason.
refused() {
    "$train" "${flags[@]}" "${@:2}" -o "$dir/broken" --resume >"$dir/log" 2>&1 && bad "resumed with ${*:2}" || ok
    grep -qF -- "$1" "$dir/log" && ok || bad "${*:2} said: $(tail -1 "$dir/log")"
}
refused 'recompute "all": use one of none, selective, block, offload' --recompute all
refused '--recompute offload and --pp: a stage has several micro-batches at a time' --recompute offload --pp 2
refused 'recompute: a budget of 1000 bytes is too small: the least is ' --recompute 1kB
refused 'with steps 2000, not 7; --resume needs the flags of the run' --steps 7
refused 'with seed 1, not 9007199254740993' --seed 9007199254740993
refused 'with lr 0.002' --lr 0.003
refused 'with batch 4, not 5' --batch 5
refused 'with micro-batches 2, not 1' --micro-batches 1
refused 'with clip 1, not 2' --clip 2
refused 'with width 32, not 34' --width 34
refused 'with layers 2, not 3' --layers 3
refused 'with optimizer adamw, not lion' --optimizer lion
sed 's/line 77/LINE 77/' "$dir/text" >"$dir/text2"
refused 'with vocabulary' --data "$dir/text2"
sed 's/line 77/line 78/' "$dir/text" >"$dir/text2"
refused 'with text checksum' --data "$dir/text2"

# Checkpoints: the two newest and the best are kept, every 7 steps, also from a thread; --resume STEP goes back.
steps() { (cd "$dir/$1" && echo step-*); }
run() { "$train" "${short[@]}" "$@" >"$dir/log" 2>&1; }
said() { grep -qF -- "$*" "$dir/log" && ok || bad "not \"$*\": $(cat "$dir/log")"; }
run -o "$dir/thread" --async-save --save-every 7 --keep 1 && diff -r "$dir"/{system,thread}/step-40 && ok || bad "--async-save: $(tail -1 "$dir/log")"
[ "$(steps thread)" = step-40 ] && ok || bad "kept: $(steps thread)"
run -o "$dir/back" --save-every 7 --keep 0 && [ "$(steps back)" = 'step-14 step-20 step-21 step-28 step-35 step-40 step-7' ] && ok || bad "kept: $(steps back)"
run -o "$dir/back" --keep 0 --resume 21 && said "Continuing from $dir/back/step-21"
[ "$(steps back)" = 'step-14 step-20 step-21 step-40 step-7' ] && diff -r "$dir"/{system,back}/step-40 && ok || bad "from step 21: $(steps back)"
cmp <(cut -d, -f1-4 "$dir/system/metrics.csv") <(cut -d, -f1-4 "$dir/back/metrics.csv") && ok || bad "another curve"
run -o "$dir/back" --resume 22 && bad "resumed from no checkpoint" || said "checkpoints in $dir/back: 7, 14, 20, 21, 40"
run -o "$dir/early" --lr 1e-9 --patience 2 --eval-every 1 --min-delta 1 && said 'steps=3 ' && [ "$(steps early)" = 'step-1 step-2 step-3' ] && ok || bad "--patience: $(steps early)"
# Muon's momentum and AdamW's averages are in the checkpoint, beside the masters of 16-bit products; so are moments of 8 bits.
for rule in '--optimizer muon' '--state 8'; do
    for dtype in f32 bf16; do
        now=$dir/${rule##* }-$dtype flags_of=($rule --dtype $dtype --keep 0)
        run -o "$now" "${flags_of[@]}" --save-every 7 && cp -r "$now" "$dir/goes-on" && run -o "$dir/goes-on" "${flags_of[@]}" --resume 21 &&
            diff -r "$now/step-40" "$dir/goes-on/step-40" && ok || bad "$rule in $dtype, resumed: $(tail -1 "$dir/log")"
        rm -rf "$dir/goes-on"
    done
done
grep -q '"h.0.attn.c_attn.weight/momentum_buffer"' -a "$dir"/muon-f32/step-40/*.safetensors && grep -q '"wte.weight/exp_avg_sq"' -a "$dir"/muon-f32/step-40/*.safetensors && ok || bad "muon's state: $(ls "$dir/muon-f32/step-40")"
grep -q '"wte.weight/exp_avg_sq8_scale"' -a "$dir"/8-f32/step-40/*.safetensors && ! grep -q '"wte.weight/exp_avg"' -a "$dir"/8-f32/step-40/*.safetensors && ok || bad "moments of 8 bits: $(ls "$dir/8-f32/step-40")"
run -o "$dir/8-f32" --state 8 --optimizer lion && bad "moments of 8 bits with lion" || said '--state 8 is for the moments of adam and adamw, on the CPU: use --optimizer adamw'
run -o "$dir/8-f32" --state 16 && bad "moments of 16 bits" || said 'there is no state "16": use one of 32, 8'
run -o "$dir/8-f32" --resume && bad "resumed 8 bits with 32" || said 'with optimizer adamw in 8 bits, not adamw; --resume needs the flags of the run'
run -o "$dir/system" --resume --state 8 && bad "resumed 32 bits with 8" || said 'with optimizer adamw, not adamw in 8 bits; --resume needs the flags of the run'
mkdir "$dir/empty"
run -o "$dir/empty" --resume && bad "resumed in an empty folder" || said "$dir/empty: there is no checkpoint"
"$train" "${flags[@]}" -o "$dir/two" >/dev/null 2>&1 &
victim=$!
await $victim '[ -e "$dir/two/step-100/manifest.json" ] && [ "$(wc -l <"$dir/two/metrics.csv")" -ge 2 ]'
run -o "$dir/two" && bad "a second writer" || said "$dir/two: another program saves its checkpoints there"
[ "$(wc -l <"$dir/two/metrics.csv")" -ge 2 ] && ok || bad "the second writer cleared metrics.csv"
kill $victim
wait $victim
"$train" "${flags[@]}" -o "$dir/two" --resume --steps 2000 >"$dir/log" 2>&1 && diff -r "$dir"/{straight,two}/step-2000 && ok || bad "stopped, and resumed: $(tail -1 "$dir/log")"
cmp <(cut -d, -f1-4 "$dir/straight/metrics.csv") <(cut -d, -f1-4 "$dir/two/metrics.csv") && ok || bad "another curve after a stop"

# One command, run again until the run is done: --minutes ends it early, --resume=auto begins it and continues it.
for minutes in 0.005 0.005 0.005 60; do
    run -o "$dir/again" --resume=auto --minutes $minutes && ok || bad "--minutes $minutes: $(tail -1 "$dir/log")"
done
diff -r "$dir"/{system,again}/step-40 && ok || bad "other bits after --minutes"
run -o "$dir/again" --resume=auto && said 'steps=40 '
# 5000 tokens are 40 steps of 128; a warm-up of 100 steps is longer.
"$train" "${flags[@]}" --eval-every 20 --tokens 5000 --warmup 100 -o "$dir/tokens" >"$dir/log" 2>&1 && said ' steps=40 ' && said '--warmup 100, --steps 40'

# evaluate finds the best checkpoint, and computes what the run had as its validation loss there.
"$bin/evaluate" "$dir/straight" --data "$dir/text" --batch 3 --windows 8 >"$dir/log" 2>&1 && ok || bad "evaluate: $(cat "$dir/log")"
best=$(sed -n 's/^ *"best step": *"\([0-9]*\)".*/\1/p' "$dir/straight/run.json")
[ -n "$best" ] && said "evaluate: step=$best loss=$(awk -F, -v best="$best" '$1 == best { print $3 }' "$dir/straight/metrics.csv") "
# Which windows are evaluated does not depend on how many are computed at once.
for batch in 1 5 8 64; do
    "$bin/evaluate" "$dir/straight" --data "$dir/text" --windows 8 -b $batch 2>&1 | sed 's/perplexity.*//' | cmp - <(sed -n 's/perplexity.*//p' "$dir/log") && ok || bad "evaluate -b $batch"
done
grep -q '"status":.*"done"' "$dir/straight/run.json" && ok || bad "run.json: $(cat "$dir/straight/run.json")"
"$bin/evaluate" "$dir/straight" --data "$0" >"$dir/log" 2>&1 && bad "evaluated with other tokens" || said "its tokens are not those of the vocabulary in $dir/straight"

# write NAME TEXT [FLAGS]: generate's text, and that it begins with its prompt.
write() { "$generate" -r "$dir/$1" -p 'line 7: the cat' -n 60 "${@:3}" >"$dir/$2" 2>"$dir/log" && grep -q '^line 7: the cat' "$dir/$2"; }
write straight a && write broken b && cmp "$dir/a" "$dir/b" && ok || bad "text: $(tail -1 "$dir/log")"
write straight c --seed 2 && ! cmp -s "$dir/a" "$dir/c" && ok || bad "another seed gives the same text"
# Several texts have the seeds that follow, and prompts may be lines of standard input.
write straight both -k 2 && cmp "$dir/both" <(cat "$dir/a"; printf '\n--------\n'; cat "$dir/c") && ok || bad "-k 2: $(tail -1 "$dir/log")"
printf 'line 7: the cat\n\nline 7: the cat\n' | "$generate" -r "$dir/straight" -n 60 -i >"$dir/b" 2>"$dir/log" && cmp "$dir/b" <(cat "$dir"/{a,a}) && ok || bad "-i: $(tail -1 "$dir/log")"
printf "line 7: the cat\\n" | write straight b -i && cmp "$dir/b" <(cat "$dir"/{a,a}) && ok || bad "-i behind -p: $(tail -1 "$dir/log")"
write straight d -T 0 && write straight e --top-k 1 && cmp "$dir/d" "$dir/e" && ok || bad "greedy is not the best one of all"
write straight f --step 1900 && ! cmp -s "$dir/a" "$dir/f" && ok || bad "text of an earlier checkpoint: $(tail -1 "$dir/log")"
truncate -s 1000 "$dir"/broken/step-2000/model-00001-of-00001.safetensors
write broken f && grep -q '^warning: the checkpoint of step 2000 is skipped: .* 1000 bytes, not' "$dir/log" && ok || bad "said: $(cat "$dir/log")"
truncate -s 1000 "$dir"/broken/step-*/model-00001-of-00001.safetensors
write broken f && bad "a checkpoint cut off was taken" || grep -q 'none of its checkpoints is valid' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"
write none g && bad "no run was taken" || grep -q 'make train-gpt2 trains a model' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"
finish train_gpt2
