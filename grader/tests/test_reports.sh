#!/usr/bin/env bash
# Two gradings of one lab at the same time, into one folder: each has its own report. Afterwards the name is free again.
# If a report cannot be written, the grade is still given.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/release passed=0 failed=0
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/none" "$root/report"
for unit in solutions/00-tensors/*.c; do "$build/bin/strip" "$unit" "$root/none/${unit##*/}"; done
check() { # NAME COMMAND...
    if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL $1: $(ls -A "$root/report")"; fi
}
grade() { "$build/bin/grade" -q --lab 00 --step 00.1 --units "$1" --report "$root/report" >"$2" 2>&1; }
score() { grep -m1 '"score"' "$1" | tr -dc '0-9.'; }

exec 9>"$root/report/.00.lock" # as a grading that runs does
flock 9
grade solutions/00-tensors "$root/first"
check "the second writes elsewhere" [ -e "$root/report/00-2.json" ] && check "and HTML" [ -e "$root/report/00-2.html" ]
check "nothing under the first name" [ ! -e "$root/report/00.json" ]
check "it says where" grep -q '00-2.html' "$root/first"
before=$(score "$root/report/00-2.json")
exec 9>&-
grade "$root/none" "$root/second"
check "the name is free again" [ "$(score "$root/report/00.json")" = 0 ]
check "the other report is as it was" [ "$(score "$root/report/00-2.json")" = "$before" ]
check "the scores differ" [ "$before" != 0 ]

rm "$root/report/00.json" && mkdir "$root/report/00.json"
rc=0 && grade solutions/00-tensors "$root/third" || rc=$?
check "a report that cannot be written is exit status 3" [ $rc -eq 3 ]
check "and said" grep -q 'no report: .*00.json' "$root/third"
check "and the points are printed all the same" grep -q '^grade 00: ' "$root/third"
echo "reports: $passed passed, $failed failed"
[ $failed -eq 0 ]
