#!/usr/bin/env bash
# Each header compiles alone as C11, and beside mt.h; mt.h and the headers that declare extern "C" compile alone as C++17, too.
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
    [ "$header" != minitorch/mt.h ] && ! grep -q MT_C_BEGIN "$header" || compiles "$header" g++ -std=c++17 -x c++
done
# A C++ program links what mt.h declares.
for header in $(g++ -std=c++17 -fopenmp -MM -Iminitorch -x c++ minitorch/mt.h | tr ' \\' '\n\n' | grep '\.h$' | grep -v '/mt\.h$'); do
    grep -q '^MT_C_BEGIN' "$header" && ok || bad "$header is in mt.h, without MT_C_BEGIN"
done
finish headers
