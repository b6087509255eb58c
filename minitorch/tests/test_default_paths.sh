#!/usr/bin/env bash
# default_paths: a program finds the data of datasets/fetch in the folder that it is started in, else in the tree that it was built in.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,tokenize} >/dev/null || exit 1
said() { grep -qF -- "$1" "$dir/log" && ok || bad "not \"$1\": $(tail -1 "$dir/log")"; }
seq 3000 >"$dir/up"
(cd "$dir" && mkdir -p tree/build/bin tree/datasets/cache/shakespeare && cp "$bin/train_gpt2" tree/build/bin && cp up tree/datasets/cache/shakespeare/tinyshakespeare.txt)
found() { (cd "$1" && env -u MT_DATA "$dir/tree/build/bin/train_gpt2" --plan) >"$dir/log" 2>&1; }
found "$dir/tree" && said 'datasets/cache/shakespeare/tinyshakespeare.txt: '
found / && said "$dir/tree/datasets/cache/shakespeare/tinyshakespeare.txt: "
mv "$dir/tree/datasets" "$dir/tree/none"
found "$dir/tree" && bad "no data" || said 'shakespeare/tinyshakespeare.txt: No such file or directory'
mkdir -p "$dir/tree/datasets/cache/gpt2" && printf '#version: 0.2\nt h\n' >"$dir/tree/datasets/cache/gpt2/vocab.bpe" && cp "$bin/tokenize" "$dir/tree/build/bin"
(cd / && env -u MT_DATA "$dir/tree/build/bin/tokenize" -o "$dir/up.tokens" "$dir/up") >"$dir/log" 2>&1 && [ -s "$dir/up.tokens" ] && ok || bad "tokenize: $(tail -1 "$dir/log")"
MT_DATA=$dir/nothing "$dir/tree/build/bin/tokenize" -o "$dir/up.tokens" "$dir/up" >"$dir/log" 2>&1 && bad "MT_DATA has no vocabulary" || said "$dir/nothing/gpt2/vocab.bpe"
finish default_paths
