#!/usr/bin/env bash
# run_nccl.sh DIR-OF-CUEMU -- NCCL between processes: values, misuse, missing waits and ranks that fail; its numbers and
# types are the real library's, where that is installed. Ends with "N passed, N failed".
set -uo pipefail
emu=$(cd "$1" && pwd)
cd "$(dirname "$0")/nccl" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
export CUEMU_LEAKS=0
result() { # 0|1 NAME [LOG]
    if [ "$1" = 0 ]; then passed=$((passed + 1)) && echo "ok   $2"; else
        failed=$((failed + 1)) && echo "FAIL $2"
        [ -z "${3:-}" ] || sed 's/^/     /' "$3" | head -12
    fi
}
# Not those of neighbours: Criterion's, Open MPI's and test_faults.sh's.
shared() { find /dev/shm -type f ! -name 'bxfi_*' ! -name 'vader_segment.*' ! -path '*/faults.*' 2>/dev/null | sort; }
shared >"$work/before"

for how in fast traced; do
    [ $how = fast ] && flag=--fast || flag=
    for name in values wrong; do
        "$emu/cuemu" $flag $name.cu -o "$work/$name.$how" >"$work/log" 2>&1 || { result 1 "$name $how: compiles" "$work/log" && continue; }
        CUEMU_NCCL_TIMEOUT=$([ $name = values ] && echo 60 || echo 1) timeout 300 "$work/$name.$how" >"$work/out" 2>"$work/log"
        status=$? expected=$([ $name = values ] && echo 0 || echo 86)
        [ $status = "$expected" ] && ! grep -q '^FAIL' "$work/out"
        result $? "$name $how: values, and status $status" <(cat "$work/out" "$work/log")
    done
    marks="ERROR|${how^^}"
    missing=0
    while IFS=: read -r line text; do
        words=$(sed -E "s/.*($marks) //" <<<"$text")
        grep -qE "wrong.cu:$((line + 1)): (error|warning): .*$words" "$work/log" ||
            { missing=$((missing + 1)) && echo "     not told: line $((line + 1)), $words"; }
    done < <(grep -nE "^ *// ($marks) " wrong.cu)
    result $missing "wrong $how: every message at its line" "$work/log"
    others=$(grep -oE 'wrong.cu:[0-9]+: error' "$work/log" | sort -u | wc -l) wanted=$(grep -cE "^ *// ($marks) " wrong.cu)
    [ "$others" -eq $((wanted + 2)) ] # of two mistakes the other rank says its own line, too
    result $? "wrong $how: no other message ($others lines)" "$work/log"
done
shared | comm -13 "$work/before" - >"$work/log"
[ ! -s "$work/log" ]
result $? "nothing is left in /dev/shm" "$work/log"

# The same source, with the emulator's header and with the real one, prints the same numbers; and has the same types.
cuda=$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")/..
real=$(for dir in "$cuda/include" /usr/include; do [ ! -e "$dir/nccl.h" ] || echo "$dir"; done | head -1)
"$emu/cuemu" numbers.c -o "$work/numbers" >"$work/log" 2>&1 && "$work/numbers" >"$work/ours"
result $? "numbers compile" "$work/log"
if [ -n "$real" ]; then
    ${CC:-gcc} -I"$real" -I"$cuda/include" numbers.c -o "$work/theirs" -L"$cuda/lib64" -L"$cuda/lib" -lnccl -lcudart >"$work/log" 2>&1 &&
        LD_LIBRARY_PATH="$cuda/lib64:$cuda/lib" "$work/theirs" 2>>"$work/log" | diff "$work/ours" - >>"$work/log"
    result $? "numbers and types are those of $real/nccl.h" "$work/log"
else
    echo "run_nccl: there is no nccl.h, its numbers are not compared" >&2
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
