#!/usr/bin/env bash
# test_totals.sh -- make gradebook without LAB: the labs of a course added up. Twelve students, whose totals stand here as a
# spreadsheet has them that was made by hand: late days, grace, extensions, excused labs, a team, points by hand, regrades, the best
# three of four labs, what is open, a tie. And students.csv: what is wrong in it is refused with its line.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root"
if ! echo '#include <sqlite3.h>' | ${CC:-gcc} -E - >/dev/null 2>&1; then
    echo "skipped: libsqlite3-dev is not installed"
    echo "totals: 0 passed, 0 failed" && exit 0
fi
make -s MINE= build/release/bin/grade_all build/release/bin/kit >/dev/null || exit 1
out=$dir/book log=$dir/log
says() { grep -qF -- "$1" "$log"; }

cat >"$dir/course.json" <<'TXT'
{ "course": "Spring", "best_of": 3, "late": { "percent_per_day": 10, "days": 3, "grace_minutes": 15 },
  "labs": { "00": { "due": "2024-03-04T12:00Z", "points": 50 },
            "01": { "due": "2024-03-11T12:00Z", "points": 100, "by_hand": { "log": 20 } },
            "02": { "due": "2024-03-18T12:00Z", "points": 100, "counts": "last" },
            "03": { "due": "2024-03-25T12:00Z", "points": 80 } } }
TXT
cat >"$dir/students.csv" <<'TXT'
student,name,email,team,lab,what,value,note
s01,Ada,ada@example.org,,,,,
s02,Bob,,,,,,
s03,Cem,,,,,,
s04,Dora,,,,,,
s05,Eve,,,,,,
s06,Finn,,red,,,,
s07,Gil,,red,,,,
s08,Gus,,,,,,
s09,Hana,,,,,,
s10,Ivo,,,,,,
s11,Jo,,,,,,
s12,Kim,,,,,,
s01,,,,01,log,18,
s02,,,,1,log,10,
s04,,,,01,days,2,"ill, from 10 to 12 March"
s04,,,,01,log,15,
s04,,,,03,excused,,conference
s05,,,,00,excused,,came later
s05,,,,02,excused,,ill
s05,,,,01,log,20,
s06,,,,01,log,12,
s07,,,,01,log,6,
s08,,,,01,log,20,
s09,,,,01,log,20,
s10,,,,01,log,8,
s10,,,,02,points,5,regrade of 02.5: the message was wrong; yes
s12,,,,01,log,10,
s12,,,,02,points,12,"a damaged archive, read by hand"
s12,,,,01,accept,01.6 parallel: speed,measured three times
TXT
mkdir -p "$dir/class/empty"
build/release/bin/grade_all --lab 00 --dir "$dir/class" --out "$out" >"$log" 2>&1
# student, lab, hours after the due date, points, or the reason why there are none
/usr/bin/python3 - "$out/gradebook.sqlite" <<'PY'
import sqlite3, sys
book = sqlite3.connect(sys.argv[1])
for table in ("submission", "student", "grading", "result"):
    book.execute("DELETE FROM " + table)
labs = {"00": ("00-tensors", 1709553600, 50), "01": ("01-matmul", 1710158400, 100), "02": ("02-backprop", 1710763200, 100), "03": ("03-autograd", 1711368000, 80)}
table = """
s01 00 -1 50      s01 01 -1 100     s01 02 -1 90      s01 03 -1 80
s02 00 1 40       s02 01 -1 80      s02 03 -1 64
s03 00 0.15 50    s03 01 25 60      s03 02 -1 70      s03 03 -1 40
s04 00 -1 30      s04 01 47 90      s04 02 -1 50      s04 03 -1 10
s05 01 -1 100     s05 03 -1 72
s06 00 -1 44      s06 01 -1 88      s06 02 -1 64      s06 03 -1 56
s07 00 -1 25
s08 00 -1 50      s08 01 90 100     s08 02 -9 80      s08 02 -1 60      s08 03 -1 80
s09 00 -1 50      s09 01 -1 100     s09 02 -1 refused s09 03 -1 80
s10 00 -1 20      s10 01 -1 40      s10 02 -1 75      s10 03 -1 8
s12 00 -1 45      s12 01 -1 60      s12 02 -1 refused s12 03 -1 65"""
words = table.split()
for i in range(0, len(words), 4):
    student, lab, hours, points = words[i:i + 4]
    name, due, most = labs[lab]
    at = book.execute("INSERT INTO submission (lab, folder, key, system, handed_in, late) VALUES (?, '/x', ?, 'gradescope', ?, 0)", (name, f"{student}-{i}", due + int(3600 * float(hours)))).lastrowid
    book.execute("INSERT INTO student VALUES (?, 0, ?, ?, '')", (at, "name of " + student, student))
    state = "refused" if points == "refused" else "graded"
    value = None if state == "refused" else float(points)
    g = book.execute("INSERT INTO grading (submission, state, points, max, message) VALUES (?, ?, ?, ?, ?)", (at, state, value, most, "no usable unit" if value is None else "")).lastrowid
    if student == "s12" and lab == "01":
        book.execute("INSERT INTO result (grading, place, step, name, verdict, points, max, measured, low, full) VALUES (?, 0, '01.6', 'parallel: speed', 'INCONCLUSIVE', 0, 20, 0.75, 0.5, 1.0)", (g,))
