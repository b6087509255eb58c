#!/bin/bash
# test_tokenize.sh -- the program tokenize: the same file for any number of workers, and never a partly written file.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tokenize=$root/build/release/bin/tokenize
tiny=$root/datasets/reference/tiny
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
export OMP_WAIT_POLICY=passive # other programs may be busy here; waiting threads must not take their cores

# ok NAME CONDITION... -- count one test; on failure show what the program said.
ok()
{
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n  exit %s\n%s\n' "$name" "$status" "$(sed 's/^/  | /' "$work/said")"
    fi
}
run()  { "$@" >"$work/said" 2>&1; status=$?; }
said() { grep -qF -- "$1" "$work/said"; }
left() { [ "$(ls "$work/out" | tr '\n' ' ')" = "$1" ]; }

[ -x "$tokenize" ] || { echo "$tokenize is missing: run make first"; echo '0 passed, 1 failed'; exit 1; }
mkdir "$work/out"
for i in $(seq 60); do cat "$root"/labs/*/README.md "$root"/docs/*.md; done >"$work/long.txt" # several pieces of work
head -c 300000 /dev/urandom >"$work/noise.txt"
: >"$work/empty.txt"
texts=("$work/noise.txt" "$work/empty.txt" "$work/long.txt")

for w in 1 2 3 8; do
    run "$tokenize" -v "$tiny" -w $w -o "$work/out/$w" "${texts[@]}"
    ok "$w workers" [ $status = 0 ]
    ok "... give the same file" cmp -s "$work/out/1" "$work/out/$w"
done
ok '... and say how many tokens' said "tokens of 2 bytes each, out of $(cat "${texts[@]}" | wc -c) bytes in 3 files"

run "$tokenize" -v "$tiny" -n -o "$work/out/n" "${texts[@]}"
ok 'a separator behind each of three files' [ $(($(stat -c %s "$work/out/1") - $(stat -c %s "$work/out/n"))) = 6 ]
rm "$work"/out/*

run "$tokenize" --train 400 --save "$work/learned" -o "$work/out/a" "$work/long.txt"
ok 'learn a vocabulary and use it' [ $status = 0 ]
run "$tokenize" -v "$work/learned" -o "$work/out/b" "$work/long.txt"
ok '... and later again' cmp -s "$work/out/a" "$work/out/b"
rm "$work"/out/*

printf 'hello world' >"$work/hello.txt"
run "$tokenize" --chars --save "$work/chars" -o "$work/out/c" "$work/hello.txt"
ok 'characters' eval '[ $status = 0 ] && said "vocabulary of 8 tokens"'
ok '... numbered by code point, without a separator' [ "$(tail -c 22 "$work/out/c" | od -An -v -tu2 | tr -s ' \n' ' ')" = ' 3 2 4 4 5 0 7 5 6 4 1 ' ]
rm "$work"/out/*

run "$tokenize" -v "$work/chars" -o "$work/out/d" "$work/long.txt"
ok 'a text the vocabulary lacks: one line' eval '[ $status = 1 ] && said "the vocabulary lacks a character" && [ "$(wc -l <"$work/said")" = 1 ]'
ok '... and no file' left ''
run bash -c "ulimit -f 100; trap '' XFSZ; exec \"\$@\"" limited "$tokenize" -v "$tiny" -o "$work/out/e" "$work/long.txt"
ok 'a full disk: one line' eval '[ $status = 1 ] && said "out/e: File too large" && [ "$(wc -l <"$work/said")" = 1 ]'
ok '... and no file' left ''
run "$tokenize" -v "$tiny" -o "$work/out/f" "$work/nothing.txt"
ok 'no such text' eval '[ $status = 1 ] && said "nothing.txt: No such file" && left ""'
run "$tokenize" -v "$work" -o "$work/out/g" "$work/hello.txt"
ok 'no vocabulary there' eval '[ $status = 1 ] && said "vocab.bpe: No such file" && left ""'
run "$tokenize" -v "$tiny" -o "$work/no/such/folder" "$work/hello.txt"
ok 'nowhere to write' eval '[ $status = 1 ] && said "folder: No such file"'
run "$tokenize" -v "$tiny"
ok 'no text named' eval '[ $status != 0 ] && said "name text files"'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
