#!/usr/bin/env bash
# run_good.sh DIR-OF-CUEMU [NAME ...] -- every program in good/ is correct CUDA: it must compile, run without a message
# of the emulator, traced and untraced, threads in forward and in reversed order, and return 0. Where nvcc is installed
# it must compile for sm_75 (sm_90 with `// arch: 80` in the first line), with ALL=1 for both, without a warning: to PTX,
# or with NVCC_ALL=1 to machine code, which takes four times as long. NVCC= skips nvcc.
# A folder is a program of several files. Ends with "N passed, N failed".
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cuemu=$(cd "$1" && pwd)/cuemu
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here/good" && shopt -s nullglob
nvcc=${NVCC-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)}
[ -n "$nvcc" ] || echo "run_good: there is no nvcc, its part is skipped" >&2

# The output of the program and the compilers goes to the log; an empty log is a pass.
run() {
    timeout 600 env "${@:2}" "$1" >"$1.out" 2>"$1.err"
    local status=$?
    [ $status = 0 ] || echo "${1##*/} ${*:2}: exit status $status"
    grep -v '^hello' "$1.out"
    cat "$1.err"
}
check() {
    local files=("$1".cu) program=$work/$1 product=-c arch
    [ ! -d "$1" ] || files=("$1"/*.cu "$1"/*.c)
    if "$cuemu" "${files[@]}" -o "$program.traced"; then
        run "$program.traced" && run "$program.traced" CUEMU_REVERSE=1 CUEMU_THREADS=1
    else
        echo "$1 does not compile, traced"
    fi
    if "$cuemu" --fast "${files[@]}" -o "$program.fast"; then
        run "$program.fast" && run "$program.fast" CUEMU_REVERSE=1
    else
        echo "$1 does not compile, --fast"
    fi
    [ -n "$nvcc" ] || return 0
    [ -n "${NVCC_ALL:-}" ] || product=-ptx
    for arch in 75 90; do
        case $arch$(grep -o "arch: 80" "${files[0]}") in
        75arch*) continue ;;
        90) [ -n "${ALL:-}" ] || continue ;;
        esac
        "$nvcc" -std=c++17 --extended-lambda -arch=sm_$arch -Werror all-warnings -odir "$work" $product \
            $(printf '%s\n' "${files[@]}" | grep '\.cu$') || echo "$1 does not compile with nvcc for sm_$arch"
    done
}
verdict() {
    check "$1" >"$work/$1.log" 2>&1
    if [ -s "$work/$1.log" ]; then
        echo "FAIL $1" >&2 && head -12 "$work/$1.log" >&2
    else
        echo "ok   $1" >&2 && echo passed
    fi
}
export -f check run verdict
export cuemu nvcc work

[ $# -gt 0 ] || { set -- *.cu */ && set -- "${@%.cu}" && set -- "${@%/}"; }
passed=$(printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'verdict {}' | wc -l)
echo "$passed passed, $(($# - passed)) failed"
[ "$passed" = $# ]
