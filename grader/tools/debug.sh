#!/usr/bin/env bash
# debug.sh BUILD LAB STEP [SEED] -- make debug: grades one step of the units in labs/, then makes the calls of its first failing row (or of all its rows) again outside the sandbox: compiled with AddressSanitizer and UBSan, or with GDB=1 in gdb, which stops where the function begins. CUDA units run in the emulator, which checks every access itself. What the unit prints is shown.
set -euo pipefail
build=$1 lab=$2 step=$3 seed=${4:-} number=${2%%-*}
out=build/debug/$number
mkdir -p "$out" && rm -f "$out/calls"
"$build/bin/grade" --lab "$number" --build "$build" --step "$step" ${seed:+--seed "$seed"} --capture "$out/calls" --quiet | sed '$d' || exit 1
[ -s "$out/calls" ] || { echo "debug: no call of step $step was made" && exit 1; }

kind=c
if grep -qaE 'mt_[a-z0-9_]*_cu(da|blas)' "$out/calls"; then
    kind=cu
    # As grader/build/link.c: device_calls.o stands between units and the emulator.
    link=(g++ -g -fopenmp -no-pie $(nm "$build/worker/device_calls.o" | sed -n 's/.* T __wrap_/-Wl,--wrap=/p'))
    compile=("$build/emu/cuemu" -Iminitorch -g -Wall -Wno-unused -Wno-sign-compare) last=("$build"/worker/{on_device,device_calls}.o "$build/emu/libcuemu.a")
else
    flags=(-std=gnu11 -D_GNU_SOURCE -O1 -g -march=native -fno-omit-frame-pointer -fopenmp -fsanitize=address,undefined -Wall -Wextra -Wno-unused)
    compile=(gcc "${flags[@]}" -Iminitorch -Igrader) link=(gcc "${flags[@]}" -no-pie -Wl,--unresolved-symbols=ignore-in-object-files) last=() # the table may name .cu units
fi
objects=()
for unit in labs/"$lab"/*.$kind; do
    object=$out/$(basename "${unit%.*}").o
    [ "$object" -nt "$unit" ] || "${compile[@]}" -c "$unit" -o "$object"
    objects+=("$object")
done
for others in "$build"/units/*/; do
    [ $kind = c ] && [ "$(basename "$others")" = "$lab" ] || objects+=("$others"*.o)
done
"${link[@]}" "$build/worker/replay.o" "$build"/worker/calls_"$number"*.o "${objects[@]}" "${last[@]}" "$build/libgiven.a" \
    -Wl,--defsym=mg_calls="mg_calls_$number" -lcjson -lm -ldl -o "$out/replay"

export ASAN_OPTIONS=detect_leaks=0:print_legend=0:${ASAN_OPTIONS:-} UBSAN_OPTIONS=print_stacktrace=1 CUEMU_LEAKS=0
if [ -n "${GDB:-}" ]; then
    command -v gdb >/dev/null || { echo "debug: GDB=1 needs gdb: apt-get install gdb" && exit 1; }
    function=$(strings -n 4 "$out/calls" | grep -m1 '^mt_' || true)
    exec gdb -q ${function:+-ex "break ${function%% *}"} ${GDB_COMMANDS:+-ex "$GDB_COMMANDS"} -ex run --args "$out/replay" "$out/calls"
fi
echo
echo "The same calls outside the sandbox ($out/replay $out/calls):"
status=0
"$out/replay" "$out/calls" || status=$?
[ $status -eq 0 ] || echo "debug: the program ended with status $status"
