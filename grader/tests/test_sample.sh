#!/usr/bin/env bash
# sample.sh: of which labs all mutants are graded, by what git says and by what an earlier run caught; which are drawn
# of the others. The same of variants, and of the emulator's programs.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
unset UNTIL SINCE
here=$(cd "$(dirname "$0")/../tools" && pwd)
cd "$root"
cd "$dir"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_{AUTHOR,COMMITTER}_{NAME,EMAIL}=x
git() { command git -c init.defaultBranch=main -c commit.gpgsign=false "$@"; }

# Two labs, with 5 mutants of a unit, 5 of another, and 1 of a third.
mkdir -p grader/{checks,worker} minitorch/ops build
for lab in 02-two 04-four; do
    mkdir -p solutions/$lab labs/$lab grader/mutants
    touch labs/$lab/lab.json grader/checks/${lab%-*}-{a,b}.c grader/worker/calls_${lab%-*}{,_b}.c
    for unit in a b c; do
        printf '#include "ops/%s.h"\n#include "ops/any.h"\n' $lab >solutions/$lab/$unit.c
        for n in 1 2 3 4 5; do
            [ $unit$n = c1 ] || [ $unit != c ] || continue
            printf '%s-%d | %s.c | 02.1\n-#include "ops/any.h"\n+%d\n\n' $unit $n $unit $n >>grader/mutants/${lab%-*}.txt
        done
    done
    touch minitorch/ops/$lab.h
done
touch minitorch/ops/{any,none}.h grader/grade.c
echo build >.gitignore

# drawn N: the number of mutants of each lab, and then the sample itself.
export KIND=mutants
drawn() {
    bash -euo pipefail -c '. "$1"/tables.sh; . "$1"/sample.sh; build=/none kind=${KIND:-mutants}
        read_tables $kind build/made; note_states; take_sample "$2" >build/said
        printf "%s\n" "${entries[@]}" >build/sample; : >build/results
        for entry in "${entries[@]}"; do echo "${WORD:-caught} $entry: FAIL" >>build/results; done
        [ -z "${NOTE:-}" ] || { mkdir -p build/mutants/{02-two,04-four}; note_whole build/results; }' _ "$here" "$1"
    awk '{ n[substr($1, 1, 2)]++ } END { printf "%d %d: ", n["02"], n["04"] }' build/sample
    sed -E "s/.*(mutants|variants): //" build/said
}
expect "no git" 0 "5 5: all of labs that changed (none)" drawn 2
git init -q . && expect "no commit" 0 "5 5" drawn 2
git add . && git commit -qm one && expect "one commit" 0 "5 5" drawn 2
expect "three of each" 0 "7 7" drawn 3
expect "more than there are" 0 "11 11" drawn 9
drawn 2 >/dev/null && cp build/sample build/first && drawn 2 >/dev/null
expect "the same commit, the same sample" 0 "" cmp build/first build/sample
expect "of each unit" 0 "2 2 1 2 2 1" xargs <<<"$(cut -d- -f1-2 build/sample | uniq -c | awk '{ print $1 }')"
for n in 2 3 4; do
    git commit -q --allow-empty -m $n && drawn 2 >/dev/null && { cmp -s build/first build/sample || differs=yes; }
done
expect "another commit, another sample" 0 yes echo "${differs:-no}"

