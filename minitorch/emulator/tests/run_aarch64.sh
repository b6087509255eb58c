#!/usr/bin/env bash
# run_aarch64.sh DIR-OF-CUEMU -- the emulator on AArch64, by a cross compiler and qemu: core tests, some bugs, and the
# same counts as on x86-64, lab 07's among them. It is skipped, with a message, where these tools are not installed.
# Ends with "N passed, N failed".
set -uo pipefail
emu=$(cd "$1" && pwd)
cd "$(dirname "$0")"
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64; do
    command -v $tool >/dev/null && continue
    echo "aarch64: skipped, there is no $tool (apt-get install gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user)"
    echo "0 passed, 0 failed"
    exit 0
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ RUN="qemu-aarch64 -L /usr/aarch64-linux-gnu"
if ! ./variant.sh "$emu" "$work/emu" $CC; then
    echo "FAIL does not compile" && echo "0 passed, 1 failed" && exit 1
fi
passed=0 failed=0
for test in core counts ladder "bugs tail no_barrier divergent_barrier uninitialised_shared misaligned endless_loop"; do
    set -- $test
    LEVELS=1 ./run_$1.sh "$work/emu" "${@:2}" >"$work/log" 2>&1
    grep -A 12 '^FAIL' "$work/log"
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/log" || echo "0 passed, 1 failed")
    echo "aarch64, $1: $line"
    passed=$((passed + ${line%% *})) line=${line#*, } failed=$((failed + ${line%% *}))
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
