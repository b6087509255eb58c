#!/usr/bin/env python3
"""stage.py DIR -- writes into DIR what MkDocs builds the site from: mkdocs.yml and pages/.

The pages are those of the repository, at the same paths, with these changes:
  - a link to a header goes to its page in api/, made from its comments (api.py); to another source, to a listing of it;
  - a picture links to itself, since a phone shows it small;
  - the name of a function in `code` links to its entry in the API;
  - docs/SELF_STUDY.md gets the table of labs and the answers, where solutions/ has them;
  - docs/results/README.md gets every plot and table.
Runs in the root of the tree. Links that lead nowhere stay, and `mkdocs build --strict` refuses them."""
import glob
import html
import json
import os
import re
import sys
from pathlib import Path

import pygments
import pygments.lexers
from pygments.formatters import HtmlFormatter

import api

OUT = Path(sys.argv[1]) / "pages"
HERE = Path(__file__).resolve().parent
LANGUAGES = {".c": "c", ".h": "c", ".cu": "cpp", ".cuh": "cpp", ".mk": "make", ".sh": "bash"}
ALONE = ("README.md", "docs/SELF_STUDY.md")             # in their tab of the site
TABLES = ("docs/MAP.md", "docs/CLAIMS.md")              # that need the width
WIDE = {"hide": ["navigation"]}
LAB, HEADER = {"search": {"boost": 4}}, {"search": {"boost": 0.25}} # a search finds a lab before headers (Material 8.3)
TABLE = "| header | what it has |\n|---|---|"
# What `rewrite` looks at: blocks of code, titles, links, code in the text.
PART = re.compile(r"^```(?s:.*?)^```$|^ {4}.*$|^#.*$|!?\[(?:[^\]`]|`[^`]*`)*\]\([^)\s]+\)|`[^`]+`", re.M)


def read(path):
    return Path(path).read_text(encoding="utf-8", errors="replace")


def put(path, text, **settings):
    """A file; for a page, with settings for MkDocs in front."""
    (OUT / path).parent.mkdir(parents=True, exist_ok=True)
    (OUT / path).write_text(f"---\n{json.dumps(settings)}\n---\n" * bool(settings) + text, encoding="utf-8")


def relative(target, at):
    """A link from the page AT to TARGET, both as paths in the site."""
    path, mark, anchor = target.partition("#")
    return os.path.relpath(path, os.path.dirname(at) or ".") + mark + anchor


def listing(path):
    return "source/" + path.lstrip(".") + ".html"


def copied(path):
    if not (OUT / path).exists():
        (OUT / path).parent.mkdir(parents=True, exist_ok=True)
        (OUT / path).write_bytes(Path(path).read_bytes())
    return path


rows = [row.split("\t")[0] for row in read("minitorch/stages.tsv").splitlines()]
GIVEN = [row for row in rows if "/" not in row]
patterns = ("README.md", "labs/*/README.md", "docs/*.md", "docs/results/*.md")
pages = {path: read(path) for pattern in patterns for path in sorted(glob.glob(pattern))}
order = re.findall(r'#include "(.*?)"', read("minitorch/mt.h"))
found = [path for folder in GIVEN for path in sorted(glob.glob(f"minitorch/{folder}/**/*.h", recursive=True))]
headers = [path.removeprefix("minitorch/") for path in found if not re.search(r"_table\.h$|/tests/", path)]
contents = {header: api.read(f"minitorch/{header}") for header in sorted(headers, key=lambda h: h not in order)}
labs = [path for path in pages if path.startswith("labs/")]
sources = set()            # of which there are listings
entry = {}                 # name -> page and anchor: where it is defined, not where it is only announced
for header, (_, blocks) in contents.items():
    for block in blocks:
        for name in block.names:
            if name not in entry or "{" in block.code:
                entry[name] = f"api/{header}.md#{name}"
taught = {}                # function -> rows of MAP.md: step, unit, checks
for step, name, unit, checks in re.findall(r"^\| (\d\d\.\d+) \| `(\w+)` \| .*? \| (.*?) \| (.*?) \|$",
                                           pages.get("docs/MAP.md", ""), re.M):
    taught.setdefault(name, []).append((step, unit, checks))


def title(path):
    return re.search(r"^# (.*)", pages[path], re.M)[1]


def resolve(link, page, at):
    """Where a link of PAGE leads in the site, seen from the page AT."""
    if re.match(r"\w+:", link) or link.startswith("#") and page == at:
        return link
    path, mark, anchor = link.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    inside = path.removeprefix("minitorch/")
    if path == "docs/results":
        path = "docs/results/README.md"
    elif inside in contents:
        path = f"api/{inside}.md"
    elif os.path.isdir(path) and inside in GIVEN:
        path = f"api/index.md#{inside}"
    elif path not in pages and path.endswith((".svg", ".png", ".csv", ".json")) and os.path.isfile(path):
        path = copied(path)
    elif path not in pages and os.path.isfile(path):
        sources.add(path)
        path = listing(path)
    return relative(path + mark + anchor, at)


