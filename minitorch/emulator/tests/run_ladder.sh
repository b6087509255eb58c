#!/usr/bin/env bash
# run_ladder.sh DIR-OF-CUEMU -- the counts of lab 07's matrix products equal their formulas (ladder.cu) at -O1, -O2 and
# -O3, or at those of LEVELS. RUN: a command that runs programs of another processor. Ends with "N passed, N failed".
set -uo pipefail
export CUEMU_LEAKS=0
cuemu=$(cd "$1" && pwd)/cuemu
cd "$(dirname "$0")/../../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
units=(solutions/07-cuda-matmul/{naive,shared,register,pipelined,tensor}.cu minitorch/emulator/tests/ladder.cu)
given=(minitorch/cuda/device.cu minitorch/kernels/matmul.c minitorch/core/base.c)
compile() { "$cuemu" "-O$1" -Iminitorch -D_GNU_SOURCE -std=gnu11 -c "$2" -o "$work/$1.$(basename "$2").o"; }
export -f compile
export cuemu work
for level in ${LEVELS:-1 2 3}; do
    printf '%s\n' "${units[@]}" "${given[@]}" | xargs -P 2 -I{} bash -c 'compile "$1" {}' sh "$level" >"$work/log" 2>&1 &&
        "$cuemu" "$work/$level".*.o -o "$work/ladder" >>"$work/log" 2>&1 && ${RUN:-} "$work/ladder" >"$work/log" 2>&1
    if [ $? = 0 ]; then
        passed=$((passed + 1)) && echo "ok   ladder of lab 07, -O$level: $(tail -1 "$work/log")"
    else
        failed=$((failed + 1)) && echo "FAIL ladder of lab 07, -O$level" && head -20 "$work/log"
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
