#!/usr/bin/env bash
# The commands in the handouts of labs 06 and 07 that report and draw each access of a kernel, and the table of counts.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root"
# reports LAB FOLDER KERNEL ACCESS
reports() {
    CUEMU_REPORT=1 CUEMU_SVG=$dir/$1.svg "minitorch/bench/count_lab$1.sh" "$2" "$3" >"$dir/log" 2>&1
    grep -qE "$4" "$dir/log" && ok || bad "lab $1: no line of the report has $4"
    grep -q '</svg>' "$dir/$1.svg" && ok || bad "lab $1: nothing is drawn"
}
reports 06 solutions/06-cuda-kernels "tiled transpose" 'transpose\.cu:[0-9]+ +shared +load .* 1\.00 wavefronts'
reports 07 solutions/07-cuda-matmul shared 'shared\.cu:[0-9]+ +shared +load .* 1\.00 wavefronts'
finish count_report
