#!/usr/bin/env bash
# run_curand.sh DIR-OF-CUEMU -- cuRAND's device API beside NVIDIA's own header, which is compiled for the host, where it
# is installed. Ends with "N passed, N failed".
set -uo pipefail
emu=$(cd "$1" && pwd)
cd "$(dirname "$0")/curand" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
real=$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")/../include
if [ ! -e "$real/curand_kernel.h" ]; then
    echo "run_curand: there is no curand_kernel.h, its numbers are not compared" >&2
    echo "0 passed, 0 failed" && exit
fi
if "$emu/cuemu" numbers.cu -o "$work/ours" && "$work/ours" >"$work/ours.txt" &&
    "${CXX:-g++}" -O1 -I"$real" -x c++ numbers.cu -o "$work/theirs" && "$work/theirs" >"$work/theirs.txt" &&
    diff "$work/ours.txt" "$work/theirs.txt"; then
    echo "ok   $(wc -l <"$work/ours.txt") lines of numbers are those of $real/curand_kernel.h"
    echo "1 passed, 0 failed" && exit
fi
echo "FAIL numbers"
echo "0 passed, 1 failed" && exit 1
