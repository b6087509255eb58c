#!/usr/bin/env bash
# Two gradings of one lab at the same time, into one folder: each has its own report. Afterwards the name is free again.
# If a report cannot be written, the grade is still given. A row is shown when its verdict is known.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
build=build/release
mkdir "$dir/none" "$dir/report"
for unit in solutions/00-tensors/*.c; do "$build/bin/strip" "$unit" "$dir/none/${unit##*/}"; done
grade() { "$build/bin/grade" -q --lab 00 --step 00.1 --units "$1" --report "$dir/report" "${@:3}" >"$2" 2>&1; }
score() { grep -m1 '"score"' "$1" | tr -dc '0-9.'; }

exec 9>"$dir/report/.00.lock" # as a grading that runs does
flock 9
grade solutions/00-tensors "$dir/first"
check "the second writes elsewhere" [ -e "$dir/report/00-2.json" ] && check "and HTML" [ -e "$dir/report/00-2.html" ]
check "nothing under the first name" [ ! -e "$dir/report/00.json" ]
check "it says where" grep -q '00-2.html' "$dir/first"
before=$(score "$dir/report/00-2.json")
check "rows that never ran are from no grade before" grep -q '"Graded: step 00.1. [0-9]* rows did not run and have no points.' "$dir/report/00-2.json"
grade solutions/00-tensors "$dir/first" --step 00.2
check "but those of this grade are" grep -q '"Graded: step 00.2. [0-9]* rows did not run and have no points. 6 rows are from the grade before.' "$dir/report/00-2.json"
before=$(score "$dir/report/00-2.json")
exec 9>&-
grade "$dir/none" "$dir/second"
check "the name is free again" [ "$(score "$dir/report/00.json")" = 0 ]
check "the other report is as it was" [ "$(score "$dir/report/00-2.json")" = "$before" ]
check "the scores differ" [ "$before" != 0 ]

rm "$dir/report/00.json" && mkdir "$dir/report/00.json"
rc=0 && grade solutions/00-tensors "$dir/third" || rc=$?
check "a report that cannot be written is exit status 3" [ $rc -eq 3 ]
check "and said" grep -q 'no report: .*00.json' "$dir/third"
check "and the points are printed all the same" grep -q '^grade 00: ' "$dir/third"

# Rows that pass although the function does nothing: the step is shown when that is known, each row once.
mkdir "$dir/idle"
for unit in solutions/03-autograd/*.c; do "$build/bin/strip" "$unit" - | sed '/MT_TODO/d' >"$dir/idle/${unit##*/}"; done
"$build/bin/grade" -q --lab 03 --step 03.3 --units "$dir/idle" >"$dir/said" 2>&1
check "a row passes, and so does nothing" grep -q 'recording: none inside no_grad  *FAIL' "$dir/said"
check "each row is shown once" [ -z "$(grep -oE '^ 03\.3  [a-z: _]*[a-z]' "$dir/said" | sort | uniq -d)" ]
finish reports
