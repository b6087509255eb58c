#!/usr/bin/env bash
# The name of a submission is passed to the grader unchanged: neither make nor the shell executes any part of it. A
# different MINE compiles the units of its labs and nothing else. make bench measures the units that it names.
set -euo pipefail
repo=$(cd "$(dirname "$0")/../.." && pwd) passed=0 failed=0
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin"
# shellcheck disable=SC2016
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"%s/said"; env >"%s/env"\n' "$root" "$root" >"$root/bin/grade"
chmod +x "$root/bin/grade"

# expect NAME: it is one argument, and nothing was run.
expect() {
    rm -f "$root/said"
    (cd "$repo" && make -s grade LAB=02 REF="$root" -o data-or-standin SUBMISSION="$1" "${@:2}") >"$root/log" 2>&1 || true
    if [ -e "$root/said" ] && grep -qxF -- "$1" "$root/said" && [ ! -e "$root/ran" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) && printf 'FAIL %s: %s\n' "$1" "$(cat "$root/log" "$root/said" 2>/dev/null)"
    fi
    rm -f "$root/ran"
}

touch="touch $root/ran"
# shellcheck disable=SC2016
for name in alice.tar 'two words.tar' 'bob$(shell '"$touch"').tar' 'bob$$(shell '"$touch"').tar' 'a;'"$touch"'.tar' 'a`'"$touch"'`.tar' \
    'a$('"$touch"').tar' "it's.tar" "a';$touch;'.tar" 'a"b.tar' 'a&b|c>d.tar' '-x.tar' 'ü.tar' 'a\b.tar' '${HOME}.tar' '*' '#a.tar' \
    '$(error stop).tar' '$(eval all: ; '"$touch"')x'; do
    expect "$name"
done
expect alice.tar SEED=5eed01 STEP=02.3
grep -qxF 5eed01 "$root/said" && grep -qxF 02.3 "$root/said" || { failed=$((failed + 1)) && echo "FAIL: STEP and SEED"; }
if (cd "$repo" && make -s grade LAB=02 REF="$root" -o data-or-standin SEED='$(shell '"$touch"')') >/dev/null 2>&1; [ -e "$root/ran" ]; then
    failed=$((failed + 1)) && echo "FAIL: SEED is expanded"
else
    passed=$((passed + 1))
fi

# compiles SET FILE...: what a set of MINE compiles, as if its units had just been written (gpt2.c and
# table.c only once, for labs 08 and 11).
compiles() {
    local said
    # shellcheck disable=SC2086
    said=$(cd "$repo" && make -n apps MINE="$1" $(for n in $1; do printf -- '-W %s ' labs/"$n"-*/*.c*; done) |
        sed -nE 's/^echo " *(CC|CUDA) *([^"]*)"/\2/p' | grep -vxE 'minitorch/(ops/gpt2|cuda/table).c' | sort | xargs)
    if [ "$said" = "$(cd "$repo" && ls -d ${*:2} | xargs)" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL: MINE=\"$1\" compiles $said"; fi
}
make -s -C "$repo" apps >"$root/log" 2>&1 || { cat "$root/log" && exit 1; }
compiles 02 'labs/02-*/*.c'
compiles '06 02' 'labs/0[26]-*/*.c*'
compiles 08 'labs/08-*/*.c'
# attention SET WORDS: with which attention programs of this set of MINE are linked: the plain one's object has a folder of its own.
attention() {
    local said=tiled
    (cd "$repo" && make -n apps MINE="$1" -W minitorch/ops/gpt2.c) | grep plain/gpt2.o >/dev/null && said=plain
    if [ $said = "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL: MINE=\"$1\" has the $said attention"; fi
}
attention '' tiled
attention 08 plain
attention '08 11' tiled
attention 11 tiled
# measures WANTED ARGUMENT...: what make bench runs last.
measures() {
    local said
    said=$(make -n -C "$repo" bench DEPENDENCIES= "${@:2}" 2>&1 | grep '==>' | grep -oE 'build/[^ ;]*/bin/[a-z_]+|minitorch/bench/[^;|]*[^;| ]' | xargs)
    if [ "$said" = "$1" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL: make bench ${*:2} runs $said"; fi
}
mine=build/release-mine-02/bin
measures "$mine/bench_mlp $mine/bench_activations" LAB=02
measures "$mine/bench_activations" LAB=02 BENCH=bench_activations
measures "build/release/bin/bench_mlp build/release/bin/bench_activations" LAB=02 MINE=
measures "minitorch/bench/count_lab06.sh labs/06-cuda-kernels" LAB=06
measures "minitorch/bench/count_lab06.sh solutions/06-cuda-kernels" LAB=06 MINE=
for lab in "$repo"/labs/*/; do # every lab has its programs
    number=$(basename "$lab" | cut -d- -f1)
    if make -n -C "$repo" bench LAB="$number" DEPENDENCIES= 2>&1 | grep '==>' >"$root/log"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL: make bench LAB=$number"; fi
done
echo "make: $passed passed, $failed failed"
[ $failed -eq 0 ]
