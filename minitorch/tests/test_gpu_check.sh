#!/usr/bin/env bash
# test_gpu_check.sh -- make gpu-check without a GPU: it reports that there is none and fails; in the emulator it checks,
# times and counts, and its report is complete.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
if ! [ -e /dev/nvidia0 ] && ! [ -e /dev/dxg ]; then
    minitorch/bench/gpu_check.sh >"$dir/log" 2>&1
    [ $? = 1 ] && grep -q 'there is no GPU here: nothing was checked' "$dir/log" && ok || bad "without a GPU it says so and fails"
fi
minitorch/bench/gpu_check.sh --emulated >"$dir/log" 2>&1 && ok || bad "emulated: $(tail -1 "$dir/log")"
report=build/gpu-check-emulated/report
! grep -q 'FAIL\|failed: \|cut off' $report.md && grep -q ' passed, 0 failed' $report.md && grep -q 'not measured on a GPU' $report.md && ok || bad "the values are right and all parts ran"
for kernel in 'private histogram' 'layernorm dx' 'bias and gelu backward' 'tensor-bf16 256^3' 'cuBLAS bf16 256^3' 'f32 to bf16' 'unscale' 'attention backward'; do
    grep -q "^| $kernel | [0-9.]* G" $report.md && ok || bad "timed: $kernel"
done
grep -q '^| saxpy | 6144 | 24576 | 0 | - | - | - |$' $report.md && ok || bad "counted: saxpy" # 3 accesses of 65536 / 32 warps, 4 sectors each
grep -q '^| coalesced | ' $report.md && ok || bad "counted: lab 07"
"${PYTHON:-/usr/bin/python3}" -c "
import json
r = json.load(open('$report.json'))
assert r['values'][0]['failed'] == 0 and len(r['times']) > 30 and len(r['counts']) > 25" 2>"$dir/log" && ok || bad "the JSON has values, times and counts"
build/release/bin/gpu_check "$dir" times 0 >"$dir/log" 2>&1 && grep -q 'adamw *cut off: no time left' "$dir/log" && ok || bad "what there is no time for is said"
finish gpu_check
