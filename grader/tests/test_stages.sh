#!/usr/bin/env bash
# .ci/test with made-up tables: sums, messages, which stages run in parallel, and that no process outlives it.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
test=$root/.ci/test
export LOGS=$dir/logs SLOTS=2 REPEATED=$dir/repeated
cd "$dir"
# try STATUS LINE...: the stages, their output to `out`; whether it ended with STATUS.
try() {
    local rc=0
    printf '%s\n' "# a table" "${@:2}" >table
    "$test" table >log 2>&1 || rc=$?
    [ $rc -eq "$1" ]
}
says() { grep -qF -- "$1" log; }

check "sums" try 0 'alone | one | echo "x: 3 passed, 0 failed"' 'beside | two | echo a; echo b | cat' 'alone | three | true'
check "the sum" says "5 passed, 0 failed"
check "what each stage costs" eval '[ "$(grep -cE "^ +[0-9]+ s  (one|two|three)$" log)" -eq 3 ]'
check "a stage alone is seen" says "x: 3 passed"
check "a stage beside others is seen" grep -qx b log
check "a failure" try 1 'alone | one | echo "2 passed, 1 failed"; echo "failed: cat: no mouse"' 'alone | two | echo good'
check "is said again" grep -qx '  one: failed: cat: no mouse' log
check "and the rest runs" says "3 passed, 1 failed"
check "a status is a failure" try 1 'beside | one | echo "2 passed, 0 failed"; exit 3'
check "what it said last" grep -q '  one: 2 passed, 0 failed' log
check "no sum, no success" try 1 'alone | one | echo oh; false'
check "fails beside others" try 0 "beside | once | [ \$AGAIN ] || { echo '1 passed, 2 failed'; exit 1; }; echo '3 passed, 0 failed'"
check "which is said" says "once: 2 failed: it runs again at the end"
check "and counted once" grep -qx "3 passed, 0 failed" log
check "and named at the end" grep -qx "  once: 2 failed: 1 passed, 2 failed" log
check "with the number of such things" grep -qx "run again: 1" log
check "a stage that has repeated its parts does not run again" try 1 "beside | parts | [ ! -e $dir/parts ] && touch $dir/parts; echo 'again: cat: no mouse'; echo '1 passed, 1 failed'; exit 1"
check "its parts are named" grep -qx "  parts: cat: no mouse" log
rm -r "$REPEATED"
flaky="beside | flaky | [ \$AGAIN ] || { echo '1 passed, 2 failed'; exit 1; }; echo '3 passed, 0 failed'"
check "by chance, once" try 0 "$flaky"
for i in {1..17}; do check "a run without it, $i" try 0 'alone | good | true'; done
check "in two of 20 runs" try 1 "$flaky"
check "which is not chance" says "  flaky: failed and was run again in 2 of the last 20 runs"
rm "$REPEATED/$(ls "$REPEATED" | head -1)"
for part in "cat: no mouse" "01.6: INCONCLUSIVE" "01.6: INCONCLUSIVE" "dog: no bone"; do
    check "a part: $part" try 0 "beside | parts | echo 'again: $part'; echo '1 passed, 0 failed'"
done
check "a part in two runs" try 1 "beside | parts | echo 'again: cat: no milk'; echo '1 passed, 0 failed'"
check "it is named" says "  parts: cat: failed and was run again"
check "the ledger has the last 20 runs" eval '[ "$(ls "$REPEATED" | wc -l)" -eq 20 ]'
rm -r "$REPEATED"
LIMIT=0.2 check "too long" try 1 'alone | one | sleep 20'
check "why" says "one: failed: it was ended, status 124"

# Two stages wait for each other: they end only if they run in parallel. The third starts after them.
meet() { echo "beside | $1 | touch $dir/$1; until [ -e $dir/$2 ]; do sleep 0.05; done; [ ! -e $dir/third ]"; }
check "two at once" env LIMIT=20 bash -c "$(declare -f try); test=$test; try 0 '$(meet first second)' '$(meet second first)' \
    'alone | third | [ -e $dir/second ] && touch $dir/third'"

nap="sleep 4321.$$" # no other process on this machine is called so
printf '%s\n' "beside | long | $nap & $nap" "beside | other | set -m; $nap & wait" >table
"$test" table >log 2>&1 &
# shellcheck disable=SC2016
await $! '[ "$(pgrep -fcx "$nap")" -eq 3 ]' || true
kill $!
wait $! && rc=0 || rc=$?
check "stopped" [ $rc -eq 130 ]
check "nothing outlives it" bash -c "! pgrep -fx '$nap'"

# await, of check.bash: for as long as the process that would make the condition true is there, and not for ever.
awaits() { (await "$@" >/dev/null); }
sleep 60 &
alive=$!
check "what holds is not waited for" awaits $alive true
LIMIT=1 check "nor for ever" eval '! awaits $alive false'
(sleep 0.3 && touch "$dir/late") &
check "what comes to hold is seen" awaits $! '[ -e "$dir/late" ]'
(sleep 0.1) &
LIMIT=60 check "nor for a process that has ended" eval '! awaits $! false && [ $SECONDS -lt 60 ]'
kill $alive

# .ci/shell-tests: a script that fails runs again, once.
script() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
run() { local rc=0; "${test%/test}/shell-tests" "${@:2}" >log 2>&1 || rc=$?; [ $rc -eq "$1" ]; }
script good 'echo "good: 2 passed, 0 failed"'
script once "[ -e $dir/seen ] || { touch $dir/seen; echo 'FAIL once'; echo 'once: 0 passed, 3 failed'; exit 1; }; echo 'once: 3 passed, 0 failed'"
script bad 'echo "FAIL always"; echo "bad: 1 passed, 1 failed"; exit 1'
check "passes when run again" run 0 "$dir/once" "$dir/good"
check "which is said" grep -qx "again: $dir/once: FAIL once" log
check "and counted" says "tools: 5 passed, 0 failed"
check "fails both times" run 1 "$dir/bad" "$dir/good"
check "its second counts" says "tools: 3 passed, 1 failed"
check "its name" says "failed: $dir/bad: FAIL always"
SKIP='/(once|bad)$' check "some are left out" run 0 "$dir/good" "$dir/bad" "$dir/once"
check "and not counted" says "tools: 2 passed, 0 failed"
finish .ci/test
