# table.awk -- applies the tables of mutants and variants, grader/mutants/NN.txt and grader/variants/NN.txt, to the units.
#
#   awk -v units=solutions/NN-name -v out=FOLDER -f grader/tools/table.awk grader/mutants/NN.txt
#
# writes FOLDER/NAME/UNIT, the unit with that change, for each entry of the table. It prints a line for each: name, unit, row,
# words, flags, line of the head, and what is wrong, separated by \037; an entry that is wrong is not written. Without
# `out` it prints only what is wrong. Exit status 1: a line of the table belongs to no entry, which stderr says.
#
# An entry is a head, then the lines that it changes, up to an empty line:
#
#   softmax-sums-in-f32 | softmax.c | 02.6 softmax: long rows | a hint
#   -    double sum = 0;
#   +    float sum = 0;
#   @2/3
#   -        sum += x[i];
#   @
#    #include <math.h>
#   +#include <stdlib.h>
#
# The head: name, unit, row (of a mutant: the step and words of the name of the row that must reject it; of a variant: the
# step whose points it must keep), words (of a mutant, if any: the text of that row must contain them; of a variant: why it is
# right). A last field `needs: avx512_bf16 sse4a` names flags of the processor (/proc/cpuinfo; only AMD's have sse4a)
# without which no row rejects the mutant; `needs: nvcc` stands for a row that says what nvcc makes of a unit. A head that
# ends in ` \` continues in the next line. `#` begins a comment.
#
# Lines begin as in a diff: `-` is a line of the unit that goes, `+` one that comes, and a blank one that stays, which only
# an insertion needs, beside it. Blanks behind that sign belong to the line. `@` begins a further block. The lines of a
# block that are in the unit must be there together, at one place: `@2/3` says that there are three, and means the second.

BEGIN { FS = "\n"; where = "-"; name = "" }

{ line = FILENAME ":" FNR }
continued { sub(/^ +/, ""); head = head $0; take_head(); next }
/^$/ { end_entry(); next }
/^#/ { next }
/^[-+ @]/ {
    if (name == "") complain("this line belongs to no entry: an entry begins with its head, and ends with an empty line")
    else if (/^@/) begin_block($0)
    else add_line(substr($0, 1, 1), substr($0, 2))
    next
}
{ end_entry(); head = $0; head_line = FNR; take_head() }

END {
    if (continued) complain("the head does not end")
    end_entry()
    write_all()
    exit failed
}

function complain(what) { print line ": " what > "/dev/stderr"; failed = 1 }

# wrong(LINE, WHAT): of this entry; the first counts.
function wrong(at, what) { if (error == "") error = FILENAME ":" at ": " name ": " what }

function take_head(    field, n, i) {
    continued = sub(/ \\$/, " ", head)
    if (continued) return
    n = split(head, field, / +\| +/)
    name = field[1]; unit = field[2]; row = field[3]; words = ""; flags = ""; error = ""; blocks = 0
    for (i = 4; i <= n; i++)
        if (sub(/^needs: +/, "", field[i])) flags = field[i]
        else if (words == "") words = field[i]
        else row = ""
    if (name !~ /^[a-z0-9][a-z0-9-]*$/ || unit !~ /^[A-Za-z0-9_]+\.cu?$/ || row !~ /^[0-9][0-9]\.[0-9]+( |$)/) {
        complain("a head is: name | unit.c | 02.6 softmax: large logits | words of its text; the last field may be missing")
        name = "wrong" # so that its lines are not complained of, too
    } else if (name in known) {
        complain(name " is in line " known[name] ", too")
    }
    known[name] = head_line
    begin_block("@")
}

