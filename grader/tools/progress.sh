#!/usr/bin/env bash
# progress.sh BUILD -- make progress: which labs pass with the units in labs/, how many lines of them the student wrote, and what the framework can do with them. Then build/progress/table has a line for each lab: name, state, lines written, lines asked for.
#
# A result is kept in build/progress and shown again as long as the contents of all that it depends on are the same: the lab's units and lab.json, the course file, the grader, what it links and the emulator. One with
# an INCONCLUSIVE or ERROR row is not kept. A lab passes if no row failed or is TODO; missing points of a bar and an INCONCLUSIVE race do not matter. The exit status is 0 if grading worked: unfinished labs are
# not an error. GRADE=path and ROOT=dir are for the tests.
#
# A line written is a line of code that the skeleton lacks, or for a unit begun from scratch its empty form: the one of which more is left. Neither comments, blank lines, indentation nor MT_TODO count. The
# handout says how many lines of the reference stand in their place.
set -euo pipefail
build=$(realpath -m "${1:?usage: progress.sh BUILD}")
grade=${GRADE:-$build/bin/grade}
tools=$(realpath "$(dirname "$0")")
cd "${ROOT:-$tools/../..}"
shopt -s nullglob

# of LAB KEY: a text of its lab.json.
of() { sed -nE "s/^ *\"$2\": *\"(.*)\",?\$/\1/p" "labs/$1/lab.json" | sed 's/\\"/"/g'; }

# digest FILE...: of their names and contents; a file that is not there counts as such.
digest() { { printf '%s\n' "$@" && sha256sum "$@" 2>/dev/null || true; } | sha256sum | cut -d' ' -f1; }
units() { echo labs/"$1"/*.c labs/"$1"/*.cu; }
later=$(for lab in $(cat "$build/later" 2>/dev/null); do units "$lab"; done) # units in labs/ that other labs are graded with
# shellcheck disable=SC2086
machine=$(digest "$grade" "$build"/{libgiven.a,defined,made-for} "$build"/worker/* "$build"/{units,counted}/*/*.o "$build"/emu/{translate,libcuemu.a} course.json $later)
# shellcheck disable=SC2046
key_of() { echo "$machine $(digest $(units "$1") "labs/$1/lab.json")"; }

# code FILE: its lines of code, one space for any blanks.
code() {
    perl -0777 -pe 's{("(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27)|//[^\n]*|/\*.*?\*/}{$1 // ""}gse;
        s/^.*\bMT_TODO\(.*$//gm; s/^[ \t]+|[ \t]+$//gm; s/[ \t]+/ /g; s/^\n+//gm' "$1"
}
beside() { diff "$1" "$2" | grep -c '^>' || true; }
lacks() { diff "$1" "$2" | grep -c '^<' || true; }
# written LAB: the number of lines.
written() {
    local unit name lines=0
    for unit in $(units "$1"); do
        name=${unit##*/}
        "$tools/skeleton.sh" "$build" "$1/$name" >"$work/skeleton" 2>/dev/null || continue # a file that is no unit
        code "$work/skeleton" >"$work/base" && code "$unit" >"$work/unit"
        if [[ $unit == *.c ]] && [ "$(lacks "$work/base" "$work/unit")" -gt 0 ]; then
            awk -f "$tools/scratch.awk" "$work/skeleton" >"$work/scratch" && code "$work/scratch" >"$work/empty"
            [ "$(lacks "$work/empty" "$work/unit")" -ge "$(lacks "$work/base" "$work/unit")" ] || mv "$work/empty" "$work/base"
        fi
        lines=$((lines + $(beside "$work/base" "$work/unit")))
    done
    echo $lines
}
asked() { perl -0777 -ne 'print $1 // 0 if /of\s+which\s+you\s+write\s+(\d+)/ || 1' "labs/$1/README.md" 2>/dev/null || echo 0; }

# graded LAB: its last line, of the grade before if nothing has changed since.
graded() {
    local kept=build/progress/$1 key last
    key=$(key_of "$1")
    if [ "$(head -n 1 "$kept" 2>/dev/null)" = "$key" ]; then sed -n 2p "$kept" && return; fi
    [ -t 1 ] && printf '  %-20s grading ...\r' "$1" >&2
    last=$("$grade" --lab "${1%%-*}" --build "$build" --report "build/report/progress/${1%%-*}" 2>&1 | tail -n 1) || true
    mkdir -p build/progress && rm -f "$kept"
    if [[ $last =~ ^grade\ [0-9]+:\ [0-9.]+/[0-9.]+ ]] && [[ ! $last =~ INCONCLUSIVE|ERROR ]]; then printf '%s\n' "$key" "$last" >"$kept"; fi
    echo "$last"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
labs=(labs/*/lab.json)
passing=() yours=0 all=0 table=
for info in "${labs[@]}"; do
    lab=$(basename "$(dirname "$info")") number=${lab%%-*} points='' others='' remark=
    out=$(graded "$lab")
    last=$(grep -E "^grade $number: " <<<"$out") || true
    read -r _ _ points others <<<"$last" || true
    lines=$(written "$lab") most=$(asked "$lab")
    yours=$((yours + lines)) all=$((all + most))
    if [ -z "$last" ] || [[ $points == -/* ]]; then
        state="could not be graded: $out"
    elif [[ $others =~ ^(INCONCLUSIVE=[0-9]+)?\ ?(REVIEW=[0-9]+)?\ ?(SKIPPED=[0-9]+)?$ ]] && [[ $points != 0/* ]]; then
        state=passes && passing+=("$lab")
        [[ $others != *INCONCLUSIVE* ]] || remark=", but rows that measure are not known: the machine is busy"
    elif [[ $points == 0/* ]] && [[ $others =~ ^TODO=[0-9]+$ ]]; then
        state="not begun"
    else
        state="begun: $others"
    fi
    printf '  %-20s %9s  %4d lines (reference: %3d)  %s\n' "$lab" "${points:--}" "$lines" "$most" "$state$remark"
    table+="$lab"$'\t'"$state"$'\t'"$lines"$'\t'"$most"$'\n'
done
printf '  %-20s %9s  %4d lines (reference: %d)\n\n' "in all" "" "$yours" "$all"
mkdir -p build/progress && printf '%s' "$table" >build/progress/table
if [ ${#passing[@]} -gt 0 ]; then
    echo "Your framework can:"
    for lab in "${passing[@]}"; do printf '  - %-58s %s\n' "$(of "$lab" gives)" "$(of "$lab" try)"; done
else
    echo "No lab passes yet. Start with: make lab LAB=00"
fi
echo "progress: ${#passing[@]}/${#labs[@]} labs"
