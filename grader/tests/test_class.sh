#!/usr/bin/env bash
# make class-page: numbers of the page against those of the gradebook, names that look like markup, an empty book, no book.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
if ! echo '#include <sqlite3.h>' | ${CC:-gcc} -E - >/dev/null 2>&1; then
    echo "skipped: libsqlite3-dev is not installed"
    exit 0
fi
make -s build/release/bin/class_page build/release/bin/grade_all MINE=
page=build/release/bin/class_page
has() { grep -qF -- "$1" "$dir/out/01.html"; }
lacks() { ! has "$1"; }
says() { grep -qF -- "$1" "$dir/said"; }

# The book with its tables, as the batch makes it: of one submission without a unit.
mkdir -p "$dir/class/empty"
build/release/bin/grade_all --dir "$dir/class" --lab 01 --out "$dir/out" >"$dir/said" 2>&1 || true
check "the batch made a book" [ -s "$dir/out/gradebook.sqlite" ]
book=$dir/out/gradebook.sqlite
make_page() { "$page" --lab 01 --out "$dir/out" >"$dir/said" 2>&1; }
check "a page of nobody with a grade" make_page
check "says so" has "No submission is graded yet"

# Four submissions: full marks, half of them twice (one late), none at all because the grader failed.
/usr/bin/python3 - "$book" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
name = ["Ada <b>Lovelace</b>", "Zoë \x1b[31m</script><script>alert(1)</script>", "Ольга & Co", None]
for i in range(4):
    s = 100 + i
    db.execute("INSERT INTO submission (id, lab, folder, key, system, handed_in, late) VALUES (?, '01-matmul', 'f', ?, 'folder', 1000, ?)",
               (s, f"key-{i}\"'", int(i == 2)))
    if name[i]:
        db.execute("INSERT INTO student VALUES (?, 0, ?, ?, '')", (s, name[i], f"<{i}>"))
    state, half = ("error" if i == 3 else "graded"), (i in (1, 2))
    for old in (1, 0):  # the earlier grading of each does not count
        g = db.execute("INSERT INTO grading (submission, state, points, max, message, started, seconds, cpu) VALUES (?, ?, ?, 10, ?, 0, 2, 1)",
                       (s, state, 0 if old or i == 3 else 5 if half else 10, "it </p> ended")).lastrowid
        if state == "graded":
            for place, (step, row, points) in enumerate((("01.1", "values", 5), ("01.2", "<i>", 5))):
                bad = old or (half and place == 1)
                db.execute("INSERT INTO result (grading, place, step, name, verdict, points, max, hint, seconds) VALUES (?, ?, ?, ?, ?, ?, 5, ?, 1)",
                           (g, place, step, row, "FAIL" if bad else "PASS", 0 if bad else points, "look <u>" if bad else None))
db.execute("INSERT INTO similarity (lab, submission, other, source, percent, tokens) VALUES ('01-matmul', 100, 101, 'class', 93, 700)")
db.execute("INSERT INTO similarity (lab, submission, other, source, percent, tokens) VALUES ('01-matmul', 102, NULL, 'the <reference>', 88, 600)")
db.commit()
END
check "the page" make_page
check "it says where" says "class page: $dir/out/01.html"
check "mean and median" has "3 submissions graded, of 10 points: mean 6.66, median 5."
check "full marks have a bin of their own" has '<th scope="row">all points</th><td class="number">1</td>'
check "half is in its bin" has '<th scope="row">50 to 60 %</th><td class="number">2</td>'
check "a step's pass rate" has '<th scope="row">01.2</th><td class="number">33 %</td>'
check "the hardest row" has '<td class="words">&lt;i&gt;<br><span class="faint">2 failed<br>Hint: look &lt;u&gt;</span></td><td class="number">33 %</td>'
check "rows that all pass are not hard" lacks '<td class="words">values<br>'
check "submissions, late ones" has "5 submissions, 1 of them late"
check "a link to a submission's page" has '<a href="01/0100/01.html">Ada &lt;b&gt;Lovelace&lt;/b&gt;</a>'
check "no link without a page" lacks 'href="01/0103/01.html"'
check "without a name, the key" has 'key-3&quot;&#39;'
check "why there is no grade" has 'it &lt;/p&gt; ended'
check "a similar pair" has '</a></td><td class="number">93 %</td>'
check "a copy of the reference" has 'the &lt;reference&gt;</td><td class="number">88 %</td>'
check "no script" lacks "<script"
check "no control characters" bash -c '! LC_ALL=C grep -q "$(printf "\033")" "$1"' - "$dir/out/01.html"
check "nothing from elsewhere" lacks "://"
check "when they were handed in" has '>Handed in</th>'
/usr/bin/python3 -c 'import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute("UPDATE submission SET handed_in = 0, late = 0"); d.commit()' "$book"
check "the page without dates" make_page
check "has no column of them" lacks "Handed in"
check "nor late ones" has "<caption>5 submissions</caption>"
rc=0 && "$page" --out "$dir/out" --lab 02 2>"$dir/said" || rc=$?
check "another lab is not there" [ $rc -eq 3 ]
check "and said" says "has no submission of lab 02"
rc=0 && "$page" --dir "$dir/none/" --lab 01 2>"$dir/said" || rc=$?
check "no book is exit status 3" [ $rc -eq 3 ]
check "with what to do" says "none.graded/gradebook.sqlite: there is no gradebook yet: make grade-all"
rm "$dir/out/01.html" && mkdir "$dir/out/01.html"
check "a page that cannot be written is not a page" bash -c '! "$@" 2>/dev/null' - "$page" --lab 01 --out "$dir/out"
mkdir "$dir/junk" && head -c 5000 /dev/urandom >"$dir/junk/gradebook.sqlite"
rc=0 && "$page" --out "$dir/junk" --lab 01 2>"$dir/said" || rc=$?
check "a file that is not a book is exit status 3" [ $rc -eq 3 ]
check "and no page" [ ! -e "$dir/junk/01.html" ]
finish "class page"
