#!/usr/bin/env bash
# seeds.sh and steady.sh with a fake grader that prints what `grade --times` would: misses, changed verdicts, and the last lines.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
tools=$root/grader/tools
export ROOT=$dir GRADE=$dir/grade
cd "$ROOT"
mkdir -p bin solutions/02-backprop labs/02-backprop grader/mutants
printf 'one\nplus\nthree\n' >solutions/02-backprop/unit.c
printf '%s | unit.c | 02.6 softmax: %s\n-plus\n+minus\n\n' sign "large logits" slow speed >grader/mutants/02.txt
printf '#!/bin/sh\nexec sleep 60\n' >bin/busy
# The reference is graded, too: it prints nothing of interest. With one seed, all rows of the step are.
printf '#!/bin/sh\ncase "$*" in *--seed*) cat "$ROOT/step" ;; *--times*) cat "$ROOT/said" ;; esac\n' >grade
chmod +x bin/busy grade
# expect NAME STATUS WORDS COMMAND...
expect() {
    local name=$1 status=$2 words=$3 out rc=0
    shift 3
    out=$("$@" 2>&1) || rc=$?
    if [ $rc -eq "$status" ] && grep -qxF -- "$words" <<<"$out"; then ok; else bad "$name: exit $rc, said: $out"; fi
}
table=' 02.6  softmax: large logits  FAIL 1  INCONCLUSIVE 1'
large='FAIL 0/8  02.6 softmax: large logits' small='CRASH 0/8  02.6 softmax: small' unsure='INCONCLUSIVE 0/8  02.6 softmax: speed'

printf '%s\n' "5a  $large" "5b  $large" "$table" >said
expect "caught with each seed; a mutant of speed is not graded" 0 "seeds 02: 0 misses in 2 grades" "$tools/seeds.sh" . 02 2
printf '%s\n' "5a  full" "5b  $large" "5c  $unsure" "$table" >said
printf '%s\n' "5a  full" "5c  $unsure" >step
expect "two misses" 1 "seeds 02: 2 misses in 3 grades" "$tools/seeds.sh" . 02 3
expect "with which seed" 1 "  missed 02-backprop/sign: seed 5a" "$tools/seeds.sh" . 02 3
printf '%s\n' "5a  full" "5b  $large" >said
printf '%s\n' "5a  $small" >step
expect "another row of the step will do" 0 "  02-backprop/sign: with 1 of 2 seeds only rows that it does not name: 5a" \
    "$tools/seeds.sh" . 02 2

printf '%s\n' "5a  $large" "5a  $small" "5b  $large" "5c  $large" "5c  $small" >said
ROWS=all expect "a row has other points with another seed" 1 \
    "  points differ 02-backprop/sign: 02.6 softmax: small: 8 lost (seed 5a), 0 lost (seed 5b)" "$tools/seeds.sh" . 02 3
printf '%s\n' "5a  $large" "5b  $large" >said
ROWS=step expect "the same points with every seed" 0 "seeds 02: 0 misses in 2 grades" "$tools/seeds.sh" . 02 2
echo 'grade: no worker' >said
expect "not graded" 1 "  02-backprop/sign was not graded: see build/seeds/02-backprop/sign/log" "$tools/seeds.sh" . 02 2
printf 'x\n' >solutions/02-backprop/unit.c
expect "an entry that does not apply" 1 "seeds 02: 1 misses in 1 grades" "$tools/seeds.sh" . 02 2

printf '%s\n' "5a  full" "5b  full" >said
expect "nothing changed" 0 "steady 02: 0 verdicts changed in 2 grades" "$tools/steady.sh" . 02 2
printf '%s\n' "5a  full" "5b  $unsure" >said
expect "inconclusive rows are counted apart" 0 "  1 times INCONCLUSIVE" "$tools/steady.sh" . 02 2
printf '%s\n' "5a  full" "5b  $large" "5c  PASS 2/8  02.6 softmax: speed" "$table" >said
expect "a row that fails, and one with fewer points" 1 "steady 02: 2 verdicts changed in 3 grades" "$tools/steady.sh" . 02 3
expect "which" 1 "  changed: seed 5c  PASS 2/8  02.6 softmax: speed" "$tools/steady.sh" . 02 3
expect "which rows" 1 "$table" "$tools/steady.sh" . 02 3
echo 'grade: no worker' >said
expect "no grade" 1 "steady 02: 0 verdicts changed in 0 grades" "$tools/steady.sh" . 02 3

nap="sleep 6161.$$" # no other process on this machine is called so
printf '#!/bin/sh\nexec %s\n' "$nap" >grade
"$tools/steady.sh" . 02 3 >log 2>&1 &
await $! 'pgrep -fx "$nap" >/dev/null' || true
kill $! && wait $! || true
check "ended: so is its grade" bash -c "! pgrep -afx '$nap'"

# The real grader: a call that crashed twice is not made again in the same grade, but in the next one it is.
cp -r "$root/solutions/00-tensors" units
sed -i '0,/^    for/s//    if (view->rank > 2 \&\& view->shape[0] == 5)\n        __builtin_trap();\n&/' units/view.c
"$root/build/release/bin/grade" --root "$root" -q --lab 00 --units units --step "00.1 numel: random" --times 20 --seed 5 >said || true
check "it crashes in some grades" [ "$(grep -c CRASH said)" -gt 2 ]
check "and passes in a later one" [ "$(sed '1,/ CRASH /d' said | sed '1,/ CRASH /d' | grep -c ' full$')" -gt 0 ]
finish "seeds.sh, steady.sh"
