#!/usr/bin/env bash
# lint.sh -- make lint: budgets, stages, left-overs, tables, layout. Every complaint is `file:line: what, what to do`.
#
#   budgets   .c 400 lines, .cu 350, header 250, function 60; exceptions with their reasons: grader/tools/lint-exceptions
#   stages    a file includes from its own stage or an earlier one (minitorch/stages.tsv)
#   left-overs  lines over 120 columns, tabs, trailing blanks, TODO and FIXME comments, pipes into grep -q
#   pointers  an op's top comment says where its kernels are, a unit named in a comment exists,
#             and a given file with the name of a unit says so
#   tables    each entry of grader/mutants/ and grader/variants/ applies to its unit (table.awk)
#   layout    that of clang-format 19, where it is installed; other versions lay out some lines otherwise
# Not checked: labs/ (generated, or a student's work) and grader/attacks/. ROOT=dir lints another tree.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
cd "${ROOT:-$here/../..}"
shopt -s nullglob
mapfile -t sources < <(find minitorch solutions grader -path grader/attacks -prune -o -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print 2>/dev/null | sort)
mapfile -t scripts < <(find . -path ./build -prune -o -path ./labs -prune -o -path ./grader/attacks -prune -o -type f \
    -name '*.sh' -printf '%P\n' | sort)