def rewrite(text, page, at):
    """Text of PAGE as it stands on the page AT of the site."""
    def part(match):
        old = match[0]
        if old.startswith("```"):
            return re.sub(r"^```(\w*).*", r"```\1", old, count=1)
        link = re.fullmatch(r"(!?\[.*\])\((\S+)\)", old, re.S)
        if link:
            to = resolve(link[2], page, at)
            return f"[{link[1]}({to})]({to}){{ .figure }}" if old.startswith("!") else f"{link[1]}({to})"
        name = re.fullmatch(r"`(\w+)(?:\(\))?`", old)
        if name and name[1] in entry:
            return f"[{old}]({relative(entry[name[1]], at)})"
        return old
    return PART.sub(part, text)


# ---- the API ------------------------------------------------------------------------------------------------------

def contract(text, names):
    """A comment as HTML: what is indented or aligned stays so; lines that were broken at 120 columns are joined."""
    lines, last = [], ""
    for line in text.split("\n"):
        if last and line[:1].strip() and len(f"{last} {line.split(' ')[0]}") > 116:
            lines[-1] += " " + line
        else:
            lines.append(line)
        last = line
    text = "\n".join(lines)
    if text.count(" -- ") == 1 and set(re.findall(r"\w+", text.split(" -- ")[0])) <= set(names):
        text = text.split(" -- ", 1)[1]      # the title has the names
    return f'<div class="contract">{html.escape(text, quote=False)}</div>\n'.replace("\n\n", "\n&nbsp;\n")


def block_lines(block, names, source, at):
    if block.section:
        yield "## " + re.sub(r"[*`<]", lambda c: "\\" + c[0], block.section) + "\n"
    if names:
        shown = [name for name in names if name.startswith("mt_")] or names
        head = ", ".join(f"`{name}`" for name in shown[:3]) + (" ..." if len(shown) > 3 else "")
        yield f"### {head} {{ #{names[0]} }}\n"
        yield "".join(f'<span id="{name}"></span>' for name in names[1:]) + "\n"
    if block.code:
        yield f"```c\n{block.code}\n```\n"
    if block.comment:
        yield contract(block.comment, block.names)
    about = [f"[line {block.line}]({source}#L-{block.line})"] if names else []
    for step, unit, checks in dict.fromkeys(row for name in names for row in taught.get(name, [])):
        handout = next((lab for lab in labs if lab.startswith(f"labs/{step[:2]}-")), "docs/MAP.md")
        about.append(f"[Lab {step}]({relative(handout, at)}): {rewrite(unit, 'docs/MAP.md', at)}; checks: {checks}")
    if about:
        yield " · ".join(about) + "\n{ .taught }\n"


def header_page(header):
    at, (intro, blocks) = f"api/{header}.md", contents[header]
    sources.add(f"minitorch/{header}")
    source = relative(listing(f"minitorch/{header}"), at)
    lines = [f"# `{header}`\n", f"[API]({relative('api/index.md', at)}) · [source]({source})\n{{ .line }}\n"]
    lines.append(contract(intro, re.findall(r"\w+", header)))
    seen = set()
    for block in blocks:
        lines += block_lines(block, [name for name in block.names if name not in seen], source, at)
        seen.update(block.names)
    put(at, "\n".join(lines), **WIDE, **HEADER)


def header_row(header):
    intro = re.sub(r"^[\w.]+ -- ", "", contents[header][0])
    first = re.split(r"\.\s|\n\n|:\n|\.$", intro, maxsplit=1)[0]
    return f"| [{header}]({header}.md) | {re.sub(r'[|*<`]', lambda c: f'&#{ord(c[0])};', ' '.join(first.split()))} |"


def index_page():
    lines = ["# API\n", "Every header of the given framework, with the contracts of its functions, made from the "
             "comments in the headers. [STYLE](../docs/STYLE.md) says how to read them, [MAP](../docs/MAP.md) which "
             "functions the labs teach.\n", "## In reading order\n", "`#include \"mt.h\"` includes these.\n"]
    for note, header in re.findall(r'^/\* ([^*]*?) \*/$|^#include "(.*?)"', read("minitorch/mt.h"), re.M):
        lines.append(f"\n{note}\n\n{TABLE}" if note else header_row(header))
    for folder in GIVEN:
        lines += [f"\n## {folder}\n\n{TABLE}"] + [header_row(h) for h in headers if h.startswith(folder + "/")]
    put("api/index.md", "\n".join(lines) + "\n")


# ---- listings, results, self-study --------------------------------------------------------------------------------

