#!/usr/bin/env bash
# level.sh -- the best level of the objects in reference/ that this processor can run; nothing when there is none.
set -euo pipefail
cd "$(dirname "$0")/../.."
flags=" $(sed -nE '/^flags/{s/.*: //p;q}' /proc/cpuinfo) "
has() {
    local flag
    for flag; do [[ $flags == *" $flag "* ]] || return 1; done
}
v3() { has avx avx2 bmi1 bmi2 f16c fma abm movbe; }
for level in native x86-64-v4 x86-64-v3 aarch64; do
    [ -d "reference/$level" ] || continue
    case $level in
    native) ;; # made for this machine
    x86-64-v4) v3 && has avx512f avx512bw avx512cd avx512dq avx512vl || continue ;;
    x86-64-v3) v3 || continue ;;
    aarch64) [ "$(uname -m)" = aarch64 ] || continue ;;
    esac
    echo "$level"
    exit
done
