#!/usr/bin/env bash
# test_tokenize.sh -- the program tokenize: the same file for any number of workers, and never a partly written file.
. "$(dirname "$0")/../../.ci/check.bash"
tokenize=$root/build/release/bin/tokenize
tiny=$root/datasets/reference/tiny
export OMP_WAIT_POLICY=passive # other programs may be busy here; waiting threads must not take their cores

run()  { "$@" >"$dir/log" 2>&1; status=$?; }
said() { grep -qF -- "$1" "$dir/log"; }
left() { [ "$(ls "$dir/out" | tr '\n' ' ')" = "$1" ]; }

[ -x "$tokenize" ] || { echo "$tokenize is missing: run make first"; echo '0 passed, 1 failed'; exit 1; }
mkdir "$dir/out"
for i in $(seq 60); do cat "$root"/labs/*/README.md "$root"/docs/*.md; done >"$dir/long.txt" # several pieces of work
head -c 300000 /dev/urandom >"$dir/noise.txt"
: >"$dir/empty.txt"
texts=("$dir/noise.txt" "$dir/empty.txt" "$dir/long.txt")

for w in 1 2 3 8; do
    run "$tokenize" -v "$tiny" -w $w -o "$dir/out/$w" "${texts[@]}"
    check "$w workers" [ $status = 0 ]
    check "... give the same file" cmp -s "$dir/out/1" "$dir/out/$w"
done
check '... and say how many tokens' said "tokens of 2 bytes each, out of $(cat "${texts[@]}" | wc -c) bytes in 3 files"

run "$tokenize" -v "$tiny" -n -o "$dir/out/n" "${texts[@]}"
check 'a separator behind each of three files' [ $(($(stat -c %s "$dir/out/1") - $(stat -c %s "$dir/out/n"))) = 6 ]
rm "$dir"/out/*

run "$tokenize" --train 400 --save "$dir/learned" -o "$dir/out/a" "$dir/long.txt"
check 'learn a vocabulary and use it' [ $status = 0 ]
run "$tokenize" -v "$dir/learned" -o "$dir/out/b" "$dir/long.txt"
check '... and later again' cmp -s "$dir/out/a" "$dir/out/b"
rm "$dir"/out/*

printf 'hello world' >"$dir/hello.txt"
run "$tokenize" --chars --save "$dir/chars" -o "$dir/out/c" "$dir/hello.txt"
check 'characters' eval '[ $status = 0 ] && said "vocabulary of 8 tokens"'
check '... numbered by code point, without a separator' [ "$(tail -c 22 "$dir/out/c" | od -An -v -tu2 | tr -s ' \n' ' ')" = ' 3 2 4 4 5 0 7 5 6 4 1 ' ]
rm "$dir"/out/*

run "$tokenize" -v "$dir/chars" -o "$dir/out/d" "$dir/long.txt"
check 'a text the vocabulary lacks: one line' eval '[ $status = 1 ] && said "the vocabulary lacks a character" && [ "$(wc -l <"$dir/log")" = 1 ]'
check '... and no file' left ''
run bash -c "ulimit -f 100; trap '' XFSZ; exec \"\$@\"" limited "$tokenize" -v "$tiny" -o "$dir/out/e" "$dir/long.txt"
check 'a full disk: one line' eval '[ $status = 1 ] && said "out/e: File too large" && [ "$(wc -l <"$dir/log")" = 1 ]'
check '... and no file' left ''
run "$tokenize" -v "$tiny" -o "$dir/out/f" "$dir/nothing.txt"
check 'no such text' eval '[ $status = 1 ] && said "nothing.txt: No such file" && left ""'
run "$tokenize" -v "$dir" -o "$dir/out/g" "$dir/hello.txt"
check 'no vocabulary there' eval '[ $status = 1 ] && said "vocab.bpe: No such file" && left ""'
run "$tokenize" -v "$tiny" -o "$dir/no/such/folder" "$dir/hello.txt"
check 'nowhere to write' eval '[ $status = 1 ] && said "folder: No such file"'
run "$tokenize" -v "$tiny"
check 'no text named' eval '[ $status != 0 ] && said "name text files"'

finish tokenize
