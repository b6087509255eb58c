#!/usr/bin/env bash
# debug.sh BUILD LAB STEP [SEED] -- make debug: grades one step of the units in labs/, then makes the calls of its first failing row (or of all its rows) again outside the sandbox: compiled with AddressSanitizer and UBSan, or with GDB=1 in gdb, which stops where the function begins. CUDA units run in the emulator, which checks every access itself. What the unit prints is shown.
set -euo pipefail
build=$1 lab=$2 step=$3 seed=${4:-} number=${2%%-*}
out=build/debug/$number
mkdir -p "$out" && rm -f "$out/calls"
"$build/bin/grade" --lab "$number" --build "$build" ${step:+--step "$step"} ${seed:+--seed "$seed"} --capture "$out/calls" --quiet | sed '$d' || exit 1
[ -s "$out/calls" ] || { echo "debug: no call of step $step was made" && exit 1; }

kind=c
! grep -qaE 'mt_[a-z0-9_]*_cu(da|blas)' "$out/calls" || kind=cu
flags=(-std=gnu11 -D_GNU_SOURCE -O1 -g -march=native -fno-omit-frame-pointer -fopenmp -Iminitorch -Igrader -Wall -Wextra -Wno-unused)
link=(gcc -fopenmp -no-pie)
if [ $kind = c ]; then
    flags+=(-fsanitize=address,undefined) && link+=(-fsanitize=address,undefined)
else # as grader/build/link.c: device_calls.o stands between units and the emulator
    link=(g++ -fopenmp -no-pie $(nm "$build/worker/device_calls.o" | sed -n 's/.* T __wrap_/-Wl,--wrap=/p'))
fi

# object UNIT c|cu: its object, made again where the unit is newer.
object() {
    local to=$out/$kind/$1.o
    if [ ! "$to" -nt "labs/$lab/$1.$2" ]; then
        mkdir -p "$out/$kind"
        if [ "$2" = cu ]; then
            "$build/emu/cuemu" -Iminitorch -g -Wall -Wno-unused -Wno-sign-compare -c "labs/$lab/$1.cu" -o "$to"
        else
            gcc "${flags[@]}" -c "labs/$lab/$1.c" -o "$to"
        fi
    fi
    echo "$to"
}
# What the grader linked (FILE.parts), with two exceptions: units are compiled for the debugger, and AddressSanitizer stands
# in the place of the grader's own watch over malloc (worker/heap.c). Without the emulator .cu units are left out.
objects=()
while read -r part; do
    name=${part##*/} name=${name%.[oa]}
    case $part in
    */worker/main.o) objects+=("$build/worker/replay.o") ;;
    */worker/heap.o | -Wl,--wrap=*alloc | -Wl,--wrap=*memalign | -Wl,--wrap=free) ;;
    */worker/on_device.o | */worker/device_calls.o) [ $kind = c ] || objects+=("$build/worker/$name.o") ;;
    */libcuemu.a) if [ $kind = c ]; then link+=(-Wl,--unresolved-symbols=ignore-in-object-files); else objects+=("$build/emu/libcuemu.a"); fi ;;
    */obj/"$lab"/*)
        if [ -e "labs/$lab/$name.c" ]; then
            objects+=("$(object "$name" c)")
        elif [ $kind = cu ]; then
            objects+=("$(object "$name" cu)")
        fi
        ;;
    */in/worker/* | */in/units/*) objects+=("$build/${part#*/in/}") ;;
    */libcalls.a | */libgiven.a) objects+=("$build/$name.a") ;;
    *) objects+=("$part") ;;
    esac
done <"$out/calls.parts"
"${link[@]}" "${objects[@]}" -Wl,--defsym=mg_calls="mg_calls_$number" -lcjson -lm -ldl -o "$out/replay"
ln -sf "$number/replay" "$number/calls" build/debug # for .vscode/launch.json

export ASAN_OPTIONS=detect_leaks=0:print_legend=0:${ASAN_OPTIONS:-} UBSAN_OPTIONS=print_stacktrace=1 CUEMU_LEAKS=0
if [ -n "${GDB:-}" ]; then
    command -v gdb >/dev/null || { echo "debug: GDB=1 needs gdb: apt-get install gdb" && exit 1; }
    function=$(strings -n 4 "$out/calls" | grep -m1 '^mt_' || true)
    exec gdb -q -ex "source grader/tools/printers.py" ${function:+-ex "break ${function%% *}"} ${GDB_COMMANDS:+-ex "$GDB_COMMANDS"} -ex run --args "$out/replay" "$out/calls"
fi
echo
echo "The same calls outside the sandbox ($out/replay $out/calls):"
status=0
"$out/replay" "$out/calls" || status=$?
[ $status -eq 0 ] || echo "debug: the program ended with status $status"
