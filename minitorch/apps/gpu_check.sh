#!/usr/bin/env bash
# make gpu-check: on a machine with a GPU, nvcc and gcc (and no other package) builds gpu_check, runs it, and again under
# compute-sanitizer where that is there, within nine minutes. Writes build/gpu-check/report.md and report.json.
set -euo pipefail
out=build/gpu-check
fail() { echo "gpu-check: $*" >&2 && exit 1; }
[ -e /dev/nvidia0 ] || [ -e /dev/dxg ] || fail "there is no GPU here: nothing was checked"
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || fail "there is no nvcc: install the CUDA toolkit"
mkdir -p $out
make -s -j"$(nproc)" CUDA=nvcc build/release/bin/gpu_check
timeout 300 build/release/bin/gpu_check $out
{
    echo
    echo "## Machine"
    echo
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
} >>$out/report.md
if command -v compute-sanitizer >/dev/null; then
    mkdir -p $out/sanitizer
    timeout 200 compute-sanitizer --error-exitcode 1 build/release/bin/gpu_check $out/sanitizer values >$out/sanitizer.log 2>&1 &&
        echo "compute-sanitizer: no errors" || { tail -20 $out/sanitizer.log && fail "compute-sanitizer found errors, or ran out of time"; }
else
    echo "compute-sanitizer: skipped, it is not there"
fi | tee -a $out/report.md
echo "gpu-check: the report is in $out/report.md"