# begin_block(SIGN): `@` or `@k/n`. Of block b: old[b, i], new[b, i] with their numbers, and at[b], its line in the table.
function begin_block(sign,    part) {
    if (blocks && !olds[blocks] && !news[blocks]) blocks-- # `@k/n` is for the first block, too
    at[++blocks] = FNR
    olds[blocks] = news[blocks] = 0
    which[blocks] = of[blocks] = 1
    if (sign == "@") return
    split(substr(sign, 2), part, "/")
    which[blocks] = part[1] + 0
    of[blocks] = part[2] + 0
    if (sign !~ /^@[0-9]+\/[0-9]+$/ || which[blocks] < 1 || which[blocks] > of[blocks])
        wrong(FNR, "write `@`, or `@2/3` for the second of three places")
}

function add_line(sign, text) {
    if (!olds[blocks] && !news[blocks]) at[blocks] = FNR
    if (sign != "+") old[blocks, ++olds[blocks]] = text
    if (sign != "-") new[blocks, ++news[blocks]] = text
}

# read_unit(): text[unit, i], lines[unit], and where each text is in it, as " 3 17".
function read_unit(    path, got) {
    if (unit in lines) return
    path = units "/" unit
    lines[unit] = 0
    while ((got = (getline got_line < path)) > 0) {
        text[unit, ++lines[unit]] = got_line
        places[unit, got_line] = places[unit, got_line] " " lines[unit]
    }
    close(path)
}

# find(BLOCK): the line of the unit where the block's old lines begin; 0: not as often as the block says.
function find(b,    candidate, n, i, k, found, at_line) {
    n = split(places[unit, old[b, 1]], candidate, " ")
    for (i = 1; i <= n; i++) {
        for (k = 2; k <= olds[b] && text[unit, candidate[i] + k - 1] == old[b, k]; k++) ;
        if (k <= olds[b] || candidate[i] + olds[b] - 1 > lines[unit]) continue
        if (++found == which[b]) at_line = candidate[i]
    }
    if (found == of[b] && at_line) return at_line
    wrong(at[b], units "/" unit " has this " found + 0 " times, not " of[b] ": " old[b, 1])
    return 0
}

# end_entry(): keeps what the unit becomes, in made[].
function end_entry(    b, i, begins, result, start, block_at) {
    if (name == "") return
    read_unit()
    if (!lines[unit]) wrong(head_line, "there is no " units "/" unit)
    if (!olds[blocks] && !news[blocks]) wrong(at[blocks], "a block without lines")
    for (b = 1; b <= blocks && error == ""; b++) {
        if (!olds[b]) { wrong(at[b], "an insertion needs the line before or behind it, with a blank as its sign"); break }
        if (!(start = find(b))) break
        for (i = 0; i < olds[b]; i++) {
            if (begins[start + i]) wrong(at[b], "another block changes this, too: " old[b, 1])
            begins[start + i] = -1
        }
        begins[start] = b
    }
    for (i = 1; i <= lines[unit] && error == ""; i++) {
        if (!begins[i]) result = result text[unit, i] "\n"
        if (begins[i] <= 0) continue
        b = begins[i]
        for (block_at = 1; block_at <= news[b]; block_at++) result = result new[b, block_at] "\n"
    }
    if (error == "" && result == whole()) wrong(head_line, "it changes nothing")
    count++
    entry[count] = name; file[count] = unit; made[count] = result; errors[count] = error
    said[count] = name "\037" unit "\037" row "\037" words "\037" flags "\037" head_line "\037" error
    name = ""
}

function whole(    i, result) {
    if (unit in all) return all[unit]
    for (i = 1; i <= lines[unit]; i++) result = result text[unit, i] "\n"
    return all[unit] = result
}

function write_all(    i, path, make) {
    make = "xargs mkdir -p"
    for (i = 1; i <= count; i++)
        if (out == "") { if (errors[i] != "") print errors[i] }
        else print "\"" out "/" entry[i] "\"" | make
    close(make)
    for (i = 1; i <= count && out != ""; i++) {
        path = out "/" entry[i] "/" file[i]
        if (errors[i] == "") { printf "%s", made[i] > path; close(path) }
        print said[i]
    }
}
