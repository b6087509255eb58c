#!/usr/bin/env bash
# test_debug.sh -- tests debug.sh: in a copy of labs/02-backprop with one error, the failing call is made again outside the sandbox, AddressSanitizer names the line, and what the unit prints is shown. In labs/06-cuda-kernels the emulator names the line. Lab 11 has units of both kinds.
#
# And every call of every row of a lab is made again with right units, and none fails: of all labs with ALL=1, otherwise of
# those that a commit touches and one in five of the others.
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
    if [ -n "${ALL:-}" ] || changed "solutions/$lab"; then echo "$lab"; fi
done; basename -a labs/*/ | one_in 5)
for lab in labs/*/lab.json; do
    lab=$(basename "${lab%/*}")
    cp -r "labs/$lab" "$dir/labs/" && cp solutions/"$lab"/*.c* "$dir/labs/$lab/"
done
cd "$dir" || exit 1
export OMP_WAIT_POLICY=passive
debug() { timeout "${LIMIT:-120}" grader/tools/debug.sh build/release "$@" 2>&1; }

for lab in $(printf '%s\n' "${drawn[@]}" | sort -u); do
    # A collective of lab 13 that fails on purpose leaves messages under way, whose memory the unit has freed by then.
    [ "$lab" != 13-data-parallel ] || continue
    out=$(LIMIT=600 debug "$lab" "" | tee "$dir/log")
    if grep -q '^call 1: ' <<<"$out" && ! grep -qE 'debug: |ERROR: ' <<<"$out"; then ok; else bad "$lab: a right unit's calls fail"; fi
    rm -rf build/debug/"${lab%%-*}"
done
# A heap overrun in a region of these steps, whose calls run beside a simulated disk, on ranks, and on a mesh of ranks.
for planted in 12-checkpoints/async.c:12.7 13-data-parallel/ring.c:13.1 13-data-parallel/ddp.c:13.8 14-model-parallel/tensor_parallel.c:14.3; do
    unit=labs/${planted%:*} step=${planted#*:}
    awk -v step="LAB $step BEGIN" 'index($0, step) && !done { region = 1 } { print }
        region && /\*\// { print "{ volatile int *own = __builtin_malloc(4); own[1] = 1; __builtin_free((void *)own); }"; region = 0; done = 1 }' \
        "$unit" >"$unit.new" && mv "$unit.new" "$unit"
    expect "$step: AddressSanitizer names the line" "$unit:$(grep -n 'own = __builtin' "$unit" | cut -d: -f1)" \
        "$(debug "$(basename "${unit%/*}")" "$step" | sed -n '/outside the sandbox/,$p')"
done

out=$(debug 02-backprop 02.3 5eed01)
expect "a right unit: every call is made" "call 1: mt_relu_fwd_cpu" "$out"
expect "a right unit: outputs are printed" "argument 0: " "$out"
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
