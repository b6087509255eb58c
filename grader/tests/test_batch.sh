#!/usr/bin/env bash
# batch.sh: make grade-all with submissions of lab 00: grades, goes on after kill -9 without grading again, keeps the history,
# waits for a locked gradebook and a full disk, refuses what is not a gradebook.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root"
umask 022
build=build/release
if ! echo '#include <sqlite3.h>' | ${CC:-gcc} -E - >/dev/null 2>&1; then
    echo "skipped: libsqlite3-dev is not installed"
    echo "batch: 0 passed, 0 failed" && exit 0
fi
make -s MINE= $build/bin/grade_all >/dev/null || exit 1
class=$dir/class out=$dir/class.graded log=$dir/log
all() { "$build/bin/grade_all" --lab 00 --dir "$class" "$@" >"$log" 2>&1; }
book() { # SQL: the first row, its columns separated by blanks
    /usr/bin/python3 -c 'import sqlite3, sys; print(*(sqlite3.connect(sys.argv[1], 10).execute(sys.argv[2]).fetchone() or []))' "$out/gradebook.sqlite" "$1" 2>/dev/null
}
says() { grep -qF -- "$1" "$log"; }
is() { [ "$1" = "$2" ] || { echo "FAIL: $1 is not $2" && false; }; }

mkdir -p "$class"/{ada,Zoë,empty}
cp solutions/00-tensors/*.c "$class/ada"
cp labs/00-tensors/*.c "$class/Zoë"
mkdir "$class/$(printf 'J\374rgen')" && cp labs/00-tensors/view.c "$class"/J*
tar czf "$class/müller.tar.gz" -C labs/00-tensors view.c strides.c
head -c 999 /dev/urandom >"$class/noise.zip"

all --jobs 1 &
driver=$!
await $driver '[ "$(book "SELECT count(*) > 1 FROM grading")" = 1 ]'
{ pkill -KILL -P $driver && wait $driver; } 2>/dev/null # the program below the shell's function
await $$ '! pgrep -f "submission $out" >/dev/null' && ok # no grader outlives the batch
before=$(book 'SELECT count(*) FROM grading')
check "what was graded is in the book" [ "$before" -ge 2 ]
all --room 99999999 &
pause=$!
await $pause 'says "MiB free"'
pkill -TERM -P $pause && wait $pause
check "a full disk is a pause, with words" says "goes on by itself when there is room"
check "an interrupted batch is not finished" says "the same command goes on"
all
check "a second run ends well" is $? 0
check "it grades the others only" is "$(book 'SELECT count(*), count(DISTINCT submission) FROM grading')" "6 6"
check "it says so" says "were in the gradebook already"
check "points" is "$(book "SELECT points, max, state FROM grade WHERE key = 'ada'")" "100.0 100.0 graded"
check "rows have all that is known" is "$(book "SELECT verdict, points, max, seconds > 0, seed != '' FROM result WHERE grading = (SELECT id FROM grade WHERE key = 'ada') AND name = 'numel: random shapes'")" "$(printf 'PASS 3.0 3.0 1 1')"
check "a skeleton has none" is "$(book "SELECT points FROM grade WHERE key = 'Zoë'")" 0.0
check "one row for what is not an archive" is "$(book "SELECT state, count(*) FROM grade JOIN result ON grading = grade.id WHERE key = 'noise.zip'")" "refused 1"
check "gradebook, units and reports are private" is "$(umask) $(find "$out" -perm /077 -printf '%P ')" "0022 "
check "a name that is not UTF-8" is "$(book "SELECT name FROM student WHERE submission = (SELECT submission FROM grade WHERE key LIKE 'J%')")" Jürgen

# A grader that is stopped says so by its exit status: its rows have not run, and the batch keeps none of them.
mkdir "$dir/endless" && cp solutions/00-tensors/*.c "$dir/endless"
sed -i '0,/^{$/s//{\n    for (volatile int i = 0; i < 1;)\n        ;/' "$dir/endless/view.c"
"$build/bin/grade" --lab 00 --units "$dir/endless" --report "$dir/interrupted" >"$log" 2>&1 &
grader=$!
await $grader 'ps --ppid $grader -o args= | grep bin/launch >/dev/null'
sleep 0.2 && kill -TERM $grader && wait $grader
check "an interrupted grade is none" is $? 130
check "its rows that did not run are from no grade before" grep -q '"The grade was interrupted. [0-9]* rows did not run and have no points.' "$dir/interrupted/00.json"

# What the students of systems are called, and what is late: one has all units, others a skeleton of one unit or nothing.
export_class() { # SYSTEM: the class's grades as it wants them, in $csv
    "$build/bin/grade_all" --lab 00 --dir "$dir/$1" --export "$1" "${@:2}" >"$log" 2>&1
    csv=$(cat "$dir/$1.graded/00-$1.csv")
}
mkdir -p "$dir/canvas" "$dir"/moodle/{Zoë\ Müller_7,=SUM_8,Kurt_9}_assignsubmission_file_ "$dir"/gradescope/submission_{1,2}
touch "$dir/canvas/zusekonrad_14_36_hw.zip"
for to in canvas/lovelaceada_{LATE_12_34,13_35}_view.c moodle/{Zoë\ Müller_7,=SUM_8}_assignsubmission_file_/view.c; do cp labs/00-tensors/view.c "$dir/$to"; done
cp solutions/00-tensors/*.c "$dir/gradescope/submission_1"
printf 'submission_%d:\n  :submitters:\n  - :name: Ada, L.\n    :sid: %d\n  :created_at: 2026-10-07 11:00:00 Z\n' 1 42 2 43 >"$dir/gradescope/submission_metadata.yml"
echo '{"course": "c", "late": {"percent_per_day": 10, "days": 3}, "labs": {"00": {"due": "2026-10-05T12:00Z", "points": 50}}}' >"$dir/course.json"
for s in canvas moodle gradescope; do "$build/bin/grade_all" --lab 00 --dir "$dir/$s" --course "$dir/course.json" >"$log" 2>&1; done
check "points of the course" says " 50/50"
export_class canvas
check "canvas: two students of one name" is "$csv" "$(printf 'Student,ID,SIS User ID,SIS Login ID,Section,lab 00-tensors\n    Points Possible,,,,,50\nlovelaceada,12,,,,0\nlovelaceada,13,,,,0')"
imported() { /usr/bin/python3 grader/tests/imported.py "$1" "$dir/$1.graded/00-$1.csv" "${@:2}" 2>&1; } # as its importer reads it
check "Canvas takes it" is "$(imported canvas 12 13=7 14)" "$(printf '12 0\n13 0')"
check "a submission that was refused has no points there" says "1 were refused and have no points there: FORMAT=csv has the reasons"
export_class moodle
check "Moodle: an empty cell, and the reason" is "$(grep -c '^Participant 9,Kurt,,,,50,.*,"no usable view.c' <<<"$csv")" 1
check "moodle" is "$(grep -c '^Participant [78],\(.=SUM\|Zoë Müller\),,Submitted for grading - Graded,0,50,20..-..-.. ..:..:.. UTC,' <<<"$csv")" 2
check "Moodle takes it" is "$(imported moodle 7 8=3@2020-01-01 9=4@2020-01-01)" "$(printf '8 0\n7 0')"
check "but for what was changed there afterwards" is "$(imported moodle 7=3@2037-01-01 8)" "8 0"
# What students get back, as each service takes it: the report with what counts above it, or why there is none.
feedback() { "$build/bin/grade_all" --lab 00 --dir "$dir/$1" --export feedback "${@:2}" >"$log" 2>&1; }
returned() { /usr/bin/python3 grader/tests/imported.py "$1" "$dir/$1.graded/00-feedback" "${@:2}" 2>&1; }
feedback moodle
check "Moodle's feedback: so many, and how to upload it" says "moodle.graded/00-feedback: pages of 3 students; as a zip for Canvas or Moodle: cd $dir/moodle.graded/00-feedback && zip -qr "
check "Moodle finds its students" is "$(returned moodle 7 8 9)" "$(printf '8 00.html\n9 00.html\n7 00.html')"
check "a page has the report" grep -q 'numel: random shapes' "$dir/moodle.graded/00-feedback/Zoë Müller_7_assignsubmission_file_/00.html"
check "and the grade" grep -q '<strong>0 of 50 points count</strong>.</p>' "$dir/moodle.graded/00-feedback/Zoë Müller_7_assignsubmission_file_/00.html"
check "or why there is none" grep -q 'There is nothing to grade</strong>: no usable view.c' "$dir/moodle.graded/00-feedback/Kurt_9_assignsubmission_file_/00.html"
feedback canvas
check "Canvas finds its students, by the file that they handed in" is "$(returned canvas 12=34 13=35 14=36)" "$(printf '13 lovelaceada_13_35_00.html\n12 lovelaceada_LATE_12_34_00.html\n14 zusekonrad_14_36_00.html')"
feedback gradescope --course "$dir/course.json"
check "a folder for each elsewhere, with what is late" grep -q '<strong>40 of 50 points count</strong>; 2 days late: 80 % of what the rows earn' "$dir/gradescope.graded/00-feedback/submission_1/00.html"
check "feedback is private" is "$(find "$dir"/*.graded/00-feedback -perm /077)" ""
# What the grader could not grade is no grade there.
for s in moodle canvas; do
    /usr/bin/python3 -c 'import sqlite3, sys; b = sqlite3.connect(sys.argv[1]); b.execute("UPDATE grading SET state = ? WHERE submission = 1", ("error",)); b.commit()' "$dir/$s.graded/gradebook.sqlite"
    export_class $s
done
check "Moodle: nothing for what could not be graded" is "$(imported moodle 7=3@2020-01-01 8=3@2020-01-01 | wc -l)" 1
check "Canvas: nor does a grade there get lost" is "$(imported canvas 12=7 13=7 | wc -l)" 1
check "and the instructor is told" says "1 more have no grade yet"
feedback moodle
check "nor has it feedback" says "1 have none: not graded yet"
"$build/bin/grade_all" --lab 00 --dir "$dir/moodle" --export csv >"$log" 2>&1
check "csv: no points, nor of a step" is "$(grep -c ',error,,1,,50,,,' "$dir/moodle.graded/00-csv.csv")" 1
export_class gradescope --course "$dir/course.json"
check "gradescope, late by two days begun" is "$(sed -n 2p <<<"$csv")" '"Ada, L.",42,,40,50,Graded,1,2026-10-07 11:00:00 +0000'
"$build/bin/grade_all" --lab 00 --dir "$class" --export moodle >"$log" 2>&1
check "a file that Moodle would ignore is refused" says "moodle knows students by its own numbers"
all --export csv && check "csv" is "$(grep -c '^ada,,,ada,graded,,1,100,100,11,20,' "$out/00-csv.csv")" 1
check "csv: no points of what was refused, and why" is "$(grep -cE '^empty,,,empty,refused,,1,,100,.*no usable' "$out/00-csv.csv")" 1
all --export excel
check "an unknown format" says 'unknown format "excel": use csv, canvas, moodle, gradescope or feedback'

if command -v sim_c >/dev/null; then
    mkdir -p "$dir/earlier/Kurt" "$class/Bob" "$class/Eve"
    # Bob has the reference's with other names, Eve a text of her own that Kurt had last year.
    for unit in view strides copy; do sed -E 's/\bd\b/dimension/g; s/below/x/g; s/numel/n/g; s|/\*.*\*/||' solutions/00-tensors/$unit.c >"$class/Bob/$unit.c"; done
    for i in {1..9}; do echo "int f$i(int a, int *b) { while (a--) if (b[a] % $i) return b[0] ? a << 2 : -1; return 7 ^ b[1]; }"; done |
        tee "$class/Eve/view.c" >"$dir/earlier/Kurt/view.c"
    for s in Bob Eve; do all --regrade $s; done
    all --similarity 80 --earlier "$dir/earlier"
    check "a copied solution is named" says "ada (ada)  and  the reference"
    check "with other names, too" says "Bob (Bob)  and  the reference"
    check "of an earlier year" says "Eve (Eve)  and  Kurt in $dir/earlier"
    check "and nobody else; the skeleton is not a copy" says "similarity: 4 pairs at 80 % or above"
    check "the gradebook has the pairs" is "$(book 'SELECT count(*) FROM similarity')" 4
    # What make takes as a threshold finds a copy with other loops, declarations, order and names.
    mkdir "$class/Loop" && grader/batch/alike.py --write 00 "$class/Loop" && all --regrade Loop
    make -s similarity DIR="$class" LAB=00 >"$log" 2>&1
    check "a copy in other forms is named" says "Loop (Loop)"
    check "at the threshold of the page" says "pairs at $(sed -n 's/.*THRESHOLD=\([0-9]*\)`.*/\1/p' docs/INSTRUCTORS.md | head -n 1) % or above"
    # The reference's machine code of a release, as data: named by its functions, and nobody who wrote other code.
    make -s alike LAB=00 && mkdir "$class/Disguise" && cp labs/00-tensors/*.c "$class/Disguise"
    { cat labs/00-tensors/copy.c && for unit in view strides copy; do
        objcopy -O binary -j .text build/release/alike/x86-64-v3/reference/00-tensors/$unit.o "$dir/code" &&
            echo "extern const unsigned char code_of_$unit[]; const unsigned char code_of_$unit[] = {$(od -An -v -tu1 "$dir/code" | tr -s ' \n' ',' | sed 's/^,//')};"
    done; } >"$class/Disguise/copy.c"
    for s in Disguise ada Eve Bob; do all --regrade $s; done
    all --regrade accept
    all --similarity 50
    check "machine code in another dress is named" grep -qE "^Disguise \(Disguise\): identical machine code to the reference in [0-9]+ of [0-9]+ functions: look" "$log"
    check "so is the reference itself" says "ada (ada): identical machine code to the reference in "
    check "and nobody else" is "$(grep -cE '^(Eve|Zoë).*identical machine' "$log")" 0
    check "students' reports have no word of it" is "$(grep -rlE 'identical machine' "$out" --include=*.json --include=*.html | wc -l)" 0
    rm -r "$class"/{Bob,Eve,Loop,Disguise}
else
    echo "skipped: similarity-tester is not installed"
fi
before=$(book 'SELECT count(*) FROM grading')
cp labs/00-tensors/copy.c "$class/Zoë/view.c"
all && check "only the changed one is graded again" is "$(book 'SELECT count(*) FROM grading')" $((before + 1))
all --regrade noise && check "or the named one; all gradings are kept" is "$(book 'SELECT count(*) FROM grading')" $((before + 2))
check "no row of it changes" says "graded again: 1 submissions, of which 0 change, in 0 rows: $out/00-regrade.csv"
all --regrade accept && check "an equal one is accepted" says "1 submissions graded again: they count"
all --regrade accept
check "once" is "$? $(grep -c 'nothing of lab 00 was graded again' "$log")" "3 1"

# What was graded again counts when it is accepted: ada has lost a row by a grader of before, and has one that is there no more.
points() { all --export csv && grep -o '^ada,,,ada,graded,,1,[0-9]*' "$out/00-csv.csv"; }
/usr/bin/python3 - "$out/gradebook.sqlite" <<'PY'
import sqlite3, sys
book = sqlite3.connect(sys.argv[1])
of_ada = "(SELECT id FROM grade WHERE key = 'ada')"
book.execute(f"UPDATE result SET verdict = 'FAIL', points = 0 WHERE name = 'numel: random shapes' AND grading = {of_ada}")
book.execute(f"INSERT INTO result (grading, place, step, name, verdict, points, max) VALUES ({of_ada}, 900, '00.9', 'old', 'PASS', 1, 1)")
book.execute(f"UPDATE grading SET points = 98, max = 101 WHERE id = {of_ada}")
book.commit()
PY
before=$(book 'SELECT count(*) FROM grading')
all --regrade ada
check "the line of the submission" says "ada (ada): graded 98/101 -> graded 100/100"
check "a row that changes" grep -qE '^  00\.[0-9] +numel: random shapes: FAIL 0/3 -> PASS 3/3$' "$log"
check "a row that is no more" says "  00.9   old: PASS 1/1 -> none"
check "no other row" is "$(grep -c ' -> ' "$log") $(wc -l <"$out/00-regrade.csv")" "3 4"
check "what to do" says "this does not count yet: REGRADE=accept makes it count, REGRADE=discard forgets it"
check "the grade is that of before" is "$(points)" "ada,,,ada,graded,,1,98"
all
check "a later run says it again" says "ada (ada): graded 98/101 -> graded 100/100"
all --regrade discard
check "it can be forgotten" is "$(book 'SELECT count(*) FROM grading') $(points)" "$before ada,,,ada,graded,,1,98"
check "with its folder" is "$(ls "$out/00" | wc -l)" "$(book "SELECT count(*) FROM submission")"
all --regrade ada
folder=$(book "SELECT printf('%04d', id) FROM submission WHERE lab = 'again 00-tensors'") place=$(book "SELECT printf('%04d', id) FROM submission WHERE lab = '00-tensors' AND key = 'ada'")
touch "$out/00/$folder/mark" && rm -r "$out/00/$place" && mv "$out/00/$folder" "$out/00/$place" # a kill in the middle of accept
all --regrade accept
check "or count, also after a kill" is "$(book 'SELECT count(*) FROM grading') $(points)" "$((before + 1)) ada,,,ada,graded,,1,100"
check "with its report" [ -e "$out/00/$place/mark" -a -s "$out/00/$place/00.json" ]

/usr/bin/python3 -c 'import sqlite3, sys, time; b = sqlite3.connect(sys.argv[1]); b.execute("BEGIN EXCLUSIVE"); print(flush=True); time.sleep(4)' "$out/gradebook.sqlite" >"$dir/locked" &
await $! '[ -s "$dir/locked" ]' || true
all --regrade empty
check "it waits for a locked gradebook" is "$? $(book 'SELECT count(*) FROM grading')" "0 $((before + 2))"
check "with words" says "is locked by another program"
exec 9>"$out/.lock" && flock 9
all
check "one batch at a time" is $? 3
check "with words" says "another batch is working in"
exec 9>&-
# Line ends and a byte order mark of Windows make no difference.
mkdir -p "$dir/windows/Ada"
for unit in view strides copy; do { printf '\xef\xbb\xbf' && sed 's/$/\r/' solutions/00-tensors/$unit.c; } >"$dir/windows/Ada/$unit.c"; done
"$build/bin/grade_all" --lab 00 --dir "$dir/windows" >"$log" 2>&1
check "a unit from Windows is graded as any other" says " 100/100"
# Rows that stay INCONCLUSIVE: that of a skeleton, the race that is the only row of 01.5, is TODO when it is measured, in no time.
mkdir -p "$dir/timed/Ada" && cp labs/01-matmul/*.c "$dir/timed/Ada"
timed() { "$build/bin/grade_all" --lab 01 --dir "$dir/timed" "$@" >"$log" 2>&1; }
timed_book() { out=$dir/timed.graded book "$1"; }
timed --no-speed
check "timed rows can wait" is "$? $(timed_book 'SELECT state FROM grade')" "1 untimed"
/usr/bin/python3 -c 'import sqlite3, sys; b = sqlite3.connect(sys.argv[1]); b.execute("UPDATE grading SET state = ?", ("graded",)); b.commit()' "$dir/timed.graded/gradebook.sqlite"
timed
check "rows without a measurement are named" says "1 rows of 1 submissions are INCONCLUSIVE"
timed --regrade inconclusive
check "and measured again, alone" grep -qx "grade 01: 0/20 TODO=1" "$dir/timed.graded/01/0001/log"
check "as a grading of its own, with all rows" is "$(timed_book "SELECT count(*), sum(verdict = 'INCONCLUSIVE'), max(grading) FROM result WHERE grading = (SELECT id FROM grade)")" "20 0 2"
timed --regrade inconclusive
check "until there are none" is "$(timed_book 'SELECT count(*) FROM grading')" 2
/usr/bin/python3 -c 'import sqlite3, sys; b = sqlite3.connect(sys.argv[1]); b.execute("UPDATE result SET verdict = ? WHERE name LIKE ?", ("REVIEW", "%: speed")); b.commit()' "$dir/timed.graded/gradebook.sqlite"
timed
check "rows that somebody must look at are named" says "2 rows of 1 submissions are REVIEW and have no points yet: look at the code"
mkdir "$dir/other" && head -c 9000 /dev/urandom >"$dir/other/gradebook.sqlite"
all --out "$dir/other"
check "no gradebook is refused" is $? 3
check "with what to do" says "is not a gradebook (file is not a database): move it away"
finish batch