def source_page(path):
    lexer = pygments.lexers.get_lexer_by_name(LANGUAGES.get(os.path.splitext(path)[1], "text"), stripnl=False)
    code = pygments.highlight(read(path), lexer, HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True))
    home, style = relative("index.html", listing(path)), relative("source.css", listing(path))
    name = html.escape(path)
    put(listing(path), f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="{style}">'
        f'</head>\n<body><p><a href="{home}">minitorch</a> · {name}</p>\n{code}</body></html>\n')


def source_style():
    light, dark = (HtmlFormatter(style=style).get_style_defs(".highlight") for style in ("default", "native"))
    put("source.css", "body { font-family: sans-serif; margin: 1rem; color-scheme: light dark }\n"
        "pre { overflow-x: auto; font-size: .85rem }\npre a { text-decoration: none }\n:target { outline: 1px solid }\n"
        f"{light}\n@media (prefers-color-scheme: dark) {{\nbody {{ background: #202020; color: #ddd }}\n"
        f"a {{ color: #8ab4f8 }}\n{dark}\n}}\n")


def plots(at):
    """Every plot and table of docs/results/, newest first."""
    lines = ["\n## Plots and tables\n", "As the programs wrote them, newest first.\n"]
    files = sorted(glob.glob("docs/results/*.csv") + glob.glob("docs/results/*.svg"))
    stems = {os.path.splitext(os.path.basename(path))[0]: "" for path in files}
    for stem in sorted(stems, key=lambda stem: stem[:10], reverse=True):
        there = [stem + kind for kind in (".csv", ".svg") if f"docs/results/{stem}{kind}" in files]
        lines.append(f"### {stem[11:].replace('-', ' ')}, {stem[:10]}\n")
        lines.append(", ".join(f"[{file}]({resolve(file, at, at)})" for file in there) + "\n")
        if stem + ".svg" in there:
            lines.append(rewrite(f"![{stem}]({stem}.svg)\n", at, at))
    return "\n".join(lines)


def item(lab, word):
    """The item `- **word:** ...` at the top of a handout."""
    text = re.search(rf"^- \*\*{word}:\*\* (.*?)(?=\n- |\n\n)", pages[lab], re.M | re.S)
    return " ".join(text[1].split()) if text else "not stated"


def self_study(at):
    table, answers = "| lab | hours | steps | needs |\n|---|---|---|---|\n", ""
    for lab in labs:
        hours = re.match(r"about ([\d to]+) hours?", item(lab, "Time"))
        hours = hours[1].replace(" ", "&nbsp;") if hours else item(lab, "Time")
        table += f"| [{title(lab)}]({relative(lab, at)}) | {hours} | {item(lab, 'Steps')} | {rewrite(item(lab, 'Needs'), lab, at)} |\n"
        page = f"solutions/{lab.split('/')[1]}/ANSWERS.md"
        if os.path.exists(page):
            text = rewrite(read(page).split("\n", 1)[1].strip("\n"), page, at)
            text = text.replace("For instructors. ", "").replace("\n#", "\n##")
            answers += f'??? note "{title(lab)}"\n\n' + re.sub(r"^(?=.)", "    ", text, flags=re.M) + "\n\n"
    answers = answers or "This copy of the repository has no `solutions/`."
    return rewrite(pages[at], at, at).replace("<!-- labs -->", table).replace("<!-- answers -->", answers)


def navigation():
    left = {os.path.basename(path)[:-3]: path for path in pages if re.fullmatch(r"docs/[^/]*\.md", path)}

    def take(*names):
        return [left.pop(name) for name in names if name in left]
    study, map_and_words = take("SELF_STUDY"), take("MAP", "NAMES", "GLOSSARY", "STYLE")
    claims, instructors = take("CLAIMS"), take("INSTRUCTORS", "LECTURES", "GRADING", "SECURITY")
    guides = take("TOUR", "OWN_PROGRAM", "DEBUGGING", "DIAGNOSTICS", "EMULATOR", "OPTIONS", "PROFILING", "STRATEGY")
    results = sorted((p for p in pages if p.startswith("docs/results/")), key=lambda p: not p.endswith("README.md"))
    tabs = {"Start": ["README.md"], "Labs": labs, "Self-study": study, "Guides": guides + list(left.values()),
            "Reference": ["api/index.md"] + map_and_words, "Results": claims + results, "Instructors": instructors}
    return [{tab: tab_pages} for tab, tab_pages in tabs.items() if tab_pages]


for path in pages:
    text = self_study(path) if path == "docs/SELF_STUDY.md" else rewrite(pages[path], path, path)
    text += plots(path) if path == "docs/results/README.md" else ""
    put(path, text, **(WIDE if path in ALONE + TABLES else LAB if path in labs else {}))
for header in headers:
    header_page(header)
index_page()
for path in sorted(sources):
    source_page(path)
source_style()
put("site.css", read(HERE / "site.css"))
settings = {"INHERIT": str(HERE.parent / "mkdocs.yml"), "docs_dir": "pages", "site_dir": "site", "nav": navigation()}
(OUT.parent / "mkdocs.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")
