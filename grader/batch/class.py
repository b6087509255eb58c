#!/usr/bin/python3
"""class.py FOLDER LAB COUNT [folder|canvas|moodle|gradescope] -- write COUNT synthetic submissions of a lab to FOLDER.

Of 20 submissions 6 are right, 2 are right with other names of variables, 3 have a mistake of grader/mutants/, 1 is half done, 1 is
the skeleton, 1 does not compile, 1 lacks a unit, 1 is empty, 1 is damaged, 2 are hostile, 1 is a copy of another student's with
other names. Names have umlauts and other alphabets; two students have the same one. What each is stands in FOLDER.kinds. The same
arguments always give the same class."""
import glob, io, os, random, re, shutil, subprocess, sys, tarfile, tempfile, zipfile

folder, lab, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
system = sys.argv[4] if len(sys.argv) > 4 else "folder"
os.chdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
name = os.path.basename(glob.glob(f"labs/{lab}-*")[0])
random.seed(f"{lab} {count} {system}")
read = lambda place: {os.path.basename(p): open(p).read() for p in sorted(glob.glob(f"{place}/{name}/*.c*"))}
solution, skeleton = read("solutions"), read("labs")
with tempfile.TemporaryDirectory() as made:
    subprocess.run(["awk", "-v", f"units=solutions/{name}", "-v", f"out={made}", "-f", "grader/tools/table.awk", f"grader/mutants/{name[:2]}.txt"],
                   check=True, stdout=subprocess.DEVNULL)
    mutants = [(*p.split("/")[-2:], open(p).read()) for p in sorted(glob.glob(f"{made}/*/*.c*"))]
first = ["Ada", "Jürgen", "Zoë", "Søren", "François", "Łukasz", "李", "Ольга", "Grace", "Kurt", "Anaïs", "Özgür", "O'Brien", "Mary Ann"]
last = ["Lovelace", "Müller", "Gödel", "Hopper", "Ångström", "伟", "Иванова", "de la Cruz", "Nuñez", "Weiß", "Smith-Jones"]
kinds = ["right"] * 6 + ["renamed"] * 2 + ["mutant"] * 3 + ["half", "skeleton", "broken", "missing", "empty", "damaged",
                                                             "hostile", "hostile", "copy"]
hostile = {"loops": "for (;;) ;", "crashes": "*(volatile int *)8 = 1;", "forks": "extern int fork(void); while (1) fork();",
           "memory": "extern void *malloc(unsigned long); for (;;) *(volatile char *)malloc(1 << 20) = 1;",
           "prints": "extern int puts(const char *); for (;;) puts(\"grade 01: 100/100\\033[2J\");",
           "exits": "extern void exit(int); exit(0);", "includes": "\n#include \"/etc/passwd\"\n",
           "assembler": "__asm__(\".incbin \\\"/etc/shadow\\\"\");", "stack": "volatile char big[1 << 30]; big[0] = 1;",
           "compiler": "\n#define A(x) x x x x x x x x x x\nA(A(A(A(A(A(A(A(A(;)))))))))\n"}


def renamed(units, salt):
    """Other names for variables, other blanks, other comments: the same program."""
    own = random.Random(salt)
    result = {}
    for unit, text in units.items():
        text = re.sub(r"(?<!LAB)/\*(?! LAB)(?:[^*]|\*(?!/))*\*/", "", text)
        pasted = set(re.findall(r"##(\w+)", text)) | {"view"}
        for variable in set(re.findall(r"\b(?:int|int64_t|float|bool) (\w+) =", text)) - pasted:
            text = re.sub(rf"(?<![.>\w]){variable}\b(?!\()", f"{variable}_{own.randrange(10, 99)}", text)
        result[unit] = "".join(line + "\n" + ("\n" if own.random() < 0.05 else "") for line in text.split("\n"))
    return result


