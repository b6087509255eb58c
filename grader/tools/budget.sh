#!/usr/bin/env bash
# budget.sh BUILD -- the line budgets of the code that a reader has to read (make lint): one line each, `budget NAME: LINES of LIMIT`.
#
#   train_gpt2, train_mnist   every .c and .h of ours that the program links on a CPU: its own, and those that the linker takes from an archive of all given code and of the reference's units, with their headers
#   given framework           minitorch/ without emulator, bench, testing and tests
# Then, without a limit, the lines that a student writes: of each lab and in all, those in the marked regions of solutions/ without the comments that begin and end them.
# With -l NAME it lists a program's files with their lines instead.
set -euo pipefail
cd "$(dirname "$0")/../.."
list='' over=0
[ "${1:-}" != -l ] || { list=$2 && shift 2; }
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Objects keep their paths in a thin archive, so that two files of one name stay apart.
objects() {
    find "$build/units" "$build/obj/minitorch" -name '*.o' | grep -vE '/obj/minitorch/(apps|bench|tests|testing|cuda)/' |
        while read -r object; do # objects of deleted files stay in the build folder
            source=${object#"$build/obj/"}
            if [[ $object = "$build"/units/* || -e ${source%.o}.c ]]; then echo "$object"; fi
        done
}
[ -d "$build/units" ] || { echo "budget: nothing was built in $build, run make apps" >&2 && exit 2; }
rm -f "$build/closure.a"
objects | xargs ar rcsT "$build/closure.a"

# closure PROGRAM: the files it is made of, the same on every processor: builds for some do not call the product of bf16 pairs.
closure() {
    ${CC:-gcc} -fopenmp -Wl,-u,mt_matmul_bf16_cpu -o "$work/program" "$build/obj/minitorch/apps/$1.o" "$build/closure.a" -lm -ldl -lcjson -Wl,-t >"$work/trace" 2>&1 ||
        { grep -m5 -E 'undefined|rror:' "$work/trace" >&2 && echo "budget: $1 does not link, run make apps" >&2 && return 1; }
    grep -oE "$build/(units|obj)/[^()]*\.o" "$work/trace" | sort -u | sed 's/\.o$/.d/' | xargs cat | tr ' \\' '\n\n' |
        grep -E '^(minitorch|solutions|labs)/.*\.[ch]$' | sort -u
}
# budget NAME LIMIT: the files come on standard input.
budget() {
    local lines
    lines=$(xargs cat | wc -l)
    echo "budget $1: $lines of $2"
    [ "$lines" -gt 0 ] && [ "$lines" -le "$2" ] || over=1 # 0: it does not link
}

if [ -n "$list" ]; then
    closure "$list" | xargs wc -l | sort -n
    exit
fi
budget train_gpt2 20600 < <(closure train_gpt2)
budget train_mnist 14900 < <(closure train_mnist)
budget "given framework" 34500 < <(git ls-files 'minitorch/*.c' 'minitorch/*.h' 'minitorch/*.cu' 'minitorch/*.cuh' |
    grep -vE '^minitorch/(emulator|bench|testing|tests)/')
awk '/LAB [0-9.]+ END/ {inside = 0} inside && !head {lines++; in_lab[lab]++} head && /\*\// {head = 0}
     /LAB [0-9.]+ BEGIN/ {inside = 1; head = !/\*\//; regions++; of_lab[lab]++}
     FNR == 1 {lab = FILENAME; sub("solutions", "labs", lab); sub("/[^/]*$", "", lab)}
     END {for (lab in of_lab) printf "lab %s: %d regions, %d lines\n", lab, of_lab[lab], in_lab[lab] | "sort"; close("sort")
          printf "a student writes: %d lines in %d regions\n", lines, regions}' \
    $(git ls-files labs/*/lab.json | sed -E 's#labs/(.*)/lab.json#solutions/\1/*.c solutions/\1/*.cu#' | xargs git ls-files)
[ $over -eq 0 ] || { echo "budget: over; budget.sh -l NAME $build lists the files" >&2 && exit 1; }
