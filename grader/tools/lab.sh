#!/usr/bin/env bash
# lab.sh BUILD LAB [scratch] -- opens a lab: its handout, what is to be written (in the order of the steps, with file and line), and a first grade. With scratch its C units become empty functions first.
set -euo pipefail
build=$1 lab=$2 number=${2%%-*}
case ${3:-} in
'') ;;
scratch) grader/tools/scratch.sh "$build" "$lab" ;;
*) echo "lab: FROM=$3 is unknown: use FROM=scratch, or leave it out" >&2 && exit 2 ;;
esac
# steps <tab> file:line of every region that is not written, in the order of the steps; from scratch a function may be several steps
shopt -s nullglob
todo=$(awk '/^ *\/\* steps .* \*\/$/ { steps = $0; gsub(/^ *\/\* steps | \*\/$/, "", steps); next }
            match($0, /MT_TODO\("[0-9.]+"\)/) { print (steps != "" ? steps : substr($0, RSTART + 9, RLENGTH - 11)) "\t" FILENAME ":" FNR }
            { steps = "" }' labs/"$lab"/*.c labs/"$lab"/*.cu /dev/null | sort -t'	' -k1,1V -k2,2V)
echo "lab $number: read  labs/$lab/README.md"
if [ -n "$todo" ]; then
    IFS=$'\t' read -r step where <<<"$todo"
    echo "  begin with step ${step%%,*} in $where"
    printf '  to write, in this order (grade one step with make grade LAB=%s STEP=%s):\n' "$number" "$step"
    awk -F'\t' '{ split($2, at, ":"); key = $1 "\t" at[1]
                  if (key != last) { if (last) print line; line = sprintf("    %-6s %s:%s", $1, at[1], at[2]); last = key }
                  else line = line ", " at[2] }
                END { if (last) print line }' <<<"$todo"
else
    echo "  every region is written"
fi
echo
exec "$build/bin/grade" --lab "$number" --build "$build" --report build/report
