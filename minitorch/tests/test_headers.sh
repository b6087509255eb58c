#!/usr/bin/env bash
# Each header compiles before mt.h, and so alone, and after it, as C11 and as C++17; one that declares functions gives them C's
# names (MT_C_BEGIN).
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
# compiles HEADER COMPILER FLAGS...
compiles() {
    local header=$1 order said
    shift
    for order in "mt.h ${header#minitorch/}" "${header#minitorch/} mt.h"; do
        # shellcheck disable=SC2086
        if said=$(printf '#include "%s"\n' $order | "$@" -D_GNU_SOURCE -fopenmp -fsyntax-only -Wall -Wextra -Werror -Iminitorch - 2>&1); then
            ok
        else
            bad "$* $order: $(grep -m1 error <<<"$said")"
        fi
    done
}
for header in $(find minitorch -name '*.h' | grep -vE '^minitorch/(bench|cuda|emulator|tests)/' | sort); do
    compiles "$header" gcc -std=c11 -x c
    [[ $header != minitorch/testing/* ]] || continue # for our tests, which are C
    compiles "$header" g++ -std=c++17 -x c++
    ! grep -qE '^(extern )?[a-z][a-z0-9_ *]*[ *]mt_[a-z0-9_]+\(' <(grep -v '^static' "$header") || grep -q '^MT_C_BEGIN' "$header" &&
        ok || bad "$header declares functions without MT_C_BEGIN"
done
finish headers
