#!/usr/bin/env bash
# run.sh DIR-OF-CUEMU -- all tests of the emulator: each run_*.sh beside this one. Ends with what failed and
# "N passed, N failed".
set -uo pipefail
emu=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 names=""
for script in "$here"/run_*.sh; do
    name=$(basename "$script" .sh)
    echo "--> $name"
    "$script" "$emu" 2>&1 | tee "$log"
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -1)
    line=${line:-0 passed, 1 failed} # it did not come to its end
    passed=$((passed + ${line%% *}))
    line=${line#*, }
    failed=$((failed + ${line%% *}))
    names+=$(grep '^FAIL' "$log" | sed "s/^/$name: /")
    [ "${line%% *}" = 0 ] || names+=$'\n'
done
printf '%s' "$names"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
