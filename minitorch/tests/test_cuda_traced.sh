#!/usr/bin/env bash
# The tests that train with the given kernels, traced: every access is checked for bounds, initialisation and races.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root"
export OMP_WAIT_POLICY=passive
make -s build/release/cuda-choice >/dev/null || exit 1
if ! grep -q emu build/release/cuda-choice; then
    echo "cuda traced: skipped, this build has no emulator: 0 passed, 0 failed"
    exit 0
fi
for t in test_gpt2_cuda test_cuda test_offload_cuda; do
    make -s -j2 build/release/tests-traced/$t >/dev/null || exit 1
    if build/release/tests-traced/$t >"$dir/log" 2>&1 && ! grep -q 'error: \|warning: \|^cuemu: ' "$dir/log"; then ok; else bad "$t"; fi
done
# Nothing waits for the copies of offloaded activations: a kernel reads what the other stream still writes.
MT_BUS_DEAF=1 build/release/tests-traced/test_offload_cuda >"$dir/log" 2>&1
grep -q 'error: race between streams' "$dir/log" && grep -q 'cudaMemcpyAsync' "$dir/log" && ok || bad "a wait is missing, and not reported"
finish "cuda traced"