def units_of(kind, i):
    units = dict(solution)
    unit = sorted(units)[i % len(units)]
    if kind == "right":
        return {u: f"/* my work, version {i} */\n{text}" for u, text in units.items()}, kind
    if kind in ("renamed", "copy"):
        return renamed(units, i if kind == "renamed" else "copied"), kind
    if kind == "mutant":
        mutant, unit, text = mutants[i % len(mutants)]
        return {**units, unit: text}, "mutant " + mutant
    if kind == "half":
        return {**units, unit: skeleton[unit]}, f"half: {unit} is the skeleton's"
    if kind == "skeleton":
        return dict(skeleton), kind
    if kind == "broken":
        return {**units, unit: units[unit] + "\nint this does not compile\n"}, f"broken {unit}"
    if kind == "missing":
        del units[unit]
        return units, f"missing {unit}"
    if kind == "hostile":
        which = sorted(hostile)[(i // 20 * 2 + i % 2) % len(hostile)]
        units[unit] = re.sub(r"(/\* LAB [\d.]+ BEGIN(?:[^*]|\*(?!/))*\*/)", lambda m: m[1] + "\n" + hostile[which], units[unit], count=1)
        return units, f"hostile {which} in {unit}"
    return {}, kind


def archive(units, form):
    data = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as z:
            for unit, text in units.items():
                z.writestr(f"hw/{unit}", text)
    else:
        with tarfile.open(fileobj=data, mode="w:" + form[4:]) as t:
            for unit, text in units.items():
                entry = tarfile.TarInfo(unit)
                entry.size = len(text.encode())
                t.addfile(entry, io.BytesIO(text.encode()))
    return data.getvalue()


def bomb():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz", compresslevel=1) as t:
        for path, kind, link in (("/etc/cron.d/x", tarfile.REGTYPE, ""), ("../../up.c", tarfile.REGTYPE, ""),
                                 (sorted(solution)[0], tarfile.SYMTYPE, "/etc/passwd"), ("dev", tarfile.CHRTYPE, "")):
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = kind, link
            t.addfile(entry)
        entry = tarfile.TarInfo("zeros")
        entry.size = 100 << 20
        t.addfile(entry, open("/dev/zero", "rb"))
    return data.getvalue()


def place(i, who):
    """Where the file `hw.zip` of a student is to be, or the folder for his units."""
    plain = re.sub(r"\W", "", who).lower()
    return {"folder": f"{who} {i}" if i else who, "canvas": f"{plain}{'_LATE' if i % 9 == 0 else ''}_{100 + i}_{5000 + i}_hw",
            "moodle": f"{who}_{100 + i}_assignsubmission_file_", "gradescope": f"submission_{100 + i}"}[system]


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
listed, notes = "---\n", ""
forms = ["folder", "zip", "tar.gz", "tar.xz"]
for i in range(count):
    kind = kinds[i % len(kinds)]
    who = "Ada Lovelace" if i < 2 else f"{random.choice(first)} {random.choice(last)}"
    units, kind = units_of(kind, i)
    form = "folder" if kind == "empty" or system == "gradescope" else forms[i // 3 % 4]
    if form == "folder" and system == "canvas":
        form = "zip"
    to = os.path.join(folder, place(i, who))
    content = b"PK\x03\x04 but not really" if kind == "damaged" and i % 40 < 20 else None
    if kind == "damaged" and content is None:
        content = archive(solution, "tar.gz")[:700]
    if kind.startswith("hostile") and i // 20 % 5 == 4:
        content, kind = bomb(), "hostile archive"
    if content and form == "folder":
        form = "tar.gz"
    if form == "folder":
        os.makedirs(to)
        for unit, text in units.items():
            open(f"{to}/{unit}", "w").write(text)
    else:
        if system in ("moodle", "gradescope"):
            os.makedirs(to)
            to += "/hw"
        open(f"{to}.{form}", "wb").write(content or archive(units, form))
    listed += f"submission_{100 + i}:\n  :submitters:\n  - :name: {who}\n    :sid: '{1000 + i}'\n    :email: s{i}@example.org\n"
    listed += f"  :created_at: 2026-11-{1 + i % 28:02d} 18:30:00.5 Z\n"
    notes += f"{os.path.relpath(to, folder)}\t{kind}\n"
if system == "gradescope":
    open(f"{folder}/submission_metadata.yml", "w").write(listed)
open(f"{folder}.kinds", "w").write(notes)
print(f"{count} submissions of lab {name} in {folder}")
