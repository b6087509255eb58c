#!/usr/bin/env python3
"""imported.py SYSTEM FILE.csv KNOWN... -- what a system's own importer takes from a file of grades: a line "student grade"
for each grade that it would record, or what it refuses. KNOWN are the students of its course, by number; "7=3@2026-10-05"
has a grade of 3 since then. These rules are written down from the importers' source.

Moodle, "Upload grading worksheet" (mod/assign/feedback/offline): commas, as many cells in each line as in the first, and
columns of exactly these names: Identifier, Grade, Last modified (grade). Of an identifier as many characters are left out
as "Participant " has; a line without a participant's number behind them is ignored. So are a grade that is empty, no
number, below 0, or above the assignment's maximum (here: of the column Maximum grade), and one that Moodle has changed
more than a minute after the date in the file.

Canvas, "Import grades" (lib/gradebook_importer.rb): a first line with Student, ID, SIS User ID, SIS Login ID, Section, then
an assignment in each column; a line with "Points Possible" in its first cell. A student is found by ID, else by SIS User
ID, by SIS Login ID, or by the name; one that is not found stops the import with a question. An empty cell of a student who
has a grade takes it away.

Of a folder in place of the file, the feedback that would reach somebody: "student name of the file". Moodle, "Upload multiple
feedback files in a zip" (mod/assign/feedback/file/importziplib.php): the first part of a path that "_" divides into at
least four, a participant's number and a plugin second to fourth; the rest is the file's name. Canvas, "Upload submissions"
(infer_comment_context_from_filename): the first two numbers between "_" in a file's name are the student's and those of a file
that the student has handed in. KNOWN is "12=345" then."""
import csv, datetime, os, re, sys


def stop(words):
    print(words)
    sys.exit(1)


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def date(text):
    for form in ("%Y-%m-%d %H:%M:%S %Z", "%Y-%m-%d"):
        try:
            return datetime.datetime.strptime(text, form)
        except ValueError:
            pass
    return datetime.datetime(1970, 1, 1)  # as strtotime's false


def moodle(head, lines, known):
    for name in ("Identifier", "Grade", "Last modified (grade)"):
        if head.count(name) != 1:
            stop('no column "%s"' % name)
    for line in lines:
        cell = dict(zip(head, line))
        student, grade = cell["Identifier"][len("Participant "):], number(cell["Grade"])
        if student not in known or grade is None or not 0 <= grade <= float(cell["Maximum grade"]):
            continue
        old, since = known[student]
        if old == grade or since > date(cell["Last modified (grade)"]) + datetime.timedelta(minutes=1):
            continue
        yield student, cell["Grade"]


def canvas(head, lines, known):
    if head[:5] != ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"] or len(head) < 6:
        stop("Invalid header row")
    if "Points Possible" not in lines[0][0] or number(lines[0][5]) is None:
        stop("no points possible")
    for line in lines[1:]:
        student = next((s for s in (line[1], line[2], line[3], line[0]) if s in known), None)
        if not student:
            stop("which student is %s?" % line[0])
        if line[5].strip() == "" and known[student][0] is not None:
            yield student, "taken away"
        elif line[5].strip():
            yield student, line[5]


def feedback(system, folder, known):
    for path in sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names):
        parts = path.split("/")
        while system == "moodle" and parts:
            info = parts.pop(0).split("_", 4)
            if len(info) >= 4 and info[1] in known and info[2:4] in (["assignsubmission", "file"], ["assignfeedback", "file"]):
                print(info[1], "/".join(info[4:] + parts).lstrip("/"))
                break
        numbers = [part for part in parts[-1].split("_") if re.fullmatch("[0-9]+", part)] if system == "canvas" else []
        if len(numbers) >= 2 and known.get(numbers[0], (None,))[0] == float(numbers[1]):
            print(numbers[0], parts[-1])


def main():
    system, path, *students = sys.argv[1:]
    known = {}
    for student in students:
        who, _, grade = student.partition("=")
        points, _, since = grade.partition("@")
        known[who] = (number(points), date(since))
    if os.path.isdir(path):
        return feedback(system, path, known)
    with open(path, encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file, strict=True)
    if any(len(line) != len(head) for line in lines):
        stop("a line has another number of cells than the first")
    for student, grade in {"moodle": moodle, "canvas": canvas}[system](head, lines, known):
        print(student, grade)


main()
