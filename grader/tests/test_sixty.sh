#!/usr/bin/env bash
# test_sixty.sh -- a class of 60 in the layout of each system, with its submissions in every form, through make grade-all and make
# gradebook: points and days late as in a sheet that sixty.py adds up by itself. The grader is a stand-in that gives the marks
# written in the units: whose a submission is, which units count and what becomes of the points is tested here, not the grading.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root"
if ! echo '#include <sqlite3.h>' | ${CC:-gcc} -E - >/dev/null 2>&1; then
    echo "skipped: libsqlite3-dev is not installed"
    echo "sixty: 0 passed, 0 failed" && exit 0
fi
make -s MINE= build/release/bin/grade_all build/release/bin/frontend >/dev/null || exit 1
export TZ=UTC
log=$dir/log
/usr/bin/python3 grader/tests/sixty.py "$dir" || exit 1

mkdir -p "$dir/build/bin"
cat >"$dir/build/bin/grade" <<'SH'
#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in --report) report=$2 ;; --submission) cd "$2" ;; esac
    shift
done
touch view.c strides.c copy.c
awk 'match($0, /marks [0-9]+/) { given[FILENAME] = substr($0, RSTART + 6, RLENGTH - 6) }
    function row(step, file, most) {
        return sprintf("{\"number\": \"%s\", \"name\": \"values\", \"score\": %d, \"max_score\": %d, \"extra_data\": {\"verdict\": \"%s\", \"points\": %d}}",
                       step, given[file], most, given[file] == most ? "PASS" : "FAIL", given[file])
    }
    END {
        printf "{\"score\": %d, \"tests\": [%s, %s, %s], \"extra_data\": {\"max_score\": 100}}\n", given["view.c"] + given["strides.c"] + given["copy.c"],
            row("00.1", "view.c", 20), row("00.2", "strides.c", 30), row("00.3", "copy.c", 50)
    }' view.c strides.c copy.c >"$report/00.json"
echo "<h1>Lab 00</h1>
<p>the rows</p>" >"$report/00.html"
SH
chmod +x "$dir/build/bin/grade"

# username, points ("-": none), days late, of each student in the file of all grades
got() {
    /usr/bin/python3 - "$1" <<'PY'
import csv, sys
for line in sorted(csv.DictReader(open(sys.argv[1], encoding="utf-8", newline="")), key=lambda line: line["ID"]):
    print(line["ID"], f'{float(line["00"]):.2f}' if line["00"] else "-", line["00 late days"] or "0")
PY
}
for system in folder zips canvas moodle gradescope autolab github classroom50; do
    build/release/bin/grade_all --build "$dir/build" --lab 00 --dir "$dir/$system" --course "$dir/course.json" >"$log" 2>&1
    check "$system: graded" [ $? -eq 0 ]
    check "$system: 60 submissions, of which 2 have no unit" grep -q "; 2 refused, 0 errors of the grader" "$log"
    build/release/bin/grade_all --export csv --out "$dir/$system.graded" --course "$dir/course.json" >"$log" 2>&1
    check "$system: 60 students, everybody of students.csv" [ "$(grep -c "60 students, 1 labs" "$log") $(grep -c "not in students.csv" "$log")" = "1 0" ]
    got "$dir/$system.graded/grades.csv" >"$dir/got"
    diff "$dir/$system.sheet" "$dir/got" >"$log" && ok || bad "$system: totals as in the sheet"
done
check "late days are in the sheets" [ "$(awk '$3 > 0' "$dir/canvas.sheet" | wc -l) $(awk '$3 > 0' "$dir/zips.sheet" | wc -l)" = "$(awk '$3 > 0' "$dir/moodle.sheet" | wc -l) 0" ]

# The same reports as the services record them: Gradescope's score, Autolab's scores by problem, Classroom 50's hundredths.
export CLASSROOM=spring ASSIGNMENT=tensors OWNER=ada SUBMISSION_TAG=submit/1 COMMIT_URL=https://x/1 RELEASE_URL=https://x/2 DATETIME=2026-10-05T12:00:00Z
for report in "$dir"/folder.graded/00/*/00.json; do
    { cat "$report" && build/release/bin/frontend autolab "$report" && build/release/bin/frontend classroom50 "$report"; } >>"$dir/reports"
done
check "58 reports have the same points for each service" [ "$(/usr/bin/python3 - "$dir/reports" <<'PY'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
equal = [g["score"] == sum(a["scores"].values()) == a["scoreboard"][0] == c["score"] / 100 == sum(t["score"] for t in c["tests"]) / 100
         for g, a, c in zip(lines[0::3], lines[1::3], lines[2::3])]
print(sum(equal))
PY
)" = 58 ]
finish sixty
