#!/usr/bin/env bash
# test_gpu_check.sh -- make gpu-check without a GPU: it reports that there is none and fails; in the emulator it checks,
# times and counts, and its report is complete.
set -u
cd "$(dirname "$0")/../.." || exit 1
passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result() { # 0|1 NAME
    if [ "$1" = 0 ]; then
        passed=$((passed + 1)) && echo "ok   $2"
    else
        failed=$((failed + 1)) && echo "FAIL $2" && sed 's/^/  | /' "$work/log" | tail -20
    fi
}
if ! [ -e /dev/nvidia0 ] && ! [ -e /dev/dxg ]; then
    minitorch/bench/gpu_check.sh >"$work/log" 2>&1
    [ $? = 1 ] && grep -q 'there is no GPU here: nothing was checked' "$work/log"
    result $? "without a GPU it says so and fails"
fi
minitorch/bench/gpu_check.sh --emulated >"$work/log" 2>&1
result $? "emulated: $(tail -1 "$work/log")"
report=build/gpu-check-emulated/report
! grep -q 'FAIL\|failed: \|cut off' $report.md && grep -q ' passed, 0 failed' $report.md && grep -q 'not measured on a GPU' $report.md
result $? "the values are right and all parts ran"
for kernel in 'private histogram' 'layernorm dx' 'bias and gelu backward' 'tensor-bf16 256^3' 'cuBLAS bf16 256^3' 'f32 to bf16' 'unscale' 'attention backward'; do
    grep -q "^| $kernel | [0-9.]* G" $report.md
    result $? "timed: $kernel"
done
grep -q '^| saxpy | 6144 | 24576 | 0 | - | - | - |$' $report.md # 3 accesses of 65536 / 32 warps, 4 sectors each
result $? "counted: saxpy"
grep -q '^| coalesced | ' $report.md
result $? "counted: lab 07"
"${PYTHON:-/usr/bin/python3}" -c "
import json
r = json.load(open('$report.json'))
assert r['values'][0]['failed'] == 0 and len(r['times']) > 30 and len(r['counts']) > 25" 2>"$work/log"
result $? "the JSON has values, times and counts"
build/release/bin/gpu_check "$work" times 0 >"$work/log" 2>&1 && grep -q 'adamw *cut off: no time left' "$work/log"
result $? "what there is no time for is said"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
