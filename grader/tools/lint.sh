#!/usr/bin/env bash
# lint.sh -- make lint: budgets, floors, left-overs, layout. Every complaint is `file:line: what, what to do`.
#
#   budgets   .c 400 lines, .cu 350, header 250, function 60; exceptions with their reasons: grader/tools/lint-exceptions
#   floors    a file includes from its own floor or a lower one (docs/STYLE.md)
#   left-overs  lines over 120 columns, tabs, trailing blanks, TODO and FIXME comments, pipes into grep -q
#   layout    that of clang-format 19, where it is installed; other versions lay out some lines otherwise
# Not checked: labs/ (generated, or a student's work) and grader/attacks/. ROOT=dir lints another tree.
set -euo pipefail
cd "${ROOT:-$(dirname "$0")/../..}"
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

# The floor of a path of the tree or of an include; data, text, ckpt, dist and plan must not include each other.
floors() {
    awk '
    BEGIN {
        split("core 0 cli 1 prof 1 cuda 2 emulator 2 ops 3 autograd 3 nn 4 optim 4 memory 5 data 6 text 6 ckpt 6 " \
              "dist 6 plan 6 models 7 testing 7 search 8 train 8 apps 9 bench 9 tests 9", pair, " ")
        for (i = 1; i in pair; i += 2) floor[pair[i]] = pair[i + 1]
        # A unit is on the floor of its lab, or of the header of its own name when that is higher.
        split("00 0 01 2 02 2 03 3 04 4 05 6 06 2 07 2 08 7 09 5 10 5 11 2 12 6 13 6 14 7 15 6", pair, " ")
        for (i = 1; i in pair; i += 2) lab[pair[i]] = pair[i + 1]
    }
    function folder(path) { return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "" }
    function bare(path) { sub(/.*\//, "", path); sub(/\.[a-z]*$/, "", path); return path }
    function floor_of(path) {
        if (path ~ /^optim\/(updates|updates_cuda|clip|scaler|master)\.h$/) return 2 # kernels, declared beside the optimizers
        if (path == "cuda/table.c") return floor["optim"]               # puts all of them into the tables
        if (path ~ /^ops\/(kernels|kernels_cuda|kernels_given|kernels_gpt2|kernels_16bit|kernels_fused|tables|nd|heads|matmul|matmul_cuda|matmul_parts|vec|vecmath)\.[ch]$/) return 2 # kernels, declared beside the ops
        if (path ~ /^ops\/policy\.[ch]$/) return 0 # an extension point, implemented by autocast
        if (path !~ /\//) return 9                                        # mt.h, the umbrella
        return folder(path) in floor ? floor[folder(path)] : -1
    }
    FILENAME ~ /^grader\// { nextfile }
    FILENAME ~ /^minitorch\/emulator\// { nextfile } # independent of the framework; its headers are arranged as in CUDA
    FNR == 1 {
        own = FILENAME
        if (sub(/^minitorch\//, "", own)) { mine = floor_of(own); own = folder(own) }
        else { sub(/^solutions\//, "", own); mine = lab[substr(own, 1, 2)]; own = own ~ /^12-/ ? "ckpt" : own ~ /^13-/ ? "dist" : folder(own) }
    }
    /^ *# *include *"/ {
        split($0, part, "\""); path = part[2]
        dir = FILENAME; sub(/\/[^\/]*$/, "", dir)
        if (path !~ /\// && path != "mt.h") next # a neighbour
        theirs = floor_of(path)
        if (FILENAME ~ /^solutions/ && bare(path) == bare(FILENAME)) { mine = theirs > mine ? theirs : mine; next }
        if (theirs < 0)
            printf "%s:%d: includes %s, name headers from minitorch/ on (\"core/base.h\")\n", FILENAME, FNR, path
        else if (theirs > mine)
            printf "%s:%d: includes %s, which is a floor above: move what it needs down\n", FILENAME, FNR, path
        else if (mine == 6 && theirs == 6 && folder(path) != own)
            printf "%s:%d: includes %s: %s and %s must not include each other\n", FILENAME, FNR, path, own, folder(path)
    }' "${sources[@]}"
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
{ floors && leftovers && layout; } >>"$complaints"
cat "$complaints"
lines=$(cat "${sources[@]}" | wc -l)
echo "lint: ${#sources[@]} files, $lines lines, $statistics; $(wc -l <"$complaints") complaints"
[ ! -s "$complaints" ]
