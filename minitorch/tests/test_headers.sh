#!/usr/bin/env bash
# Each header compiles alone, and the public ones all together after mt.h, as C11 and as C++17; one that declares functions
# gives them C's names (MT_C_BEGIN).
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
# compiles "HEADER..." COMPILER FLAGS...
compiles() {
    local headers=$1 said
    shift
    # shellcheck disable=SC2086
    if said=$(printf '#include "%s"\n' $headers | "$@" -D_GNU_SOURCE -fopenmp -fsyntax-only -Wall -Wextra -Werror -Iminitorch - 2>&1); then
        ok
    else
        bad "$* $headers: $(grep -m1 error <<<"$said")"
    fi
}
c=(gcc -std=c11 -x c) cpp=(g++ -std=c++17 -x c++) public=''
for header in $(find minitorch -name '*.h' | grep -vE '^minitorch/(bench|cuda|emulator|tests)/' | sort); do
    name=${header#minitorch/}
    compiles "$name" "${c[@]}"
    if [[ $header = minitorch/testing/* ]]; then compiles "mt.h $name" "${c[@]}"; continue; fi # for our tests, which are C
    compiles "$name" "${cpp[@]}"
    public+=" $name"
    ! grep -qE '^(extern )?[a-z][a-z0-9_ *]*[ *]mt_[a-z0-9_]+\(' <(grep -v '^static' "$header") || grep -q '^MT_C_BEGIN' "$header" &&
        ok || bad "$header declares functions without MT_C_BEGIN"
done
compiles "mt.h $public" "${c[@]}"
compiles "mt.h $public" "${cpp[@]}"
finish headers