# changes NAME COUNTS COMMAND: after the command, uncommitted, then committed here, then in a branch, then with one more commit on main.
changes() {
    eval "$3" && expect "$1, not committed" 0 "$2" drawn 2
    git add -A . && git commit -qm "$1" && expect "$1, in the last commit" 0 "$2" drawn 2
    git commit -q --allow-empty -m after && expect "$1, in an earlier commit" 0 "$untouched" drawn 2
}
untouched="5 5"
changes "a unit" "5 11: all of labs that changed (04)" 'echo >>solutions/04-four/a.c'
changes "a new unit" "5 11" 'echo >solutions/04-four/d.c'
changes "checks" "11 5: all of labs that changed (02)" 'echo >>grader/checks/02-b.c'
changes "calls" "11 5" 'echo >>grader/worker/calls_02_b.c'
changes "lab.json" "11 5" 'echo >>labs/02-two/lab.json'
changes "a header of one lab" "5 11" 'echo >>minitorch/ops/04-four.h'
changes "a header of both" "11 11: all of labs that changed (02 04)" 'echo >>minitorch/ops/any.h'
changes "no lab's file" "5 5" 'echo >>minitorch/ops/none.h; echo >>grader/grade.c; echo >>labs/02-two/README.md'
changes "a mutant" "5 11" 'echo >>grader/mutants/04.txt'
changes "a file less" "11 5" 'rm grader/checks/02-a.c'
git checkout -q -b topic && echo >>solutions/02-two/a.c && git commit -qam topic && git commit -q --allow-empty -m more
expect "since the merge base" 0 "11 5" drawn 2
git checkout -q main && echo >>solutions/04-four/a.c && git commit -qam main && git checkout -q topic
expect "not what main did since" 0 "11 5" drawn 2

# In .ci/run: on main what landed in the last hours, and all where that is not known; the share of the others takes turns.
mkdir build/landing && cp -r solutions labs grader minitorch .gitignore build/landing && cd build/landing && mkdir build && git init -q . && git add .
export SINCE=2
at() { GIT_COMMITTER_DATE="2026-11-30 $1" git commit -q --allow-empty -am "at $1"; }
at 12:00 && expect "no commit is so old" 0 "11 11: all of labs that changed (02 04)" drawn 2
at 12:30 && expect "half an hour later" 0 "11 11" drawn 2
at 14:30 && expect "hours later" 0 "5 5: all of labs that changed (none)" drawn 2
echo >>solutions/02-two/a.c && at 15:00 && at 16:00
expect "all of a unit, twice as many of the lab" 0 "10 5: all of labs that changed (none), 2 of each unit of the others, of 02-two new ones and twice as many" drawn 2
at 17:30 && expect "long ago" 0 "5 5: all of labs that changed (none), 2 of each unit of the others; all" drawn 2
for hour in 20 23; do at $hour:00 && drawn 3 >/dev/null && cp build/sample build/at-$hour; done
of_units() { sort -u "$@" | grep -v /c- | cut -d- -f1,2 | uniq -c | awk '{ print $1 }' | xargs; }
expect "three hours later the others of a unit" 0 "3 3 3 3 5 5 5 5" echo "$(of_units build/at-20) $(of_units build/at-20 build/at-23)"
printf 'd-1 | b.c | 02.1\n-#include "ops/any.h"\n+9\n' >>grader/mutants/04.txt && expect "a new entry" 0 "5 10" drawn 2
expect "is among them" 0 "04-four/d-1" cat build/sample
unset SINCE && cd "$dir"

# What was caught here is a better record than git's.
NOTE=yes drawn 2 >/dev/null && expect "all of 02-two were caught" 0 "5 5" drawn 2
expect "of a sample nothing is noted" 1 "" test -e build/mutants/04-four/all
echo >>solutions/02-two/b.c && expect "it changed since" 0 "11 5" drawn 2
WORD=ESCAPED NOTE=yes drawn 2 >/dev/null && expect "an escape is not noted" 0 "11 5" drawn 2
git commit -qam b && git commit -q --allow-empty -m after && expect "also when it is committed" 0 "11 5" drawn 2
NOTE=yes drawn 2 >/dev/null && expect "caught again" 0 "5 5" drawn 2

# Variants: what changed is what they are applied to, or themselves, not a mutant.
git checkout -q main && git commit -q --allow-empty -m rest
cp -r grader/mutants grader/variants
git add -A . && git commit -qm variants && git commit -q --allow-empty -m after
KIND=variants untouched="2 2" && expect "variants" 0 "2 of each lab of the others" drawn 2
changes "a mutant, for variants" "2 2: all of labs that changed (none)" 'echo >>grader/mutants/04.txt'
changes "a variant" "2 11: all of labs that changed (04)" 'echo >>grader/variants/04.txt'

