#!/usr/bin/env bash
# vocabulary_files: tokenize learns a vocabulary of several files, which it does not join, shows its progress, stops at Ctrl-C, and says
# where a vocabulary comes from when there is none.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/tokenize >/dev/null || exit 1
seq 3000 >"$dir/up" && seq 3000 -1 1 >"$dir/down"
for i in {1..50}; do printf 'no' >"$dir/piece-$i"; done
"$bin/tokenize" -q --train 300 --save "$dir/pieces" "$dir"/piece-* >"$dir/log" 2>&1 && [ "$(tail -n +2 "$dir/pieces/vocab.bpe")" = "n o" ] && ok || bad "merges: $(cat "$dir/pieces/vocab.bpe")"
"$bin/tokenize" -q --train 400 --save "$dir/two" -o "$dir/two.tokens" "$dir/up" "$dir/down" >"$dir/log" 2>&1 && cat "$dir/up" "$dir/down" >"$dir/both" &&
    "$bin/tokenize" -q --train 400 --save "$dir/one" "$dir/both" >"$dir/log" 2>&1 && cmp "$dir"/{one,two}/vocab.bpe && ok || bad "the files joined have other merges: $(tail -1 "$dir/log")"
printf 'good\n' >"$dir/good" && printf 'bad\xff\n' >"$dir/bad"
expect "--chars names the file" 1 "$dir/bad: offset 3: byte ff is not UTF-8" "$bin/tokenize" --chars --save "$dir/none" "$dir/good" "$dir/bad"
expect "no vocabulary" 1 'tokenize --train 1000 --save DIR TEXT` learns one' "$bin/tokenize" -v "$dir/none" -o "$dir/none.tokens" "$dir/good"
# Ctrl-C while it learns: 20 MB of different words take longer than it needs to be sent.
awk 'BEGIN { srand(1); for (i = 0; i < 2000000; i++) printf "%c%c%c%d\n", 97 + rand() * 26, 97 + rand() * 26, 97 + rand() * 26, i }' >"$dir/words"
"$bin/tokenize" --train 30000 --save "$dir/stopped" "$dir/words" >"$dir/log" 2>&1 &
victim=$!
await $victim 'grep -q "$dir/words" /proc/$victim/maps'
kill -INT $victim; wait $victim; rc=$?
[ $rc -eq 130 ] && [ ! -e "$dir/stopped" ] && ok || bad "stopped: exit $rc, $(tail -1 "$dir/log")"
finish vocabulary_files
