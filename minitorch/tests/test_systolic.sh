#!/usr/bin/env bash
# The systolic array: what it computes is the product, its cycles are those of the law, and a size that is 1 above a multiple of its
# side costs another tile.
. "$(dirname "$0")/../../.ci/check.bash"
for sizes in '8 8 8' '16 8 24' '3 5 7' '17 9 8' '1 1 1' '40 16 17'; do
    read -r M N K <<<"$sizes"
    for side in 1 4 8; do
        # A tile's weights enter in `side` cycles; the last tile's last sum leaves after M rows and 2 (side - 1) cells.
        tiles=$((((N + side - 1) / side) * ((K + side - 1) / side))) period=$((M > side ? M : side))
        cycles=$((side + (tiles - 1) * period + M + 2 * (side - 1)))
        busy=$(awk "BEGIN { printf \"%.4f\", $M * $N * $K / ($side * $side * $cycles) }")
        # shellcheck disable=SC2086
        expect "$sizes by $side" 0 "systolic: PASS cycles=$cycles tiles=$tiles utilisation=$busy" "$bin/systolic" $sizes --array $side
    done
done
expect "two sizes" 1 "write the three sizes of the product, as in systolic 512 512 512" "$bin/systolic" 8 8
expect "no size" 1 "from 1 to 131072" "$bin/systolic" 8 8 0
finish systolic
