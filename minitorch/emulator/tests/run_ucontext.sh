#!/usr/bin/env bash
# run_ucontext.sh DIR-OF-CUEMU -- the portable switch between threads, for processors without one in assembly: core
# tests and counts of the emulator built with EMU_UCONTEXT. Ends with "N passed, N failed".
set -uo pipefail
emu=$(cd "$1" && pwd)
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! ./variant.sh "$emu" "$work/emu" gcc -DEMU_UCONTEXT; then
    echo "FAIL does not compile" && echo "0 passed, 1 failed" && exit 1
fi
passed=0 failed=0
for test in core counts; do
    LEVELS=1 ./run_$test.sh "$work/emu" >"$work/log" 2>&1
    grep -A 12 '^FAIL' "$work/log"
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/log" || echo "0 passed, 1 failed")
    echo "ucontext, $test: $line"
    passed=$((passed + ${line%% *})) line=${line#*, } failed=$((failed + ${line%% *}))
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
