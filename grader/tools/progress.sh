#!/usr/bin/env bash
# progress.sh BUILD -- make progress: which labs pass with the units in labs/, how many lines they have beside their skeletons, and what the framework can do with them. A result is kept in build/progress until a unit or the grader changes. A lab passes if no row failed or is TODO; missing points of a bar and an INCONCLUSIVE race do not matter. The exit status is 0 if grading worked: unfinished labs are not an error. GRADE=path and ROOT=dir are for the tests.
set -euo pipefail
build=$(realpath -m "${1:?usage: progress.sh BUILD}")
grade=${GRADE:-$build/bin/grade}
cd "${ROOT:-$(dirname "$0")/../..}"
shopt -s nullglob

# of LAB KEY: a text of its lab.json.
of() { sed -nE "s/^ *\"$2\": *\"(.*)\",?\$/\1/p" "labs/$1/lab.json" | sed 's/\\"/"/g'; }

# What a result depends on: the units, the grader and what it links.
key_of() { cat "labs/$1"/*.c "labs/$1"/*.cu "labs/$1/lab.json" "$grade" "$build/libgiven.a" "$build/defined" 2>/dev/null | sha256sum | cut -c1-64; }

# The lines of code in files, without comments and blank lines.
code() { perl -0777 -ne 's{("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/}{$1 // ""}gse; print s/^.*\S.*$//gm + 0, "\n"' "$@" | awk '{ n += $1 } END { print n + 0 }'; }

# Lines of a lab's units that its skeletons do not have; nothing in a release, which has no longer all skeletons.
written() {
    local unit
    [ -d solutions ] && [ -x "$build/bin/strip" ] || return 0
    for unit in "labs/$1"/*.c "labs/$1"/*.cu; do
        "$build/bin/strip" "solutions/$1/${unit##*/}" - 2>/dev/null | diff - "$unit" | sed -n 's/^> //p' >"$work/${unit##*/}" || true
    done
    code "$work"/*.c*
    rm -f "$work"/*.c*
}
# graded LAB: its last line, of the grade before if nothing has changed since.
graded() {
    local kept=build/progress/$1 key last
    key=$(key_of "$1")
    if [ "$(head -n 1 "$kept" 2>/dev/null)" = "$key" ]; then sed -n 2p "$kept" && return; fi
    [ -t 1 ] && printf '  %-20s grading ...\r' "$1" >&2
    last=$("$grade" --lab "${1%%-*}" --build "$build" --report "build/report/progress/${1%%-*}" 2>&1 | tail -n 1) || true
    mkdir -p build/progress && rm -f "$kept"
    if [[ $last =~ ^grade\ [0-9]+:\ [0-9.]+/[0-9.]+ ]] && [[ $last != *INCONCLUSIVE* ]]; then printf '%s\n' "$key" "$last" >"$kept"; fi
    echo "$last"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
labs=(labs/*/lab.json)
passing=() yours=0
for info in "${labs[@]}"; do
    lab=$(basename "$(dirname "$info")") number=${lab%%-*} points='' others=''
    out=$(graded "$lab")
    last=$(grep -E "^grade $number: " <<<"$out") || true
    read -r _ _ points others <<<"$last" || true
    lines=$(written "$lab")
    yours=$((yours + ${lines:-0}))
    if [ -z "$last" ] || [[ $points == -/* ]]; then
        state="could not be graded: $out"
    elif [[ $others =~ ^(INCONCLUSIVE=[0-9]+)?\ ?(REVIEW=[0-9]+)?$ ]] && [[ $points != 0/* ]]; then
        state=passes && passing+=("$lab")
    elif [[ $points == 0/* ]] && [[ $others =~ ^TODO=[0-9]+$ ]]; then
        state="not begun"
    else
        state="begun: $others"
    fi
    printf '  %-20s %9s  %s%s\n' "$lab" "${points:--}" "$state" "$([ "${lines:-0}" -eq 0 ] || echo ", $lines lines of yours")"
done
echo
if [ ${#passing[@]} -gt 0 ]; then
    echo "Your framework can:"
    for lab in "${passing[@]}"; do printf '  - %-58s %s\n' "$(of "$lab" gives)" "$(of "$lab" try)"; done
    [ $yours -eq 0 ] || echo "$yours lines of it are yours, of $(find minitorch solutions -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | grep -vE '^minitorch/(apps|bench|emulator|testing|tests)/' | xargs cat | code) of the framework with all labs"
else
    echo "No lab passes yet. Start with: make lab LAB=00"
fi
echo "progress: ${#passing[@]}/${#labs[@]} labs"