complaints=$(mktemp)
trap 'rm -f "$complaints"' EXIT
[ ${#sources[@]} -gt 0 ] || { echo "lint: no sources in $PWD" >&2 && exit 2; }

# A function is the text from a line `{` to a line `}` in column 0; its name is the word before the first `(`.
budgets() {
    local exceptions=grader/tools/lint-exceptions
    [ -e $exceptions ] || exceptions=/dev/null
    awk -v list=$exceptions '
    function close_file() {
        if (file == "") return
        limit = file ~ /\.c$/ ? 400 : file ~ /\.cuh?$/ ? 350 : 250
        over(file, FNR_last, FNR_last, limit, "the file", "it holds more than one idea")
    }
    function over(key, line, lines, limit, what, advice) {
        if (lines <= limit) return
        if (key in reason) { used[key] = 1; return }
        printf "%s:%d: %s has %d lines (at most %d), split it: %s\n", file, line, what, lines, limit, advice
    }
    FILENAME == list && list != "/dev/null" {
        if ($0 ~ /^#/ || NF == 0) next
        if ($1 ~ /:.*\//) next # of an include, see stages
        if (NF < 3) printf "%s:%d: an exception without a reason, write `FILE[:FUNCTION]  why`\n", list, FNR
        reason[$1] = 1; at[$1] = FNR
        next
    }
    FNR == 1 { close_file(); file = FILENAME; start = 0; name = "" }
    { FNR_last = FNR }
    /^[A-Za-z_].*\(/ {
        text = $0
        gsub(/(__attribute__ *\(\([^)]*(\([^)]*\))?[^)]*\)\)|M[TG]_[A-Z]+\([^)]*\)) */, "", text)
        if (match(text, /[A-Za-z_0-9]+\(/)) { name = substr(text, RSTART, RLENGTH - 1); head = FNR }
        if (name == "Test" || name == "ParameterizedTest") name = text
    }
    /^\{$/ { start = head ? head : FNR }
    /^\}/ && start {
        lines = FNR - start + 1
        over(file ":" name, start, lines, 60, name, "one function does one thing")
        length_of[functions++] = lines
        start = head = 0
    }
    END {
        close_file()
        for (key in at) if (!(key in used))
            printf "%s:%d: %s is not over the limit any more, remove the line\n", list, at[key], key
        for (i = 0; i < functions; i++) count[length_of[i]]++
        for (median = 0; below * 2 < functions; median++) below += count[median + 1]
        printf "%d functions, median %d lines\n", functions, median > "/dev/stderr"
    }' "$exceptions" "${sources[@]}"
}

# Each folder of minitorch/ is a row of minitorch/stages.tsv: a file includes from its own row or an earlier one, a unit from the
# rows up to its lab. Rows of a folder that is part of another one (emulator/run) are in order, too. Programs, tests and
# the headers of the emulator, which are arranged as in CUDA, include what they need.
stages() {
    local table=minitorch/stages.tsv
    awk -F'\t' -v table=$table '
    # The row of a path below minitorch/: that of its folder, or a later one that has the file itself, with * for any letters.
    function row_of(path, i) {
        for (i = files; i > 0; i--) if (path ~ pattern[i]) return file[i]
        return folder(path)
    }
    function folder(path) { return substr(path, 1, index(path, "/") - 1) }
    FILENAME == table {
        order[$1] = ++rows; lab[$1] = $2
        if ($1 ~ /\//) { file[++files] = $1; pattern[files] = "^" $1 "$"; gsub(/\./, "[.]", pattern[files]); gsub(/\*/, "[^/]*", pattern[files]) }
        next
    }
    FILENAME == "grader/tools/lint-exceptions" { sub(/ .*/, ""); excepted[$0] = 1; next }
    FILENAME ~ /^(grader|minitorch\/(emulator\/(include|tests)|apps|bench|tests|testing))\// { nextfile }
    FNR == 1 {
        own = FILENAME
        unit = sub(/^solutions\//, "", own)
        sub(/^minitorch\//, "", own)
        mine = unit ? substr(own, 1, 2) : row_of(own)
        if (own !~ /\//) nextfile # mt.h, the umbrella
        if (!unit && !(mine in order)) {
            printf "%s:1: %s/ belongs to no lab, name it in %s\n", FILENAME, mine, table
            nextfile
        }
    }
    /^ *# *include *"/ {
        split($0, part, "\""); path = part[2]
        if (path !~ /\// && path != "mt.h") next # a neighbour
        theirs = row_of(path)
        if (path != "mt.h" && !(theirs in order))
            printf "%s:%d: includes %s, name headers from minitorch/ on (\"core/base.h\")\n", FILENAME, FNR, path
        else if ((path == "mt.h" || (unit ? lab[theirs] > mine : order[theirs] > order[mine] && !(lab[theirs] == lab[mine] && folder(path) == folder(own) && theirs !~ /\/.*\//))) && !((FILENAME ":" path) in excepted))
            printf "%s:%d: includes %s, which belongs to a later stage (%s): let the earlier one offer what it needs\n", FILENAME, FNR, path, table
    }' $(ls $table grader/tools/lint-exceptions 2>/dev/null) "${sources[@]}"
}

leftovers() {
    LC_ALL=C.UTF-8 grep -nP '^.{121,}' "${sources[@]}" /dev/null |
        sed -E 's/^([^:]*:[0-9]+):.*/\1: a line of more than 120 columns, break it/' || true
    # grep ends with 1 if it finds nothing, which is the good case.
    grep -nP '\t' "${sources[@]}" /dev/null | sed -E 's/^([^:]*:[0-9]+):.*/\1: a tab, use spaces/' || true
    grep -nP '[ \t\r]+$' "${sources[@]}" "${scripts[@]}" /dev/null |
        sed -E 's/^([^:]*:[0-9]+):.*/\1: blanks at the end of the line, remove them/' || true
    # Under pipefail a writer that is ended by SIGPIPE, since grep -q has seen enough, makes the condition false now and then.
    grep -nP '[^|]\|\s*grep\s+(-[a-zA-Z]+\s+)*-[a-zA-Z]*q' "${scripts[@]}" /dev/null |
        sed -E 's/^([^:]*:[0-9]+):.*/\1: a pipe into grep -q, whose writer SIGPIPE may end: use <<<"$(...)"/' || true
    grep -nP '^\s*(until|while) .*; do sleep [0-9.]+; done$' "${scripts[@]}" /dev/null | grep -v 'kill -0' |
        sed -E 's/^([^:]*:[0-9]+):.*/\1: a wait without an end: use await (.ci\/check.bash), which ends with the program/' || true
    grep -nP '(/\*|//|^\s*\*|^\s*#)\s*(TODO|FIXME|XXX|HACK)\b|\bFIXME\b' "${sources[@]}" "${scripts[@]}" /dev/null |
        grep -vE '^grader/(tools/(strip\.c|lint\.sh)|tests/test_(strip|skeletons|lint)\.sh):' |
        sed -E 's/^([^:]*:[0-9]+):.*/\1: a note of unfinished work, finish it or open an issue/' || true
}

pointers() {
    local file line words
    grep -lE '^(static const mt_op |MT_UNARY_OP)' $(printf '%s\n' "${sources[@]}" | grep '^minitorch/.*\.c$') /dev/null | xargs -r grep -L '^ \* Kernels: ' |
        sed 's/$/:1: an op without a line "Kernels:" in its top comment, say where they are as ops\/softmax.c does/' || true
    { grep -noE '\bunit [a-z0-9_]+\.cu? of lab [0-9]{2}' "${sources[@]}" /dev/null || true; } | while IFS=: read -r file line words; do
        read -ra words <<<"$words"
        compgen -G "*/${words[4]}-*/${words[1]}" >/dev/null || echo "$file:$line: lab ${words[4]} has no unit ${words[1]}"
    done
    for file in $(printf '%s\n' "${sources[@]}" | grep -E '^minitorch/[a-z]+/[a-z0-9_]+\.cu?$'); do # a given file beside a unit of this name
        for words in solutions/*/"${file##*/}"; do
            line=$(awk -F'\t' -v folder="$(cut -d/ -f2 <<<"$file")" '$1 == folder { print $2 }' minitorch/stages.tsv)
            [[ ${words:10:2} > $line ]] || sed '/\*\//q' "$file" | grep -E "lab ${words:10:2}\b" >/dev/null ||
                echo "$file:1: named as a unit of lab ${words:10:2}, say in its top comment what that one has"
        done
    done
}

tables() {
    local table
    for table in grader/{mutants,variants}/[0-9][0-9].txt; do
        awk -v units="$(echo solutions/"$(basename "$table" .txt)"-*)" -f "$here/table.awk" "$table" 2>&1 || true
    done
}

layout() {
    if command -v clang-format-19 >/dev/null; then
        clang-format-19 --dry-run "${sources[@]}" 2>&1 |
            sed -nE 's/^([^:]*:[0-9]+):[0-9]+: (warning|error): code should be.*/\1: layout, run: clang-format-19 -i FILE/p' |
            sort -u -t: -k1,1
    else
        echo "lint: layout not checked: no clang-format-19 (make deps)" >&2
    fi
}

statistics=$({ budgets >"$complaints"; } 2>&1)
{ stages && leftovers && pointers && tables && layout; } >>"$complaints"
cat "$complaints"
lines=$(cat "${sources[@]}" | wc -l)
echo "lint: ${#sources[@]} files, $lines lines, $statistics; $(wc -l <"$complaints") complaints"
[ ! -s "$complaints" ]
