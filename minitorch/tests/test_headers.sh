#!/usr/bin/env bash
# Each header compiles alone as C11, beside mt.h, and as C++17; one that declares functions gives them C's names (MT_C_BEGIN).
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
# compiles HEADER COMPILER FLAGS...
compiles() {
    local header=$1 said
    shift
    if said=$("$@" -D_GNU_SOURCE -fopenmp -fsyntax-only -Wall -Wextra -Werror -Iminitorch - <<<"#include \"${header#minitorch/}\"" 2>&1); then
        ok
    else
        bad "$* $header: $(grep -m1 error <<<"$said")"
    fi
}
for header in $(find minitorch -name '*.h' | grep -vE '^minitorch/(bench|cuda|emulator|tests)/' | sort); do
    compiles "$header" gcc -std=c11 -x c
    compiles "$header" gcc -std=c11 -x c -include mt.h
    [[ $header != minitorch/testing/* ]] || continue # for our tests, which are C
    compiles "$header" g++ -std=c++17 -x c++
    ! grep -qE '^(extern )?[a-z][a-z0-9_ *]*[ *]mt_[a-z0-9_]+\(' <(grep -v '^static' "$header") || grep -q '^MT_C_BEGIN' "$header" &&
        ok || bad "$header declares functions without MT_C_BEGIN"
done
finish headers
