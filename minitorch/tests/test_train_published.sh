#!/usr/bin/env bash
# train_published: a folder as GPT-2 was published, its names and shapes with random weights and a vocabulary of its size, is
# fine-tuned, exported, read by a reader that shares no code with this repository, and continued. With ALL=1 it has the 124
# million parameters of the smallest one; without, narrower layers. Skips, with a message, without Python.
. "$(dirname "$0")/../../.ci/check.bash"
python=${PYTHON:-/usr/bin/python3} peer=$(dirname "$0")/safetensors_peer.py width=$([ "${ALL:-}" ] && echo 768 || echo 48)
make -s -C "$root" build/release/bin/{train_gpt2,generate,curve,tokenize} >/dev/null || exit 1
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || { echo "$python is missing or too old"; finish train_published; }
mkdir "$dir/gpt2" && "$python" "$peer" hub "$dir/gpt2" 12 "$width" 2>"$dir/log" && ok || bad "no folder: $(tail -1 "$dir/log")"
head -c 20000 "$root/docs/TRAIN.md" >"$dir/text"
"$bin/tokenize" -q -v "$dir/gpt2" -o "$dir/tokens" "$dir/text" >"$dir/log" 2>&1 && ok || bad "tokenize: $(tail -1 "$dir/log")"

# tune NAME FROM LAST: to step LAST. A context of 64 of the 1024 places, so that a step is short.
tune() {
    "$bin/train_gpt2" -q --from "$2" --data "$dir/tokens" --vocab "$dir/gpt2" --block 64 --batch 1 --steps "$3" --warmup 2 --lr 1e-4 \
        --eval-every 20 --eval-batches 1 --keep 1 -o "$dir/$1" --resume=auto >"$dir/log" 2>&1 && grep -q " steps=$3 " "$dir/log" && ok || bad "$1: $(tail -1 "$dir/log")"
}
loss() { awk -F, -v step="$2" '$1 == step { print $3 }' "$dir/$1/metrics.csv"; }
tune tuned "$dir/gpt2" 20
awk -v first="$(loss tuned 0)" -v last="$(loss tuned 20)" 'BEGIN { exit !(last > 0 && last < first) }' && ok || bad "it learns nothing: $(cat "$dir/tuned/metrics.csv")"
"$bin/generate" -r "$dir/tuned" --export "$dir/out/" >"$dir/log" 2>&1 && ok || bad "export: $(tail -1 "$dir/log")"
"$python" "$peer" compare "$dir/out/model.safetensors" "$dir/tuned/step-20" 2>"$dir/log" && ok || bad "not what was trained: $(tail -1 "$dir/log")"
"$python" "$peer" tuned "$dir/gpt2" "$dir/out" 64 2>"$dir/log" && ok || bad "not what was published: $(tail -1 "$dir/log")"
cmp <(tail -n +2 "$dir/gpt2/merges.txt") <(tail -n +2 "$dir/out/merges.txt") && ok || bad "another vocabulary"

# What was exported is where the run ended, and goes on from there.
"$bin/generate" -r "$dir/out" --weights "$dir/out" -T 0 -n 5 >"$dir/a" 2>"$dir/log" && [ -s "$dir/a" ] && ok || bad "generate: $(tail -1 "$dir/log")"
tune more "$dir/out" 4
[ -n "$(loss more 0)" ] && [ "$(loss more 0)" = "$(loss tuned 20)" ] && ok || bad "it begins anew: $(cat "$dir/more/metrics.csv")"
finish train_published
