#!/usr/bin/env python3
"""alike.py [LAB...] -- what the search for copies finds: sim_c's per cent for copies and for honest units, lab by lab.
alike.py --write LAB FOLDER -- the units of such a copy, with all changes (to be compared, not to be run).

The text of a submission is what similar.c compares, the units without the skeleton's lines. Copies are the reference
with other names and comments, with while for for, with declarations and statements taken apart, with functions in
another order, and with all of these. Honest units are those of grader/variants: of each marked region that a variant
has written anew (less than half of the lines are the reference's), its text against the reference's, all regions of a
lab together, since a variant is the reference everywhere else."""
import pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN, LEAST = "24", 80  # as in similar.c


def units(folder):
    return {path.name: path.read_text() for path in sorted(folder.glob("*.c"))}


def bare(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def own(lab, texts):
    given = {"".join(line.split()) for text in units(ROOT / "labs" / lab).values() for line in bare(text).split("\n")}
    return "\n".join(line for text in texts.values() for line in bare(text).split("\n") if "".join(line.split()) not in given)


# ---- copies --------------------------------------------------------------------------------------


def closing(text, at, pair="()"):
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i
    return len(text) - 1


def statement_end(text, at):
    """The end of the statement that begins at `at`: of a block, a loop or a line."""
    at += len(text[at:]) - len(text[at:].lstrip())
    if text[at : at + 1] == "{":
        return closing(text, at, "{}") + 1
    head = re.match(r"(for|while|if)\s*(?=\()", text[at:])
    if head:
        end = statement_end(text, closing(text, at + head.end()) + 1)
        other = re.match(r"\s*else\b", text[end:])
        return statement_end(text, end + other.end()) if other else end
    return text.find(";", at) + 1


def loops(text):
    """while for for, except the loops of an OpenMP directive."""
    at = 0
    while m := re.compile(r"\bfor \(").search(text, at):
        close = closing(text, m.end() - 1)
        parts = text[m.end() : close].split(";")
        at = m.end()
        if len(parts) != 3 or re.search(r"#pragma omp[^\n]*for[^\n]*\n\s*$", text[: m.start()]):
            continue
        end = statement_end(text, close + 1)
        body = text[close + 1 : end]
        while_loop = "{ %s; while (%s) { %s %s; } }" % (parts[0].strip(), parts[1].strip() or "1", body, parts[2].strip())
        text = text[: m.start()] + while_loop + text[end:]
        at = m.start() + len(parts[0]) + 4
    return text


def names(text):
    words = set(re.findall(r"\b[a-z]\w{0,12}\b", text)) - set("for while if else return int float double void char const static "
        "sizeof struct size_t int64_t bool break continue switch case default memcpy".split())
    return re.sub(r"\b[a-z]\w{0,12}\b", lambda m: "v_" + m[0][::-1] if m[0] in words and not m[0].startswith("mt_") else m[0], text)


def parts(text):
    """int a = 1, b = 2; as two declarations; x += y * z; with a variable between."""
    text = re.sub(r"^(\s*)(int64_t|int|float|double) (\w+ = [^,;()]+), (\w+ = [^,;()]+);", r"\1\2 \4;\n\1\2 \3;", text, flags=re.M)
    return re.sub(r"^(\s*)([\w\[\].>-]+) \+= ([^;{}]+);", r"\1{ float term = \3; \2 = \2 + term; }", text, flags=re.M)


def order(text):
    pieces = re.split(r"(?<=\n}\n)", text)
    return "".join(reversed(pieces))


COPIES = {"names": [names], "loops": [loops], "parts": [parts], "order": [order], "all": [loops, parts, order, names]}


def copies(lab, changes):
    texts = units(ROOT / "solutions" / lab)
    for name, text in texts.items():
        text = bare(text)
        for change in changes:
            text = change(text)
        texts[name] = text
    return texts


# ---- honest units --------------------------------------------------------------------------------


def regions(texts):
    found = {}
    for name, text in texts.items():
        for m in re.finditer(r"/\* LAB ([\d.]+) BEGIN.*?\*/(.*?)/\* LAB \1 END", text, re.S):
            found.setdefault((name, m[1], len([k for k in found if k[:2] == (name, m[1])])), bare(m[2]))
    return found


def is_other(text, reference):
    """Written anew: less than half of the lines, without blanks, are the reference's."""
    lines, known = ["".join(line.split()) for line in text.split("\n")], {"".join(line.split()) for line in reference.split("\n")}
    lines = [line for line in lines if len(line) > 1]
    return sum(line in known for line in lines) * 2 < len(lines)


def honest(lab):
    """Regions of the reference, and the same as variants write them; the k-th variant of each is in the k-th text."""
    reference, other = regions(units(ROOT / "solutions" / lab)), {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["awk", "-v", "units=solutions/" + lab, "-v", "out=" + folder, "-f", "grader/tools/table.awk",
                        f"grader/variants/{lab[:2]}.txt"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        for variant in sorted(pathlib.Path(folder).iterdir()):
            for key, text in regions(units(variant)).items():
                if key in reference and is_other(text, reference[key]):
                    other.setdefault(key, []).append(text)
    for k in range(max(map(len, other.values()), default=0)):
        keys = [key for key in other if len(other[key]) > k]
        yield "\n".join(reference[key] for key in keys), "\n".join(other[key][k] for key in keys)


# ---- sim_c ---------------------------------------------------------------------------------------


def percent(a, b):
    """As similar.c reads it; None: too short to be compared."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "a.c").write_text(a)
        pathlib.Path(folder, "b.c").write_text(b)
        out = subprocess.run(["sim_c", "-p", "-e", "-r", RUN, "-t", "1", "a.c", "b.c"], cwd=folder, capture_output=True, text=True).stdout
    tokens = [int(n) for n in re.findall(r"^File .*: (\d+) tokens", out, re.M)]
    return None if min(tokens) < LEAST else max(map(int, re.findall(r"consists for (\d+) %", out)), default=0)


def write(lab, folder):
    lab = next(path.name for path in (ROOT / "solutions").glob(lab + "-*"))
    for name, text in copies(lab, COPIES["all"]).items():
        pathlib.Path(folder, name).write_text(text)


def measure():
    labs = [p.name for p in sorted((ROOT / "solutions").iterdir()) if not sys.argv[1:] or p.name[:2] in sys.argv[1:]]
    least, most = 100, 0
    print("lab                    " + "".join("%7s" % kind for kind in COPIES) + "   honest")
    for lab in labs:
        reference = own(lab, units(ROOT / "solutions" / lab))
        found = [percent(reference, own(lab, copies(lab, c))) for c in COPIES.values()] if reference.strip() else [None]
        others = [p for pair in honest(lab) if (p := percent(*pair)) is not None]
        if None in found:
            continue
        least, most = min(least, *found), max([most, *others])
        print("%-23s" % lab + "".join("%7d" % p for p in found) + "   " + " ".join(map(str, others)))
    print("copies %d or more, honest units %d or less" % (least, most))


if sys.argv[1:2] == ["--write"]:
    write(*sys.argv[2:])
else:
    measure()
