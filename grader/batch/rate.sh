#!/usr/bin/env bash
# rate.sh [LAB...] -- make rate: how many submissions of a lab a processor grades in an hour (default: of each lab). COUNT=3 right
# submissions, which differ in a comment, are graded by bin/grade_all; the gradebook has the processor time of each, without and
# with timed rows. Other work on the machine makes processor time longer, too: measure on an idle one.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seconds() { /usr/bin/python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute("SELECT avg(cpu) FROM grade").fetchone())' "$work/$1.graded/gradebook.sqlite"; }
[ $# -gt 0 ] || set -- $(cd labs && printf '%.2s\n' [0-9][0-9]-*)
echo 'lab  processor s   an hour   timed rows, s'
for lab; do
    for ((i = 1; i <= ${COUNT:-3}; i++)); do
        mkdir -p "$work/$lab/$i"
        for unit in solutions/"$lab"-*/*.c*; do { echo "/* submission $i */" && cat "$unit"; } >"$work/$lab/$i/${unit##*/}"; done
    done
    build/release/bin/grade_all --lab "$lab" --dir "$work/$lab" --course none --no-speed >"$work/log" || [ $? = 1 ] || { cat "$work/log" && exit 1; }
    rows=$(seconds "$lab")
    build/release/bin/grade_all --lab "$lab" --dir "$work/$lab" --course none >"$work/log"
    awk -v lab="$lab" -v rows="$rows" -v all="$(seconds "$lab")" 'BEGIN { printf "%s %13.1f %9.0f %15.1f\n", lab, rows, 3600 / rows, all - rows }'
done
