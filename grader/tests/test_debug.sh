#!/usr/bin/env bash
# test_debug.sh -- tests debug.sh: it makes the calls of a row again outside the sandbox, where AddressSanitizer or the emulator names the line of an error, and what the unit prints is shown.
#
# Of a lab, every call of every row is made again with right units, and none fails; then each step in turn has an error in a C unit, whose line is named. With ALL=1 that is tried with all labs and steps, otherwise with labs that a commit touches and one in five of the others, and with one step in three.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
expect() { # name, words in the output, output
    if grep -qF -- "$2" <<<"$3"; then ok; else bad "$1: \"$2\" is not in: $3"; fi
}
make -s CC="${CC:-gcc}" LAB=06 reference || exit 1
mkdir -p "$dir/build" "$dir/labs"
ln -s "$root/build/release" "$dir/build/release"
ln -s "$root/grader" "$root/datasets" "$dir/"
find minitorch -name '*.h' -print0 -o -name '*.cuh' -print0 | xargs -0 cp --parents -t "$dir"
. .ci/changed.bash
mapfile -t drawn < <(for lab in labs/*/lab.json; do
    lab=$(basename "${lab%/*}")
    if [ -n "${ALL:-}" ] || changed "solutions/$lab" "grader/worker/calls_${lab%%-*}*"; then echo "$lab"; fi
done; basename -a labs/*/ | one_in 5)
for lab in labs/*/lab.json; do
    lab=$(basename "${lab%/*}")
    cp -r "labs/$lab" "$dir/labs/" && cp solutions/"$lab"/*.c* "$dir/labs/$lab/"
done
cd "$dir" || exit 1
export OMP_WAIT_POLICY=passive
debug() { timeout "${LIMIT:-120}" grader/tools/debug.sh build/release "$@" 2>&1; }

# planted LAB STEP: a heap overrun at the beginning of the step's first region in a C unit. A step that has none is left out, and 06, 07 and 11 have more about units for a device below.
overrun='{ volatile int *own = __builtin_malloc(4); own[1] = 1; __builtin_free((void *)own); }'
planted() {
    local lab=$1 step=$2 unit
    unit=$(grep -lE "LAB $step BEGIN" "labs/$lab"/*.c* | grep -m1 '\.c$')
    [ -n "$unit" ] || return 0
    cp "$unit" "$dir/right"
    awk -v step="LAB $step BEGIN" -v overrun="$overrun" 'index($0, step) && !done { region = 1 } { print }
        region && /\*\// { print overrun; region = 0; done = 1 }' "$dir/right" >"$unit"
    expect "$step: AddressSanitizer names the line" "$unit:$(grep -nF "$overrun" "$unit" | cut -d: -f1)" \
        "$(debug "$lab" "$step" | sed -n '/outside the sandbox/,$p')"
    cp "$dir/right" "$unit" # newer than its object
}
steps=$([ -n "${ALL:-}" ] && echo 1 || echo 3)
for lab in $(printf '%s\n' "${drawn[@]}" | sort -u); do
    out=$(LIMIT=600 debug "$lab" "" | tee "$dir/log")
    if grep -q '^call 1: ' <<<"$out" && ! grep -qE 'debug: |ERROR: ' <<<"$out"; then ok; else bad "$lab: a right unit's calls fail"; fi
    for step in $(grep -ohE 'LAB [0-9.]+ BEGIN' "labs/$lab"/*.c* | cut -d' ' -f2 | sort -uV | one_in "$steps"); do planted "$lab" "$step"; done
    rm -rf build/debug/"${lab%%-*}"
done

out=$(debug 02-backprop 02.3 5eed01)
expect "a right unit: every call is made" "call 1: mt_relu_fwd_cpu" "$out"
expect "a right unit: outputs are printed" "  out: " "$out"
out=$(debug 01-matmul 01.5)
expect "a race: nothing is timed" "no speed was measured: make debug" "$out"
expect "a race: the unit is called once in each case" "call 3: mt_matmul_packed_cpu" "$(grep '^call ' <<<"$out" | tail -n 1)"
unit=labs/02-backprop/init.c
printf '#include <stdio.h>\n#include <stdlib.h>\n%s' "$(sed 's/^void mt_init_he(.*/&/' "$unit")" >"$unit.new" && mv "$unit.new" "$unit"
awk '!done && /^{/ { print; print "    volatile float *own = malloc(4); printf(\"hello\\n\"); own[1] = 1; free((void *)own);"; done = 1; next } { print }' "$unit" >"$unit.new" && mv "$unit.new" "$unit"
line=$(grep -n 'own = malloc' "$unit" | cut -d: -f1)
out=$(debug 02-backprop 02.8)
expect "a heap overrun: the grade sees it" "heap overrun: up to 4 bytes past the end of a block of 4 bytes" "$out"
expect "a heap overrun: AddressSanitizer names the line" "labs/02-backprop/init.c:$line" "$(sed -n '/outside the sandbox/,$p' <<<"$out")"
expect "what it prints is shown" "hello" "$(sed -n '/outside the sandbox/,$p' <<<"$out")"
sed -i 's/own\[1\] = 1; free((void \*)own);/own[0] = 1;/' "$unit"
out=$(ASAN_OPTIONS=detect_leaks=1 debug 02-backprop 02.8)
expect "memory is not freed: the grade sees it" " bytes more stay allocated after each of 8 equal calls" "$out"
expect "memory is not freed: LeakSanitizer names the line" "labs/02-backprop/init.c:$line" "$(sed -n '/LeakSanitizer/,$p' <<<"$out")"
if command -v gdb >/dev/null; then
    expect "gdb stops in the function" "Breakpoint 1, " "$(GDB=1 debug 02-backprop 02.8 <<<$'kill\ny\nquit\n')"
fi

unit=labs/06-cuda-kernels/saxpy.cu
sed -i '0,/if (i < n)/s//if (i <= n)/' "$unit"
line=$(grep -n 'if (i <= n)' "$unit" | cut -d: -f1)
out=$(debug 06-cuda-kernels 06.1)
expect "a kernel: the call is made" "call 1: mt_fill_cuda" "$out"
expect "a kernel: the emulator names the line" "$unit:$((line + 1)): error: out of bounds" "$(sed -n '/outside the sandbox/,$p' <<<"$out")"

sed -i 's/score\[j\] \*= scale;/score[ROWS * KEYS + j] *= scale;/' labs/11-fusion/flash.c
out=$(debug 11-fusion 11.1)
expect "a C unit beside CUDA units: AddressSanitizer names the line" "labs/11-fusion/flash.c:$(grep -n 'ROWS \* KEYS + j' labs/11-fusion/flash.c | cut -d: -f1)" "$(sed -n '/outside the sandbox/,$p' <<<"$out")"
sed -i 's/i + r >= T/i + r > T/' labs/11-fusion/flash_forward.cu
out=$(debug 11-fusion 11.6)
expect "a CUDA unit beside C units: the emulator names the line" "labs/11-fusion/flash_forward.cu:" "$(sed -n '/outside the sandbox/,$p' <<<"$out" | grep 'error: ')"
finish test_debug
