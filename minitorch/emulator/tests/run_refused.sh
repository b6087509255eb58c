#!/usr/bin/env bash
# run_refused.sh DIR-OF-CUEMU [NAME ...] -- what the emulator cannot run, and host/device errors, must be refused at
# their line: `// REFUSED: words` are words of the message for that line. There must be no message for any other line.
# Ends with "N passed, N failed".
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cuemu=$(cd "$1" && pwd)/cuemu
shift
cd "$here/refused"
[ $# -gt 0 ] || { set -- *.cu && set -- "${@%.cu}"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check NAME -- prints what is wrong; no output is a pass.
check() {
    ! "$cuemu" --fast -c "$1.cu" -o "$work/out.o" >"$work/said" 2>&1 || echo "$1 is accepted"
    local line file words
    grep -Hn 'REFUSED:' "$1.cu" $(ls "$1.cuh" 2>/dev/null) | while IFS=: read -r file line words; do
        while [[ $words == *"// REFUSED: "* ]]; do
            words=${words#*// REFUSED: }
            grep -qF -- "${words%% // REFUSED:*}" <<<"$(grep -F "$file:$line: error: " "$work/said")" || echo "$file:$line: not refused: $words"
        done
    done
    while IFS=: read -r file line words; do
        grep -q 'REFUSED:' <<<"$(sed -n "${line}p" "$file" 2>/dev/null)" || echo "unexpected: $file:$line:$words"
    done < <(grep ': error: ' "$work/said")
}
passed=0
for name; do
    check "$name" >"$work/log" 2>&1
    if [ -s "$work/log" ]; then
        echo "FAIL $name" && cat "$work/log"
    else
        echo "ok   $name" && passed=$((passed + 1))
    fi
done
echo "$passed passed, $(($# - passed)) failed"
[ "$passed" = $# ]
