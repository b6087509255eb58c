#!/usr/bin/env bash
# A checkpoint's shards are read, bit by bit, by a reader that knows only the layout of Hugging Face's format, and its own are
# read here. Skips, with a message, without Python.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
python=${PYTHON:-/usr/bin/python3} peer=minitorch/tests/sharded_reader.py faults=build/release/bin/faults
make -s $faults >/dev/null || exit 1

"$faults" --save "$dir" 2>"$dir/log" && ok || bad save
ours=$dir/step-7 theirs=$dir/theirs
[ "$(find "$ours" -name 'model-*-of-00002.safetensors' | wc -l)" -eq 2 ] && ok || bad "two shards: $(ls "$ours")"
"$faults" --check "$ours" 2>"$dir/log" && ok || bad "our own"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || { echo "$python is missing or too old: its side is not tested"; finish sharded; }
"$python" $peer read "$ours" 2>"$dir/log" && ok || bad "Python reads something else"
mkdir "$theirs" && "$python" $peer write "$ours" "$theirs" 2>"$dir/log" && ok || bad "Python writes"
"$faults" --check "$theirs" 2>"$dir/log" && ok || bad "Python's shards"
# Both sides notice a bit.
printf '\377' | dd of="$theirs/model-00003-of-00004.safetensors" bs=1 seek=200 conv=notrunc status=none
"$faults" --check "$theirs" 2>"$dir/log" && bad "another bit was taken" || ok
grep -qF 'other bits' "$dir/log" && ok || bad "said"
"$python" $peer read "$theirs" 2>"$dir/log" && bad "Python takes another bit" || ok
ln -sf /etc/passwd "$theirs/model-00001-of-00004.safetensors"
"$faults" --check "$theirs" 2>"$dir/log" && bad "a link to a file that is not a shard" || ok
rm "$theirs"/model-00004*
"$faults" --check "$theirs" 2>"$dir/log" && bad "a shard is missing" || ok
finish sharded