# Where the time may be up: what is touched first, then the others, which each commit draws.
turns() {
    UNTIL=$1 bash -euo pipefail -c '. "$1"/tables.sh; . "$1"/sample.sh; build=/none
        read_tables mutants build/made; note_states; take_turns; printf "%s\n" "${entries[@]}"' _ "$here"
}
labs_of() { cut -d/ -f1 "$@" | uniq -c | xargs; }
echo >>solutions/04-four/a.c && turns 1 >build/turns
expect "touched labs first" 0 "11 04-four 11 02-two" labs_of build/turns
turns 1 >build/again && expect "the same commit, the same order" 0 "" cmp build/turns build/again
git commit -q --allow-empty -m turns && turns 1 >build/again && expect "another commit, another order" 1 differ cmp build/turns build/again
sort build/again >build/sorted && turns '' >build/plain && expect "all of them, and in order where there is time" 0 "" cmp build/sorted build/plain
git checkout -q solutions

# The emulator's tests: one in three of the programs, and no second build, unless it changed.
mkdir -p minitorch/emulator/tests/{good/folder,bugs} .ci && cp "$root/.ci/changed.bash" .ci
cp "$root/minitorch/emulator/tests/run.sh" minitorch/emulator/tests
touch minitorch/emulator/tests/{good,bugs}/{a,b,c,d}.cu
for name in good bugs core ucontext; do
    printf '#!/bin/sh\nshift; echo "%s $# $*"; echo "1 passed, 0 failed"\n' $name >minitorch/emulator/tests/run_$name.sh
done
chmod +x minitorch/emulator/tests/*.sh
emulated() { SAMPLE=$1 minitorch/emulator/tests/run.sh build | grep -v '^1 passed' | xargs; }
git add -A . && git commit -qm emulator
expect "the emulator has changed" 0 "bugs 0 --> run_core core 0 --> run_good good 0 --> run_ucontext ucontext 0 4 passed" emulated 3
git commit -q --allow-empty -m after && expect "all of it" 0 "ucontext 0 4 passed, 0 failed" emulated 1
expect "it has not" 0 "--> run_bugs bugs 2 " emulated 3
expect "of folders, too" 0 "--> run_good good 2 " emulated 3
expect "and no second build" 0 "3 passed, 0 failed" emulated 3
expect "the same commit, the same programs" 0 "$(emulated 3)" emulated 3

# Attacks: one in three of five, and that without a sandbox, unless the grader changed. None can run here.
mkdir -p docs datasets build/{bin,units,worker} grader/{tools,attacks/{a,b,c,d,e}} && touch Makefile README.md
cp "$root/grader/tools/attacks.sh" grader/tools && touch labs/02-two/a.cu
echo '/* attack 02.1 none */' | tee grader/attacks/{a,b,c,d,e}/unit.c >/dev/null
attacked() { MT_ATTACKS_LOCKED=1 ATTACKS=$dir/build/attacks CANARY=$dir/build/canary SAMPLE=$1 grader/tools/attacks.sh build 2>/dev/null | grep -oE '^  \[ [0-9]/[0-9]\] [A-Za-z]+ +[a-z-]+|^attacks.*' | xargs; }
git add -A . && git commit -qm attacks
expect "the grader has changed" 1 "[ 6/6] WORKED without-sandbox attacks: 0 passed, 6 failed" attacked 3
git commit -q --allow-empty -m after && expect "all of them" 1 " 6 failed" attacked 1
expect "it has not" 1 "[ 3/3] WORKED without-sandbox attacks: 0 passed, 3 failed" attacked 3
expect "the same commit, the same attacks" 1 "$(attacked 3)" attacked 3
expect "the time is up" 1 "attacks: 0 passed, 0 failed" env UNTIL=1 grader/tools/attacks.sh build
touch grader/checks/02-new.c && expect "checks are no part of it" 1 " 3 failed" attacked 3
touch grader/new.c && expect "a new file of the grader" 1 " 6 failed" attacked 3

finish sample.sh
