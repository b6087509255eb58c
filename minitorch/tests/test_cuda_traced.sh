#!/usr/bin/env bash
# The tests that train with the given kernels, traced: every access is checked for bounds, initialisation and races.
set -uo pipefail
cd "$(dirname "$0")/../.."
export OMP_WAIT_POLICY=passive
passed=0 failed=0 log=$(mktemp)
trap 'rm -f "$log"' EXIT
make -s build/release/cuda-choice >/dev/null || exit 1
if ! grep -q emu build/release/cuda-choice; then
    echo "cuda traced: skipped, this build has no emulator: 0 passed, 0 failed"
    exit 0
fi
for t in test_gpt2_cuda test_cuda; do
    make -s -j2 build/release/tests-traced/$t >/dev/null || exit 1
    if build/release/tests-traced/$t >"$log" 2>&1 && ! grep -q 'error: \|warning: \|^cuemu: ' "$log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) && echo "FAIL $t" && cat "$log"
    fi
done
echo "cuda traced: $passed passed, $failed failed"
[ $failed -eq 0 ]
