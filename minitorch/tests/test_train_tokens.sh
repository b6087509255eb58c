#!/usr/bin/env bash
# train_gpt2 on a token file of tokenize: killed (-9), then out of disk space, then resumed, it ends with the same bits
# as an undisturbed run; a token file of characters gives the bits of its text; combinations that do not fit are
# refused.
. "$(dirname "$0")/../../.ci/check.bash"
train=$bin/train_gpt2 tokenize=$bin/tokenize generate=$bin/generate evaluate=$bin/evaluate
make -s -C "$root" build/release/bin/{train_gpt2,tokenize,generate,evaluate} >/dev/null || exit 1
# says WORDS... -- the last program failed with a message that contains these words.
says() { [ $rc -eq 1 ] && grep -aqF -- "$*" "$dir/log" && ok || bad "exit $rc, not \"$*\": $(tail -1 "$dir/log")"; }
run() { "$@" >"$dir/log" 2>&1 && rc=0 || rc=$?; }

{ cat "$root"/labs/0[0-4]*/README.md && for i in {1..200}; do echo "Größe $i: ≥ 3"; done; } >"$dir/text" # characters of several bytes
run "$tokenize" -q --train 300 --save "$dir/300" --no-separator -o "$dir/300.tokens" "$dir/text"
run "$tokenize" -q --train 400 --save "$dir/400" --no-separator -o "$dir/400.tokens" "$dir/text"
flags=(--layers 2 --heads 2 --width 32 --block 16 --batch 4 --micro-batches 2 --warmup 10 -q)
flags+=(--steps 1200 --eval-every 100 --eval-batches 2)
text_flags=("${flags[@]}" --steps 100)
flags+=(--vocab "$dir/300")

run "$train" "${flags[@]}" --data "$dir/300.tokens" -o "$dir/straight" && [ $rc -eq 0 ] && ok || bad "a plain run: $(tail -1 "$dir/log")"
run "$tokenize" -q --chars --save "$dir/chars" -o "$dir/chars.tokens" "$dir/text"
run "$train" "${text_flags[@]}" --data "$dir/text" -o "$dir/text-run"
run "$train" "${text_flags[@]}" --data "$dir/chars.tokens" --vocab "$dir/chars" -o "$dir/chars-run"
cmp "$dir"/{chars,text}-run/step-100/model-00001-of-00001.safetensors && cmp "$dir"/{chars,text}-run/step-100/state-00001-of-00001.safetensors && ok || bad "the text has other bits than its tokens"
cmp "$dir/chars/vocab.bpe" "$dir/text-run/vocab.bpe" && ok || bad "the text has another vocabulary"

"$train" "${flags[@]}" --data "$dir/300.tokens" -o "$dir/broken" >/dev/null 2>&1 &
victim=$!
await $victim '[ -e "$dir/broken/step-300/manifest.json" ] && [ "$(wc -l <"$dir/broken/metrics.csv")" -ge 4 ]'
kill -9 $victim && ok || bad "the run ended before it was killed"
wait $victim 2>/dev/null
before=$(ls "$dir/broken" | grep ^step-)
# No room for the next checkpoint: 100 KiB a file, and the checkpoint is larger.
run bash -c 'trap "" XFSZ; ulimit -f 100; "$@"' limited "$train" "${flags[@]}" --data "$dir/300.tokens" -o "$dir/broken" --resume
grep -aqE 'broken/step-[0-9]+/model-00001-of-00001.safetensors: (File too large|could not be written completely)' "$dir/log" && [ $rc -eq 1 ] && ok || bad "no room: exit $rc, $(tail -1 "$dir/log")"
[ "$before" = "$(ls "$dir/broken" | grep ^step-)" ] && ok || bad "other checkpoints than before"
[ -z "$(find "$dir/broken" -name '*.tmp')" ] && ok || bad "left behind: $(ls "$dir/broken")"
run "$train" "${flags[@]}" --data "$dir/300.tokens" -o "$dir/broken" --resume && [ $rc -eq 0 ] && ok || bad "resumed: $(tail -1 "$dir/log")"
diff -r "$dir"/{straight,broken}/step-1200 && ok || bad "other bits after resuming"
cmp <(cut -d, -f1-4 "$dir/straight/metrics.csv") <(cut -d, -f1-4 "$dir/broken/metrics.csv") && ok || bad "another curve"
[ "$(wc -l <"$dir/broken/metrics.csv")" -eq 122 ] && ok || bad "rows: $(wc -l <"$dir/broken/metrics.csv")"

