"""Reads a header: its first comment, sections, and blocks of a comment with the declarations below it, as clang-format
and docs/STYLE.md shape them. Bodies of functions and lines of `#if` and `#include` are left out."""
import re


class Block:
    """line: where it begins; section: the title if it begins one; names: what the code declares."""

    def __init__(self, line):
        self.line, self.section, self.comment, self.code, self.names = line, "", "", "", []


def words(comment):
    """The text of a comment, without its stars."""
    lines = [re.sub(r"^ ?\* ?", "", line).rstrip() for line in comment.strip()[2:-2].split("\n")]
    return "\n".join(lines).strip()


def declared(code):
    """The names that these declarations declare, in order; of an enum also its constants."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", code, flags=re.S)
    names = re.findall(r"^#define (\w+)", code, re.M)
    code = re.sub(r"^#(?:.*\\\n)*.*", "", code, flags=re.M)
    enums = re.findall(r"enum\b[^{;]*\{([^}]*)\}", code)
    constants = [name for body in enums for name in re.findall(r"\bMT_\w+", body)]
    while re.search(r"\{[^{}]*\}", code):
        code = re.sub(r"\{[^{}]*\}", "@", code)
    for declaration in code.split(";"):
        attributes = r"\b(MT_PRINTF|__typeof__)\([^)]*\)|__attribute__\s*\(\(.*?\)\)|=.*"
        declaration = re.sub(attributes, "", declaration, flags=re.S).strip()
        call = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(|(\w+)\s*\(", declaration)
        if call:
            names.append(call[1] or call[2])
        elif declaration:
            after = re.sub(r"\[[^\]]*\]", "", declaration.split("@")[-1]).strip()
            names += re.findall(r"(\w+)\s*(?=,|$)", after) or re.findall(r"(\w+)\s*@", declaration)
    return [name for name in dict.fromkeys(names + constants) if re.match("mt_|MT_", name)]


def without_bodies(code):
    code = re.sub(r"\n\{\n(?:.*\n)*?\}(?=\n|$)", ";", code)
    return re.sub(r"\) \{.*\}$", ");", code, flags=re.M)


def opened(line):
    """By how much a line goes deeper into braces."""
    if line.startswith("#"):
        return 0
    plain = re.sub(r"/\*.*?\*/|//.*|\"(\\.|[^\"])*\"|'(\\.|[^'])+'", "", line)
    return plain.count("{") - plain.count("}")


def read(path):
    """(the text of the first comment, the blocks in order)."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    intro, blocks, block, depth, i = None, [], None, 0, 0
    while i < len(lines):
        start, line = i, lines[i]
        i += 1
        if depth == 0 and line.startswith("/*"):
            while "*/" not in lines[i - 1] and i < len(lines):
                i += 1
            text = words("\n".join(lines[start:i]))
            if intro is None:
                intro = text
            elif not text.startswith("clang-format"):
                block = Block(start + 1)
                blocks.append(block)
                title = re.match(r"-{3,}\s*(.*?)\s*-{3,}\s*(.*)", text, re.S)
                block.section, block.comment = title.groups() if title else ("", text)
            continue
        while line.startswith("#") and lines[i - 1].endswith("\\"):
            line += "\n" + lines[i]
            i += 1
        if depth == 0 and not line.strip():
            block = None
        elif depth or not re.match(r"MT_C_(BEGIN|END)|#(?!define)", line):
            if block is None:
                block = Block(start + 1)
                blocks.append(block)
            depth += opened(line)
            block.code += line + "\n"
    for block in blocks:
        block.code = without_bodies(block.code.strip("\n"))
        block.names = declared(block.code)
    return intro or "", [b for b in blocks if b.section or b.comment or b.code]
