#!/usr/bin/env bash
# steady.sh BUILD LAB [TIMES [UNITS [STEP]]] -- make steady: does a verdict of the reference change when other programs use the machine?
#
# The reference is graded TIMES times (grade --times) beside two busy processes, one of which streams memory (bin/busy). A verdict has changed
# when a row is not PASS with all its points. INCONCLUSIVE is counted apart: the row asks to be run again, and no points are lost for good.
# With UNITS, those are graded (of one STEP): a verdict has changed when a row was PASS in one grade and FAIL in another.
set -uo pipefail
build=$(realpath -m "${1:?usage: steady.sh BUILD LAB [TIMES]}") number=${2:?which lab?} times=${3:-50}
units=${4:+$(realpath "$4")} step=${5:-}
grade=${GRADE:-$build/bin/grade}
cd "${ROOT:-$(dirname "$0")/../..}" || exit 2
mkdir -p build/steady
log=build/steady/$number
"$build/bin/busy" arithmetic &
busy=($!)
"$build/bin/busy" memory &
busy+=($!)
trap 'kill "${busy[@]}" 2>/dev/null' EXIT
"$grade" --lab "$number" --build "$build" --units "${units:-$(echo solutions/"$number"-*)}" ${step:+--step "$step"} --times "$times" --quiet >"$log" 2>&1 &
busy+=($!)
wait $!
# What --times prints at the end: rows that were not always PASS.
grep "^ $number\." "$log" | grep -E ' (FAIL|TODO|CRASH|TIMEOUT|INCONCLUSIVE|ERROR) [0-9]+'
if [ -n "$units" ]; then
    changed=$(grep "^ $number\." "$log" | grep -E ' PASS [0-9]' | grep -cE ' (FAIL|CRASH|TIMEOUT) [0-9]')
    grep "^ $number\." "$log"
    echo "steady $number: $changed rows changed between PASS and FAIL in $times grades"
    [ "$changed" -eq 0 ] && grep -q "^ $number\." "$log"
    exit
fi
awk -v lab="$number" '
    !/^[0-9a-f]+  [A-Za-z]/ { next }
    $1 != seed { seed = $1; grades++ }
    $2 == "INCONCLUSIVE" { unsure++; next }
    $2 != "full" { changed++; print "  changed: seed " $0 }
    END {
        if (unsure) printf "  %d times INCONCLUSIVE\n", unsure
        printf "steady %s: %d verdicts changed in %d grades\n", lab, changed, grades
        exit changed > 0 || !grades
    }' "$log"