# A resume with the flags of another run is refused and changes no file.
run "$train" "${flags[@]}" --vocab "$dir/400" --data "$dir/400.tokens" -o "$dir/broken" --resume
says "--resume needs the flags of the run that it continues"
cmp "$dir/300/vocab.bpe" "$dir/broken/vocab.bpe" && ok || bad "it replaced the vocabulary"

plan=("$train" "${flags[@]}" --plan)
run "${plan[@]}" --data "$dir/400.tokens"
says "the vocabulary has 300: the file was made with another vocabulary, whose folder --vocab must name"
run "${plan[@]}" --data "$dir/300.tokens" --vocab "$dir/400"
says "300.tokens was not made with the vocabulary in $dir/400"
says "or encode its text again: tokenize -v $dir/400 -o FILE.tokens TEXT"
head -c 9999 "$dir/300.tokens" >"$dir/cut.tokens"
run "${plan[@]}" --data "$dir/cut.tokens"
says "cut.tokens: offset 9999: the file ends in the middle of a token"
run "$train" --plan --data "$dir/300.tokens"
says "300.tokens is a token file: give --vocab the folder of the vocabulary with which it was made"
run "${plan[@]}" --data "$dir/text"
says "tokenize -v $dir/300 -o FILE.tokens $dir/text, then train with --data FILE.tokens"
run "${plan[@]}" --data "$dir/300.tokens" --vocab "$dir/none"
says "none/vocab.bpe"

# nanoGPT's .bin: ids of two bytes, nothing else.
tail -c +25 "$dir/300.tokens" >"$dir/nano.bin"
run "${plan[@]}" --data "$dir/nano.bin"
says "make a token file of it: tokenize --raw -o FILE.tokens $dir/nano.bin"
run "$tokenize" --raw -o "$dir/nano.tokens" "$dir/nano.bin"
cmp "$dir/nano.tokens" "$dir/300.tokens" && ok || bad "tokenize --raw: $(tail -1 "$dir/log")"
head -c 999 "$dir/nano.bin" >"$dir/odd.bin"
run "$tokenize" --raw -o "$dir/odd.tokens" "$dir/odd.bin"
says "odd.bin: 999 bytes are not a whole number of ids of two bytes"

# Text longer than the context of 16 tokens, in the prompt and after it.
prompt=$(head -c 500 "$dir/text")
run "$generate" -r "$dir/straight" -p "$prompt" -n 0
[ "$(sed '$d' "$dir/log")" = "$prompt" ] && ok || bad "a long prompt: $(tail -1 "$dir/log")"
"$generate" -r "$dir/straight" -p "$prompt" -n 100 2>/dev/null >"$dir/long"
[ $? -eq 0 ] && [ "$(wc -c <"$dir/long")" -gt 600 ] && [ "$(head -c 500 "$dir/long")" = "$prompt" ] && ok || bad "text behind a long prompt"

# Bits per byte compare vocabularies: the loss of a token in bits, over the bytes of a token. A token of the text is a character;
# those of the file have all its bytes, in a tenth as in the whole to within 20 %.
bits() { awk -v bytes="$1" -v near="$2" '{ gsub(/[a-z_]+=/, "") } /^evaluate: / { r = $3 / log(2) / bytes / $5; exit !(r > 1 - near && r < 1 + near) }' "$dir/log" && ok || bad "bits per byte"; }
run "$evaluate" "$dir/text-run" --data "$dir/text" --windows 8
bits "$(perl -0777 -ne 'utf8::decode($_); $t = substr $_, int(length() * 9 / 10); $n = length $t; utf8::encode($t); print length($t) / $n' "$dir/text")" 0.0001
run "$evaluate" "$dir/straight" --data "$dir/300.tokens" --vocab "$dir/300" --windows 8
bits "$(awk "BEGIN { print $(wc -c <"$dir/text") / (($(wc -c <"$dir/300.tokens") - 24) / 2) }")" 0.2
finish train_tokens
