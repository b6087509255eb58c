#!/usr/bin/env bash
# The matrix product, compiled for narrower vectors than this machine's: a panel may then be wider than a vector, and its rows
# end inside one. AArch64 has one width, which the unit tests have.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d) passed=0 failed=0
trap 'rm -rf "$dir"' EXIT
cd "$root" || exit 1

narrower() {
    [ "$(uname -m)" = x86_64 ] || return 0
    echo x86-64
    ! grep -qw avx2 /proc/cpuinfo || echo x86-64-v3
}

for march in $(narrower); do
    ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O3 -march="$march" -fno-math-errno -fno-trapping-math -fopenmp -Iminitorch \
        minitorch/tests/test_matmul.c solutions/01-matmul/*.c minitorch/ops/matmul.c \
        minitorch/ops/matmul_ladder.c minitorch/core/base.c \
        -lcriterion -lm -o "$dir/test" && "$dir/test" >"$dir/log" 2>&1 && passed=$((passed + 1)) && continue
    failed=$((failed + 1))
    echo "FAIL for $march: $(grep '^\[FAIL\]' "$dir/log" | tr '\n' ' ')"
done
echo "vector widths: $passed passed, $failed failed"
exit $((failed > 0))
