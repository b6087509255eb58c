#!/usr/bin/env bash
# Weights are exchanged with Python: a checkpoint's as a safetensors file that Python reads bit by bit; the same in
# Hugging Face's format; and a model of torch, which generates the same text here. Skips, with a message, what Python
# does not have.
. "$(dirname "$0")/../../.ci/check.bash"
python=${PYTHON:-/usr/bin/python3} peer=$(dirname "$0")/safetensors_peer.py
make -s -C "$root" build/release/bin/{train_gpt2,generate} >/dev/null || exit 1
write() { "$bin/generate" -r "$dir/run" -p 'The model' -n 40 "$@" 2>"$dir/log"; }

cat "$root"/labs/0[0-2]*/README.md | LC_ALL=C tr -cd '\n -~' >"$dir/text"
"$bin/train_gpt2" -q --size toy -d "$dir/text" -o "$dir/run" --steps 20 --batch 4 --eval-every 20 --eval-batches 1 >"$dir/log" 2>&1 && ok || bad training
write --export "$dir/ours" >/dev/null && ok || bad export
write >"$dir/want" && write --size toy --weights "$dir/ours" >"$dir/got" && cmp "$dir/want" "$dir/got" && ok || bad "another text from the export"
write --weights "$dir/ours" && bad "a file of another size was taken" || ok
grep -q 'wte.weight is F32 .* not F32' "$dir/log" && ok || bad "said"
write >/dev/null && ! grep -q 'converted' "$dir/log" && ok || bad "f32 was converted"
for dtype in bf16 f16; do
    write --dtype $dtype >"$dir/got" && [ -s "$dir/got" ] && ok || bad "weights read in $dtype"
    write --export "$dir/half" --dtype $dtype >/dev/null && ok || bad "export in $dtype"
    [ $((2 * $(stat -c %s "$dir/half"))) -lt $(($(stat -c %s "$dir/ours") + 20000)) ] && ok || bad "the size in $dtype"
    write --size toy --weights "$dir/half" >/dev/null && grep -q "half: $dtype, converted to f32" "$dir/log" && ok || bad "$dtype"
done
write --dtype i8 && bad "weights of i8" || ok
(trap "" XFSZ && ulimit -f 100 && write --export "$dir/ours") && bad "exported into no room" || ok
write --size toy --weights "$dir/ours" >"$dir/got" && cmp "$dir/want" "$dir/got" && ok || bad "what was there is gone"

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || { echo "$python is missing or too old: its side is not tested"; finish safetensors; }
"$python" "$peer" package 2>/dev/null || echo "Python has no safetensors package: a reader of our own takes its place"
"$python" "$peer" compare "$dir/ours" "$dir/run/step-20" 2>"$dir/log" && ok || bad "Python reads something else"
"$python" "$peer" publish "$dir/theirs" "$dir/run/step-20" "$dir/ours" 2>"$dir/log" && ok || bad publish
write --size toy --weights "$dir/theirs" >"$dir/got" && cmp "$dir/want" "$dir/got" && ok || bad "another text from Hugging Face's layout"
"$python" "$peer" torch 2>/dev/null || { echo "Python has no torch: its model is not tested"; finish safetensors; }
"$python" "$peer" random "$dir/random" 'The model' "$dir/run" >"$dir/want" 2>"$dir/log" && ok || bad torch
write --size toy --weights "$dir/random" -T 0 >"$dir/got" && cmp "$dir/want" "$dir/got" && ok || bad "torch writes another text"
finish safetensors
