"""sixty.py DIR -- a class of 60 in the layout of each system, and the sheet of its grades, which is added up here from what each
student was given: nothing of the grader is read.

DIR/SYSTEM/ are the submissions of lab 00 for make grade-all, DIR/course.json and DIR/students.csv what the course says, and
DIR/SYSTEM.sheet a line "username points days late" for each student. A unit has the points of its row as a comment, "marks 17",
which the grader of test_sixty.sh gives. Of 60 submissions every form occurs in every system."""
import csv, io, json, os, subprocess, sys, tarfile, time, zipfile

top = sys.argv[1]
due = 1790000000
unit_names, most = ("view.c", "strides.c", "copy.c"), (20, 30, 50)
first = ["Ada", "Jürgen", "Zoë", "Søren", "Łukasz", "李", "Ольга", "Grace", "O'Brien", "Mary Ann"]
last = ["Lovelace", "Gödel", "Hopper", "Иванова", "de la Cruz", "Smith-Jones"]
iso = lambda seconds: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Student:
    def __init__(self, i):
        self.i, self.name, self.user = i, f"{first[i % 10]} {last[i // 10]}", f"user{i:02}"
        self.email, self.number = f"u_{i}@example.org", 100 + i
        self.marks = [i * 7 % 21, i * 11 % 31, i * 13 % 51]
        self.hours = (-30, 0.1, 5, 30, 50, 80, -1)[i % 7]  # after the due date
        self.log = i * 3 % 11 if i % 4 else None
        self.days = 2 if i % 9 == 0 else 0
        self.excused = i == 17
        self.refused = i in (23, 51)


students = [Student(i) for i in range(60)]


# ---- the forms of a submission: paths and texts, of which the first, `units`, count ----
def text(student, unit):
    return f"/* marks {student.marks[unit]} */\nint unit{unit};\n"


def form(s):
    units = {name: text(s, u) for u, name in enumerate(unit_names)}
    wrong = {name: "/* marks 99 */\n" for name in unit_names}
    kind = s.i % 10
    if s.refused:
        return {"essay.txt": "no unit"}
    if kind == 1:
        return {"core": "x" * (3 << 20), **{f"hw/src/{n}": t for n, t in units.items()}}
    if kind == 2:
        return {**{f"me/solutions/00-tensors/{n}": t for n, t in wrong.items()}, **{f"me/labs/00-tensors/{n}": t for n, t in units.items()}}
    if kind == 3:
        return {"hw/inner.zip": archive(units, "zip"), "hw/README": "see the archive"}
    if kind == 4:
        return {**{f"__MACOSX/hw/._{n}": t for n, t in wrong.items()}, **{f"hw/{n}": t for n, t in units.items()}, "hw/.DS_Store": "x"}
    if kind == 5:
        return {n: "\ufeff" + t.replace("\n", "\r\n") for n, t in units.items()}
    if kind == 6:
        return {**{f"HW\\SRC\\{n.upper()}": t for n, t in units.items()}, "HW\\Thumbs.db": "x", "HW\\desktop.ini": "x"}
    if kind == 7:
        return {**units, **{f"old/{n}": t for n, t in wrong.items()}}
    if kind == 8:
        return {"view.c": units["view.c"], "strides.c": units["strides.c"], "copy.c": units["copy.c"].encode("utf-16")}
    return units


def raw(content):
    return content if isinstance(content, bytes) else content.encode()


def archive(files, kind):
    data = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as z:
            for path, content in files.items():
                z.writestr(path, raw(content))
    else:
        with tarfile.open(fileobj=data, mode="w:" + kind[4:]) as t:
            for path, content in files.items():
                entry = tarfile.TarInfo(path)
                entry.size = len(raw(content))
                t.addfile(entry, io.BytesIO(raw(content)))
    return data.getvalue()


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(raw(content))


def spread(folder, files):
    os.makedirs(folder, exist_ok=True)
    for path, content in files.items():
        write(f"{folder}/{path}", content)