book.commit()
PY
build/release/bin/grade_all --export csv --out "$out" --course "$dir/course.json" >"$log" 2>&1
check "it is written" says "grades.csv and grades.html: 12 students, 4 labs"
check "who has an open lab is said" says "1 students have open labs, and no rank"
# By hand, for each student: rank, points, maximum, per cent, days late, labs that count, open labs; points and days of each lab.
cat >"$dir/wanted" <<'TXT'
1|Ada|248|250|99.2|0|00 01 03||50|0|118|0|90|0|80|0
2|Eve|192|200|96.0|0|01 03||||120|0|||72|0
3|Gus|190|230|82.6|4|00 02 03||50|0|20|4|60|0|80|0
4|Finn|200|250|80.0|0|00 01 03||44|0|100|0|64|0|56|0
5|Gil|194|250|77.6|0|00 01 03||44|0|94|0|64|0|56|0
6|Bob|190|250|76.0|1|00 01 03||36|1|90|0|||64|0
6|Kim|190|250|76.0|0|00 01 03||45|0|80|0|12|0|65|0
8|Cem|160|230|69.6|2|00 02 03||50|0|48|2|70|0|40|0
9|Dora|185|270|68.5|0|00 01 02||30|0|105|0|50|0||
10|Ivo|148|270|54.8|0|00 01 02||20|0|48|0|80|0|8|0
11|Jo|0|270|0.0|0|00 01 02|||||||||
|Hana|250|250|100.0|0|00 01 03|02|50|0|120|0|||80|0
TXT
/usr/bin/python3 - "$out/grades.csv" >"$dir/got" <<'PY'
import csv, sys
head, *lines = csv.reader(open(sys.argv[1], encoding="utf-8", newline=""), strict=True)
assert all(len(line) == len(head) for line in lines)
for line in lines:
    print("|".join(line[:2] + line[5:-1]))
PY
diff "$dir/wanted" "$dir/got" >"$log" && ok || { bad "totals as in the spreadsheet" && cat "$log"; }
notes() { grep "^[0-9]*,$1," "$out/grades.csv" | grep -cF -- "$2"; }
check "an extension has its reason" [ "$(notes Dora '2 days more: ill, from 10 to 12 March')" = 1 ]
check "a regrade has its answer" [ "$(notes Ivo '+5 points: regrade of 02.5: the message was wrong; yes')" = 1 ]
check "what is accepted is said" [ "$(notes Kim 'accepted as measured: 01.6 parallel: speed: measured three times')" = 1 ]
check "a refused submission has its reason" [ "$(notes Hana 'lab 02: refused: no usable unit')" = 1 ]
check "the page has the ranks" grep -qF '<td class="number">6</td><th scope="row">Kim' "$out/grades.html"
check "and links to the reports" grep -qE '<a href="00/[0-9]{4}/00.html">50</a>' "$out/grades.html"
check "both are private" [ "$(stat -c %a "$out"/grades.{csv,html} | xargs)" = "600 600" ]
build/release/bin/grade_all --export csv --lab 01 --out "$out" --course "$dir/course.json" >"$log" 2>&1
check "the file of one lab has the same points" grep -q "^Dora,s04,,s04-[0-9]*,graded,,1,105,120," "$out/01-csv.csv"
check "also of who lent the submission of the team" grep -q "^Gil,s07,,s06-[0-9]*,graded,,1,94,120," "$out/01-csv.csv"
sed -i '/^s11/d' "$dir/students.csv" && sed -i 's/^s12,Kim/k,Kim/; s/^s12/k/' "$dir/students.csv"
build/release/bin/grade_all --export csv --out "$out" --course "$dir/course.json" >"$log" 2>&1
check "who is not in students.csv is named" says '1 are not in students.csv: name of s12; give them a line'
rm "$dir/students.csv"
build/release/bin/grade_all --export csv --out "$out" --course "$dir/course.json" >"$log" 2>&1
check "without students.csv those who handed something in" says "11 students, 4 labs"
expect "as make starts it" 0 "11 students, 4 labs" make -s gradebook OUT="$out" COURSE="$dir/course.json"

