#!/usr/bin/env bash
# make stage: bad input is refused in one line that says what to do, and nothing is left. Whole stages: grader/tools/stages.sh.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
stage() { make -s stage "$@"; }
expect "no folder" 2 "usage: make stage LAB=05 OUT=dir" stage LAB=02
expect "an unknown lab" 2 "unknown lab LAB=99: use one of 00 01" stage LAB=99 OUT="$dir/x"
expect "no lab" 2 "usage: make stage LAB=05 OUT=dir" stage OUT="$dir/x"
mkdir "$dir/full"
expect "a folder that exists" 2 "full exists: name a new folder" stage LAB=02 OUT="$dir/full"
expect "a folder in the repository" 2 "lies in this repository: name a folder outside" stage LAB=02 OUT=docs/stage

# The others in a copy, with this repository's objects: nothing is compiled.
mkdir "$dir/bin" && printf '#!/bin/sh\n' >"$dir/bin/make" && chmod +x "$dir/bin/make"
git clone -q . "$dir/copy" && (cd "$root" && git diff HEAD) | (cd "$dir/copy" && git apply --allow-empty)
refused() { # NAME WORDS LAB: in one line, and nothing is left
    local out rc=0
    out=$(PATH=$dir/bin:$PATH "$dir/copy/grader/release/stage.sh" "$root/build/release" "$dir/x" "$3" 2>&1) || rc=$?
    if [ $rc -eq 1 ] && [[ $out == "stage: $2"* ]] && [ "$(wc -l <<<"$out")" -eq 1 ] && ! compgen -G "$dir/x*" >/dev/null; then ok; else bad "$1: exit $rc, said: $out"; fi
}
refused "an unknown lab for the script" "there is no lab 99: use one of 00 01" 99
echo '#include "ckpt/checkpoint.h"' >>"$dir/copy/minitorch/core/dtype.h"
refused "an include that climbs" "minitorch/core/dtype.h needs minitorch/ckpt/checkpoint.h, which a later lab has" 00
git -C "$dir/copy" checkout -q minitorch/core
echo '#include "checks/11-fusion.h"' >>"$dir/copy/grader/checks/02-mlp.c"
refused "and one of a check" "grader/checks/02-mlp.c needs grader/checks/11-fusion.h, which a later lab has" 02
git -C "$dir/copy" checkout -q grader/checks
mkdir "$dir/copy/minitorch/new" && touch "$dir/copy/minitorch/new/a.c" && git -C "$dir/copy" add minitorch/new
refused "a folder without a lab" "minitorch/new has no line in minitorch/stages.tsv: add one, with its lab" 00
rm -rf "$dir/copy/.git"
refused "no git" "this is not a git repository with a commit: a stage takes its tracked files" 00
mv "$dir/copy/solutions" "$dir/solutions"
refused "a release" "there are no sources of the reference here" 00

finish stage
