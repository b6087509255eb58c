#!/usr/bin/env bash
# run_core.sh DIR-OF-CUEMU -- the emulator's core: fibers, collectives, blocks, the host API, limits, endless kernels,
# cuBLAS. RUN: a command that runs programs of another processor. Ends with "N passed, N failed".
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
emu=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here/core"
passed=0 failed=0
export CUEMU_LEAKS=0

result() { # 0|1 NAME [LOG]
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
        echo "ok   $2"
    else
        failed=$((failed + 1))
        echo "FAIL $2"
        [ -z "${3:-}" ] || sed 's/^/     /' "$3" | grep -v '^     ok ' | head -12
    fi
}
line_of() { grep -nE "$2" "$1" | head -1 | cut -d: -f1; }
lines_of() { grep -nE "$2" "$1" | cut -d: -f1 | paste -sd'|'; }

# compile NAME.HOW, fast or traced, into $work
compile() {
    local how=${1##*.}
    "$emu/cuemu" $([ $how = traced ] || echo --fast) "${1%.*}.cu" -o "$work/$1" >"$work/$1.log" 2>&1
}
# end_case N.HOW: runs case N of ends.cu
end_case() {
    CUEMU_TIMEOUT=1 CUEMU_STATUS=77 timeout 600 ${RUN:-} "$work/ends.${1#*.}" ${1%.*} >"$work/end.$1.out" 2>"$work/end.$1.log"
    echo $? >"$work/end.$1.status"
}
export -f compile end_case
export emu work
printf '%s\n' {collectives,blocks,blas,api,limits,ends}.{fast,traced} | xargs -P 2 -I{} bash -c 'compile {}'

built() {
    [ -x "$work/$1.fast" ] && [ -x "$work/$1.traced" ] && return 0
    cat "$work/$1".*.log >"$work/log"
    result 1 "$1: compiles" "$work/log"
    return 1
}

# passes NAME HOW [VAR=value ...]: the program prints no FAIL and nothing on stderr
passes() {
    local name=$1 how=$2
    shift 2
    env "$@" timeout 600 ${RUN:-} "$work/$name.$how" >"$work/out" 2>"$work/log" && [ ! -s "$work/log" ] && ! grep -q '^FAIL' "$work/out"
    local status=$?
    cat "$work/out" >>"$work/log"
    result $status "$name $how $*" "$work/log"
}

${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -fno-pie -no-pie -I../../.. fibers.c -o "$work/fibers" "$emu/libcuemu.a" -lpthread -lm
${RUN:-} "$work/fibers" >"$work/log" 2>&1
result $? "$(cut -c1-40 "$work/log" | sed 's/^ok //')" "$work/log"

# The next host's <math.h> may declare any name of the device's functions for itself, as glibc 2.41 does sinpif.
mkdir "$work/newer" && { echo '#include_next <math.h>'; sed -nE '
    s/^CUEMU_MATH1\((\w+), ([a-z]\w*),.*/extern "C" \1 \2(\1) noexcept;/p
    s/^CUEMU_MATH2\((\w+), ([a-z]\w*),.*/extern "C" \1 \2(\1, \1) noexcept;/p
    s/^CUEMU_CONVERT\((\w+), ([a-z]\w*), (\w+),.*/extern "C" \1 \2(\3) noexcept;/p' "$emu/include/cuemu/math.h"; } >"$work/newer/math.h"
grep -q 'float sinpif(float)' "$work/newer/math.h" &&
    "$emu/cuemu" --fast -I"$work/newer" ../good/math_functions.cu -o "$work/newer/program" >"$work/log" 2>&1 &&
    ${RUN:-} "$work/newer/program" >>"$work/log" 2>&1
result $? "names of the device's functions beside a <math.h> that has them" "$work/log"

for name in collectives blocks blas; do
    built $name || continue
    passes $name fast CUEMU_THREADS=1
    passes $name fast CUEMU_THREADS=2 CUEMU_REVERSE=1
    [ $name != blas ] || [ -z "${RUN:-}" ] || continue # under qemu that takes minutes
    passes $name traced CUEMU_THREADS=2
    passes $name traced CUEMU_THREADS=1 CUEMU_REVERSE=1
done

# Neither counts nor messages depend on the number of CPU threads.
for name in blocks; do
    for threads in 1 2 5; do
        CUEMU_THREADS=$threads CUEMU_JSON="$work/json.$threads" ${RUN:-} "$work/$name.traced" >"$work/said.$threads" 2>&1
    done
    sed -i -E 's/"(seconds|workers)": *[^,}]*//g' "$work"/json.*
    cmp "$work/json.1" "$work/json.2" >"$work/log" 2>&1 && cmp "$work/json.1" "$work/json.5" >>"$work/log" 2>&1 &&
        cmp "$work/said.1" "$work/said.5" >>"$work/log" 2>&1
    result $? "$name: same counts with 1, 2 and 5 CPU threads" "$work/log"
done

# The line after each `// ERROR words` (or WARNING) is reported with these words.
built api && for how in fast traced; do
    CUEMU_LEAKS=1 timeout 600 ${RUN:-} "$work/api.$how" >"$work/out" 2>"$work/log"
    [ $? = 86 ] && ! grep -q '^FAIL' "$work/out"
    result $? "api $how: values and exit status" "$work/out"
    missing=0
    while IFS=: read -r line text; do
        words=$(sed -E 's/.*(ERROR|WARNING) //' <<<"$text")
        grep -qE "api.cu:$((line + 1)): (error|warning): .*$words" "$work/log" ||
            { missing=1 && echo "     not told: line $((line + 1)), $words"; }
    done < <(grep -nE '^ *// (ERROR|WARNING) ' api.cu)
    result $missing "api $how: every misuse at its line" "$work/log"
done

CUEMU_ARCH=sm_99 ${RUN:-} "$work/limits.fast" 1 >"$work/out" 2>"$work/log"
[ $? = 2 ] && grep -q 'CUEMU_ARCH=sm_99 is not known: set it to sm_75, sm_80, sm_86 or sm_90' "$work/log"
result $? "a device that is not known" "$work/log"

built limits && for n in 1 2 3 4 5 6 7 8 9; do
    mark="// LIMIT $n\$"
    [ $n != 7 ] || mark='// STATIC$'
    [ $n != 8 ] || mark='// BOTH$'
    timeout 600 ${RUN:-} "$work/limits.fast" $n >"$work/out" 2>"$work/log"
    [ $? = 86 ] && ! grep -q '^FAIL' "$work/out" && grep -q "limits.cu:$(line_of limits.cu "$mark"): error:" "$work/log"
    result $? "limits $n: $(head -1 "$work/log" | sed 's/.*error: //' | cut -c1-70)" "$work/log"
done

if built ends; then
    cases=({1..11}.fast {1..9}.traced 11.traced)
    case $(${CC:-gcc} -dumpmachine) in # AArch64 divides by zero without a word
    aarch64*) cases=({{1..5},{7..11}}.fast {{1..5},{7..9},11}.traced) ;;
    esac
    printf '%s\n' "${cases[@]}" | xargs -P 2 -I{} bash -c 'end_case {}'
    for case in "${cases[@]}"; do
        log=$work/end.$case.log
        [ "$(cat "$work/end.$case.status")" = 77 ] &&
            grep -qE "ends.cu:($(lines_of ends.cu "// END ${case%.*}\$")): error:" "$log"
        result $? "ends $case: $(head -1 "$log" | sed 's/.*error: //' | cut -c1-70)" "$log"
    done
    # The user's folders may have any name.
    (cd / && CUEMU_TIMEOUT=1 ${RUN:-} "$work/ends.traced" 1) >/dev/null 2>"$work/log"
    grep -qE "/emulator/tests/core/ends.cu:($(lines_of ends.cu "// END 1\$")): error:" "$work/log"
    result $? "ends: a program in a folder called emulator has lines, too" "$work/log"
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