# ---- an extension moves what happens after the due date ----
later=$dir/later
mkdir "$later"
day() { date -u -d "$1 days" +%FT%H:%MZ; }
echo "{ \"labs\": { \"00\": { \"due\": \"$(day -9)\" }, \"01\": { \"due\": \"$(day -2)\" } } }" >"$later/course.json"
printf '%s\n' student,name,lab,what,value,note s01,Ada,,,, s11,Jo,,,, s11,,01,days,5,ill >"$later/students.csv"
build/release/bin/grade_all --export csv --out "$out" --course "$later/course.json" >"$log" 2>&1
check "a lab that is not due yet for a student is not 0" grep -q "^[0-9]*,Jo,s11,,,0,100,0.0,0,00,," "$out/grades.csv"
sed -i 's/,5,ill/,1,ill/' "$later/students.csv"
build/release/bin/grade_all --export csv --out "$out" --course "$later/course.json" >"$log" 2>&1
check "and is when the extension has ended" grep -q "^[0-9]*,Jo,s11,,,0,200,0.0,0,00 01,," "$out/grades.csv"
echo '{ "late": { "percent_per_day": 10, "days": 3 }, "labs": { "01": { "due": "2026-10-05T12:00Z", "after": "2026-10-10T12:00Z" } } }' >"$later/course.json"
moved() { # DAYS of an extension, WORDS of kit's COMMAND: when the objects are handed out
    printf '%s\n' student,lab,what,value s01,,, "s01,01,days,$1" >"$later/students.csv"
    expect "objects after an extension of $1 days, $3" 0 "$2" build/release/bin/kit "$3" "$later/course.json" "$later/theirs.json"
}
moved 1 $'01\t2026-10-10 12:00 UTC' after
moved 7 $'01\t2026-10-17 12:00 UTC' after
moved 7 "objects handed out after 2026-10-17 12:00 UTC (an extension)" course
moved 7 "" students
check "students see the later date" grep -q '"after":	"2026-10-17T12:00:00Z"' "$later/theirs.json"

rm "$later/students.csv"
for policy in "" tutor closed open; do # what a release says about language models
    echo "{ ${policy:+\"language_models\": \"$policy\",} \"labs\": { \"01\": {} } }" >"$later/models.json"
    check "the policy ${policy:-of a course that says nothing}" [ "$(build/release/bin/kit parts "$later/models.json" | cut -d" " -f1)" = "${policy:-tutor}" -a -s "grader/release/agents/${policy:-tutor}.txt" ]
done

# ---- what is wrong is refused, before anything else is built ----
wrong() { # LINE WORDS TEXT...: the file's first line is that of the columns
    printf '%s\n' "${@:3}" >"$dir/students.csv"
    expect "$2" 1 "course: $dir/students.csv:$1: $2" build/release/bin/kit course "$dir/course.json"
}
head=student,name,lab,what,value,note ada=ada,Ada,,,,
wrong 1 'unknown column "lab no": use some of student, also' "student,lab no"
wrong 1 'the column "name" occurs twice' "student,name,name"
wrong 1 'no column "student"' "name,lab"
wrong 3 '"ada" is a student of line 2' $head $ada $ada
wrong 2 'no student: fill the column "student"' $head ,Ada
wrong 3 'a cell more than columns, "7": quote a text that has a comma' $head $ada "ada,,01,points,1,ill, 7"
wrong 4 'there is no student "adam": correct it' $head $ada "" adam,,01,excused,,
wrong 3 'the course has no lab "04"' $head $ada ada,,04,excused,,
wrong 3 '"late" is nothing to say about lab 01: use days, excused, points, accept, log' $head $ada ada,,01,late,,
wrong 3 'the value of "log" must be a number from 0 to 20, such as 2.5, not "21"' $head $ada ada,,01,log,21,
wrong 3 'the value of "days" must be a number from 0 to 1000' $head $ada ada,,01,days,two,
wrong 3 '"points" needs a note: write what was asked, and why' $head $ada ada,,01,points,2,
wrong 3 'lab 01 has no row "01.6 speed"' $head $ada "ada,,01,accept,01.6 speed,why"
wrong 4 '"log" of this student and lab occurs twice' $head $ada ada,,01,log,2, ada,,01,log,3,
wrong 2 'a quote is not closed' $head '"ada'
wrong 2 'not text: byte 0xff is not UTF-8: save the file as UTF-8' $head $'\xff'
printf '\xef\xbb\xbfstudent;name;lab;what;value;note\r\nada;"Ada; L.";;;;\r\nada;;1;points;2;"two\r\nlines"\r\nada;;01;days;x;\r\n' >"$dir/students.csv"
expect "as a spreadsheet writes it" 1 "students.csv:5: the value of \"days\"" build/release/bin/kit course "$dir/course.json"
expect "make stops there" 2 "students.csv:5: " make -s grade-all DIR="$dir/class" LAB=00 COURSE="$dir/course.json"
check "and grades nothing" [ ! -e "$dir/class.graded" ]
finish totals