# ---- the systems ----
def packed(s, to):
    kind = ("zip", "tar.gz", "tar.xz", "tar.bz2")[s.i // 10 % 4]
    write(f"{to}.{kind}", archive(form(s), kind))


def lay_out(system, s, at):
    if system == "folder":
        spread(f"{at}/{s.user}", form(s))
    elif system == "zips":
        packed(s, f"{at}/{s.user}")
    elif system == "canvas":
        late = "_LATE" if s.hours > 0 else ""
        if s.i % 10 == 0:  # loose files, one of them handed in again
            write(f"{at}/{s.user}{late}_{s.number}_{5000 + s.i}_view.c", "/* marks 99 */\n")
            for u, name in enumerate(unit_names):
                write(f"{at}/{s.user}{late}_{s.number}_{6000 + 10 * s.i + u}_{name.replace('.c', '-1.c') if u == 0 else name}", text(s, u))
        else:
            packed(s, f"{at}/{s.user}{late}_{s.number}_{5000 + s.i}_hw")
    elif system == "moodle":
        folder = f"{at}/{s.name}_{s.number}_assignsubmission_file" + ("_" if s.i % 2 else "")
        packed(s, folder + "/hw") if s.i % 3 else spread(folder, form(s))
    elif system == "gradescope":
        spread(f"{at}/submission_{s.number}", form(s))
    elif system == "autolab":
        write(f"{at}/{s.email}_9_handin.tar", archive({n: "/* marks 99 */\n" for n in unit_names}, "tar."))
        write(f"{at}/{s.email}_10_handin.tar", archive(form(s), "tar."))
    else:  # clones of repositories: the units where they are in a release, beside what it gives
        repository = f"{at}/{'spring-' if system == 'classroom50' else ''}tensors-{s.user}"
        given = {".git/HEAD": "ref: refs/heads/main\n", "README.md": "the course", "labs/00-tensors/lab.json": "{}", "reference/native/view.c": "/* marks 99 */\n"}
        units = {} if s.refused else {f"labs/00-tensors/{n}": text(s, u) for u, n in enumerate(unit_names)}
        spread(repository, {**given, **units, "result.json": "{}"})


def write_list(system, at):
    out = io.StringIO()
    sheet = csv.writer(out)
    if system == "canvas":
        json.dump([{"user_id": s.number, "submitted_at": iso(due + 3600 * s.hours), "late": s.hours > 0} for s in students], out)
        write(f"{at}/submissions.json", out.getvalue())
    elif system == "moodle":
        sheet.writerow(["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade", "Last modified (submission)"])
        for s in students:
            when = time.gmtime(due + 3600 * s.hours)
            sheet.writerow([f"Participant {s.number}", s.name, s.email, "Submitted", "", "100", time.strftime("%A, %d %B %Y, %I:%M %p", when)])
        write(f"{at}/worksheet.csv", out.getvalue())
    elif system == "gradescope":
        lines = "---\n"
        for s in students:
            name = s.name.replace("'", "''")
            lines += f"submission_{s.number}:\n  :submitters:\n  - :name: '{name}'\n    :sid: '{s.number}'\n    :email: {s.email}\n"
            lines += f"  :created_at: {iso(due + 3600 * s.hours).replace('T', ' ').replace('Z', ' Z')}\n"
        write(f"{at}/submission_metadata.yml", lines)
    elif system == "classroom50":
        sheet.writerow("username,first_name,last_name,email,section,score,max_score,datetime,submission_tag,submitted_by,review_url,late,override".split(","))
        for s in students:
            sheet.writerow([s.user, "", s.name, s.email, "", "", "", iso(due + 3600 * s.hours), "submit/1", s.user, "", str(s.hours > 0).lower(), ""])
        write(f"{at}/scores.csv", out.getvalue())


# ---- the sheet, by hand: 10 % less for each day begun, nothing after three, 15 minutes of grace ----
def grade(s, dated, repository):
    marks = sum(s.marks[:2] if s.i % 10 == 8 and not repository else s.marks)  # copy.c in UTF-16 is not taken
    hours = s.hours - 24 * s.days
    days = -(-hours // 24) if dated and hours > 0.25 else 0
    kept = 0 if days > 3 else 1 - 0.1 * days
    if s.excused or (s.refused and s.log is None):
        return "-", 0
    return (0 if s.refused else marks * kept) + (s.log or 0), days


for system in ("folder", "zips", "canvas", "moodle", "gradescope", "autolab", "github", "classroom50"):
    for s in students:
        lay_out(system, s, f"{top}/{system}")
    write_list(system, f"{top}/{system}")
    dated = system in ("canvas", "moodle", "gradescope", "classroom50")
    lines = [f"{s.user} {points if points == '-' else f'{points:.2f}'} {days:.0f}\n" for s in students
             for points, days in [grade(s, dated, system in ("github", "classroom50"))]]
    write(f"{top}/{system}.sheet", "".join(lines))

write(f"{top}/course.json", json.dumps({"late": {"percent_per_day": 10, "days": 3, "grace_minutes": 15},
                                        "labs": {"00": {"due": iso(due), "by_hand": {"log": 10}}}}))
roster = "student,also,name,email,lab,what,value,note\n"
for s in students:
    roster += f"{s.user},{s.number}|tensors-{s.user},{s.name},{s.email},,,,\n"
    roster += f"{s.user},,,,00,log,{s.log},\n" if s.log is not None else ""
    roster += f"{s.user},,,,00,days,{s.days},ill\n" if s.days else ""
    roster += f"{s.user},,,,00,excused,,\n" if s.excused else ""
write(f"{top}/students.csv", roster)
