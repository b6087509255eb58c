#!/usr/bin/env bash
# lint.sh: each rule reports a violation at file:line, and a clean tree passes.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
tool=$PWD/grader/tools/lint.sh
export ROOT=$dir
cp .clang-format "$ROOT"
cd "$ROOT"
mkdir -p minitorch/{core,ops,nn,data,ckpt,apps,new,emulator/run} solutions/{01-matmul,02-backprop} grader/{tools,attacks} labs/01-matmul
# lints NAME STATUS WORDS: lint ends with STATUS and prints WORDS.
lints() { expect "$1" "$2" "$3" "$tool"; }
lines() { # lines N: a function of N lines in all, called long_one
    printf 'static void long_one(void)\n{\n' && printf '    x();\n%.0s' $(seq $(($1 - 3))) && printf '}\n'
}
# violation NAME FILE WORDS: the file on standard input gives WORDS and no other message; then it is removed.
violation() {
    cat >"$2"
    lints "$1" 1 "$3"
    lints "$1: no other complaint" 1 " 1 complaints"
    rm "$2"
}

printf '%s\t%s\n' core 00 kernels 01 ops 03 nn 03 data 05 emulator 06 "emulator/run/*" 06 "emulator/check/*" 06 ckpt 12 >minitorch/stages.tsv
lines 60 >minitorch/core/good.c
echo '/* TODO 01.1: the skeleton may say so. */' >labs/01-matmul/unit.c
printf '#include "/etc/passwd"\n\tFIXME\n' >grader/attacks/evil.c
printf '#include "kernels/own.h"\n#include "core/base.h"\n' >solutions/02-backprop/own.c
lints "a clean tree" 0 "1 functions, median 60 lines; 0 complaints"

lines 61 | violation "a long function" minitorch/core/a.c "minitorch/core/a.c:1: long_one has 61 lines (at most 60)"
seq -f 'int x%g;' 401 | violation "a long file" minitorch/core/a.c "minitorch/core/a.c:401: the file has 401 lines (at most 400)"
seq -f 'int x%g;' 251 | violation "a long header" minitorch/core/a.h "minitorch/core/a.h:251: the file has 251 lines (at most 250)"
violation "a unit knows no later lab" solutions/01-matmul/a.c \
    "solutions/01-matmul/a.c:1: includes nn/module.h, which belongs to a later stage" <<<'#include "nn/module.h"'
violation "core knows no ops" minitorch/core/a.c "minitorch/core/a.c:2: includes ops/ops.h, which belongs to a later stage" \
    <<<$'#include "core/base.h"\n#include "ops/ops.h"'
violation "nor the umbrella" minitorch/core/a.c "minitorch/core/a.c:1: includes mt.h, which belongs to a later" <<<'#include "mt.h"'
violation "execution knows no checks" minitorch/emulator/run/a.c "minitorch/emulator/run/a.c:1: includes emulator/check/race.h, which belongs to a later" \
    <<<'#include "emulator/check/race.h"'
violation "a folder of no lab" minitorch/new/a.c "minitorch/new/a.c:1: new/ belongs to no lab, name it in minitorch/stages.tsv" <<<'int x;'
echo 'minitorch/core/a.c:ops/ops.h  until it moves' >grader/tools/lint-exceptions
echo '#include "ops/ops.h"' >minitorch/core/a.c
lints "an exception" 0 " 0 complaints"
rm minitorch/core/a.c grader/tools/lint-exceptions
violation "an unknown folder" minitorch/nn/a.c "includes ../core/base.h, name headers" <<<'#include "../core/base.h"'
violation "a tab" minitorch/core/a.c "minitorch/core/a.c:1: a tab" <<<$'/* here:\t. */'
violation "a long line" minitorch/core/a.c "minitorch/core/a.c:1: a line of more than 120 columns" <<<"/* $(printf "%0120d" 0) */"
violation "trailing blanks" minitorch/core/a.sh "minitorch/core/a.sh:1: blanks at the end" <<<'x=1 '
violation "unfinished" minitorch/core/a.c "minitorch/core/a.c:1: a note of unfinished work" <<<'/* TODO: later. */'
violation "a pipe into grep -q" minitorch/core/a.sh 'minitorch/core/a.sh:1: a pipe into grep -q' <<<"ldd x |"' grep -q y && z'
violation "an op that names no kernels" minitorch/ops/a.c 'minitorch/ops/a.c:1: an op without a line "Kernels:"' \
    <<<$'/* a.c -- an op. */\nstatic const mt_op a_op;'
violation "a unit that does not exist" minitorch/ops/a.c "minitorch/ops/a.c:2: lab 02 has no unit other.c" \
    <<<$'/* a.c -- an op.\n * Kernels: k.h; CPU: unit other.c of lab 02. */\nstatic const mt_op a_op;'
violation "a given file named as a unit" minitorch/ops/own.c "minitorch/ops/own.c:1: named as a unit of lab 02" \
    <<<$'/* own.c -- nothing\n * else. */'
violation "unless its lab is a later one" minitorch/core/own.c "minitorch/core/own.c:1: a note of unfinished" <<<'/* TODO: later. */'
mkdir grader/mutants grader/variants
violation "a mutant that does not apply" grader/mutants/02.txt \
    "grader/mutants/02.txt:2: sign: solutions/02-backprop/own.c has this 0 times, not 1: plus" <<<$'sign | own.c | 02.6\n-plus\n+minus'
violation "a variant without a head" grader/variants/02.txt "grader/variants/02.txt:1: this line belongs to no entry" <<<"-plus"
if command -v clang-format-19 >/dev/null; then
    violation "layout" minitorch/core/a.c "minitorch/core/a.c:1: layout, run: clang-format-19 -i" <<<'int  x;'
fi

lines 61 >minitorch/core/long.c
echo 'minitorch/core/long.c:long_one  a table of cases, read top to bottom' >grader/tools/lint-exceptions
lints "an exception" 0 "0 complaints"
echo 'minitorch/core/long.c:long_one' >grader/tools/lint-exceptions
lints "an exception without a reason" 1 "lint-exceptions:1: an exception without a reason"
rm minitorch/core/long.c
lints "an exception outlived" 1 "lint-exceptions:1: minitorch/core/long.c:long_one is not over the limit any more"
rm -r minitorch solutions grader
lints "an empty tree" 2 "no sources"

finish lint.sh
