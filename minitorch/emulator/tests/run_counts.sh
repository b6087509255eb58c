#!/usr/bin/env bash
# run_counts.sh DIR-OF-CUEMU -- the counts of counts.cu and members.cu equal their formulas at every optimisation, with 1
# and 2 CPU threads, and in both orders of threads. LEVELS: other optimisations; RUN: a command that runs programs of another
# processor. Ends with "N passed, N failed".
set -uo pipefail
export CUEMU_LEAKS=0
here=$(cd "$(dirname "$0")" && pwd)
cuemu=$(cd "$1" && pwd)/cuemu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
for level in ${LEVELS:-1 2 3}; do
    for program in counts members; do
        "$cuemu" -O$level -I"$here/../.." "$here/$program.cu" -o "$work/$program" || exit 1
        for setting in CUEMU_THREADS=1 CUEMU_THREADS=2 CUEMU_REVERSE=1; do
            if env "$setting" ${RUN:-} "$work/$program" >"$work/log" 2>&1; then
                passed=$((passed + 1)) && echo "ok   $program -O$level $setting: $(tail -1 "$work/log")"
            else
                failed=$((failed + 1)) && echo "FAIL $program -O$level $setting" && cat "$work/log"
            fi
        done
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
