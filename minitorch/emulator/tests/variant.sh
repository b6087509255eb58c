#!/usr/bin/env bash
# variant.sh DIR-OF-CUEMU OUT CC [FLAG...] -- a second build of the emulator, in OUT: its runtime compiled by CC with
# these flags and those of emulator.mk, everything else copied from DIR. For another processor, OUT/cuemu needs the C++ compiler in CXX and the C
# compiler in CC, and its programs need an emulator of that processor.
set -euo pipefail
emu=$(cd "$1" && pwd) out=$2 cc=$3
shift 3
root=$(cd "$(dirname "$0")/../../.." && pwd)
mkdir -p "$out/obj" && out=$(cd "$out" && pwd)
cp -r "$emu"/{cuemu,translate,include} "$out"
cd "$root"
printf '%s\n' minitorch/emulator/{run,check,count,api}/*.c | xargs -P 2 -I{} sh -c 'name=$(basename {} .c); dir=$1 cc=$2; shift 2
    "$cc" -std=gnu11 -D_GNU_SOURCE -O2 -g -fdebug-prefix-map=minitorch/emulator=/usr/include/cuemu/runtime -fno-pie -Wall -Wextra \
        -Werror -Iminitorch "$@" -c {} -o "$dir/obj/$name.o"' sh "$out" "$cc" "$@"
ar=${cc%gcc}ar
rm -f "$out/libcuemu.a" && "$ar" rcs "$out/libcuemu.a" "$out"/obj/*.o
