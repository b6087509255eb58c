#!/usr/bin/env bash
# level.sh -- the best level of the objects in reference/ that this machine can run; when there is none, nothing, and why on stderr.
set -euo pipefail
cd "$(dirname "$0")/../.."
flags=" $(sed -nE '/^flags/{s/.*: //p;q}' /proc/cpuinfo) "
has() {
    local flag
    for flag; do [[ $flags == *" $flag "* ]] || return 1; done
}
v3() { has avx avx2 bmi1 bmi2 f16c fma abm movbe; }
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/.* //') made=$(cat reference/glibc)
if [ "$(printf '%s\n' "$made" "${glibc:-0}" | sort -V | head -n 1)" != "$made" ]; then
    echo "reference/: its objects were made with glibc $made, and this machine has ${glibc:-none}: Debian 12 has 2.36, Debian 13 has 2.41" >&2
    exit
fi
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
echo "reference/: it has objects for $(cd reference && ls -d */units | cut -d/ -f1 | xargs), and this machine is $(uname -m)$([ "$(uname -m)" != x86_64 ] || v3 || echo " without AVX2 and FMA")" >&2
