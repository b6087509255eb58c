#!/usr/bin/env bash
# .ci/test with made-up tables: sums, messages, which stages run in parallel, and that no process outlives it.
set -euo pipefail
test=$(cd "$(dirname "$0")/../.." && pwd)/.ci/test
root=$(mktemp -d) passed=0 failed=0
trap 'rm -rf "$root"' EXIT
export LOGS=$root/logs SLOTS=2
cd "$root"
ok() { # ok NAME COMMAND...
    if "${@:2}" >/dev/null; then passed=$((passed + 1)); else failed=$((failed + 1)) && printf 'FAIL %s\n' "$1" && cat out; fi
}
# try STATUS LINE...: the stages, their output to `out`; whether it ended with STATUS.
try() {
    local rc=0
    printf '%s\n' "# a table" "${@:2}" >table
    "$test" table >out 2>&1 || rc=$?
    [ $rc -eq "$1" ]
}
says() { grep -qF -- "$1" out; }

ok "sums" try 0 'alone | one | echo "x: 3 passed, 0 failed"' 'beside | two | echo a; echo b | cat' 'alone | three | true'
ok "the sum" says "5 passed, 0 failed"
ok "a stage alone is seen" says "x: 3 passed"
ok "a stage beside others is seen" grep -qx b out
ok "a failure" try 1 'alone | one | echo "2 passed, 1 failed"; echo "failed: cat: no mouse"' 'alone | two | echo good'
ok "is said again" grep -qx '  one: failed: cat: no mouse' out
ok "and the rest runs" says "3 passed, 1 failed"
ok "a status is a failure" try 1 'beside | one | echo "2 passed, 0 failed"; exit 3'
ok "what it said last" grep -q '  one: 2 passed, 0 failed' out
ok "no sum, no success" try 1 'alone | one | echo oh; false'
ok "fails beside others" try 0 "beside | once | [ -e $root/once ] || { touch $root/once; echo '1 passed, 2 failed'; exit 1; }; echo '3 passed, 0 failed'"
ok "which is said" says "once: 2 failed: it runs again at the end"
ok "and counted once" grep -qx "3 passed, 0 failed" out
LIMIT=0.2 ok "too long" try 1 'alone | one | sleep 20'
ok "why" says "one: failed: it was ended, status 124"

# Two stages wait for each other: they end only if they run in parallel. The third starts after them.
meet() { echo "beside | $1 | touch $root/$1; until [ -e $root/$2 ]; do sleep 0.05; done; [ ! -e $root/third ]"; }
ok "two at once" env LIMIT=20 bash -c "$(declare -f try); test=$test; try 0 '$(meet first second)' '$(meet second first)' \
    'alone | third | [ -e $root/second ] && touch $root/third'"

printf '%s\n' "beside | long | sleep 4321.5 & sleep 4321.5" "beside | other | set -m; sleep 4321.5 & wait" >table
"$test" table >out 2>&1 &
for _ in {1..400}; do
    [ "$(pgrep -fcx 'sleep 4321.5')" -ne 3 ] || break
    sleep 0.05
done
kill $!
wait $! && rc=0 || rc=$?
ok "stopped" [ $rc -eq 130 ]
ok "nothing outlives it" bash -c "! pgrep -fx 'sleep 4321.5'"

# .ci/shell-tests: a script that fails runs again, once.
script() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
run() { local rc=0; "${test%/test}/shell-tests" "${@:2}" >out 2>&1 || rc=$?; [ $rc -eq "$1" ]; }
script good 'echo "good: 2 passed, 0 failed"'
script once "[ -e $root/seen ] || { touch $root/seen; echo 'FAIL once'; echo 'once: 0 passed, 3 failed'; exit 1; }; echo 'once: 3 passed, 0 failed'"
script bad 'echo "FAIL always"; echo "bad: 1 passed, 1 failed"; exit 1'
ok "passes when run again" run 0 "$root/once" "$root/good"
ok "which is said" says "passed when it was run again: $root/once: FAIL once"
ok "and counted" says "tools: 5 passed, 0 failed"
ok "fails both times" run 1 "$root/bad" "$root/good"
ok "its second counts" says "tools: 3 passed, 1 failed"
ok "its name" says "failed: $root/bad: FAIL always"
echo ".ci/test: $passed passed, $failed failed"
[ $failed -eq 0 ]
