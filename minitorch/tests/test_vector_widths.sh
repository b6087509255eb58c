#!/usr/bin/env bash
# The matrix products, compiled for narrower vectors than this machine's: a panel may then be wider than a vector, and its rows
# end inside one; and bf16 is multiplied without an instruction for pairs. AArch64 has one width, which the unit tests have.
# And tuned for a processor for which gcc would not fuse all multiply-adds.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
fused=$(sed -nE 's/^FUSED *:=.*(--param=[a-z=0-9-]+).*/\1/p' Makefile)

narrower() {
    [ "$(uname -m)" = x86_64 ] || return 0
    echo x86-64
    ! grep -qw avx2 /proc/cpuinfo || echo x86-64-v3
}

# compiled MARCH FILES: and run.
compiled() {
    ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O3 -march="$1" -mtune=znver3 -fno-math-errno -fno-trapping-math $fused -fopenmp \
        -Iminitorch "${@:2}" -lcriterion -lcjson -lm -ldl -o "$dir/test" && "$dir/test" >"$dir/log" 2>&1 && ok ||
        bad "$2 for $1: $(grep '^\[FAIL\]' "$dir/log" | tr '\n' ' ')"
}

make -s build/release/tests/test_16bit >/dev/null || exit 1
ar rcs "$dir/units.a" build/release/units/*/*.o # all else that they call
for march in $(narrower); do
    compiled "$march" minitorch/tests/test_matmul.c solutions/01-matmul/*.c minitorch/kernels/matmul.c \
        minitorch/testing/matmul_ladder.c minitorch/core/base.c
    compiled "$march" minitorch/tests/test_16bit.c solutions/09-mixed-precision/{convert,matmul16,matmul_bf16}.c \
        minitorch/amp/products.c -Wl,--start-group build/release/libgiven.a "$dir/units.a" -Wl,--end-group
done
finish "vector widths"
