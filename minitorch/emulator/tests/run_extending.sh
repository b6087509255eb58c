#!/usr/bin/env bash
# run_extending.sh DIR-OF-CUEMU -- the examples of docs/EXTENDING.md that change the emulator: DIR's refuses the programs
# that they add, a copy with their diffs builds and runs them. Ends with "N passed, N failed".
set -uo pipefail
emu=$(cd "$1" && pwd)
cd "$(dirname "$0")/../../.." || exit 1
root=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
verdict() { # NAME: by the status of the command before
    if [ $? = 0 ]; then passed=$((passed + 1)) && echo "ok   $1"; else failed=$((failed + 1)) && echo "FAIL $1" && cat "$work/log"; fi
}

mkdir "$work/minitorch" && cp -a minitorch/emulator "$work/minitorch" && cd "$work" || exit 1
awk '/^```/ { if (text ~ /b\/minitorch\/emulator\//) printf "%s", text; text = ""; in_diff = /diff/; next } in_diff { text = text $0 "\n" }' \
    "$root/docs/EXTENDING.md" >diff
git apply --verbose diff >log 2>&1
verdict "the diffs apply"
mapfile -t names < <(sed -nE 's#^\+\+\+ b/minitorch/emulator/tests/good/(.*)\.cu$#\1#p' diff)
[ ${#names[@]} -gt 0 ] || echo "run_extending: the page has no example" >log
test ${#names[@]} -gt 0
verdict "examples: ${names[*]}"
for name in "${names[@]}"; do
    ! "$emu/cuemu" "minitorch/emulator/tests/good/$name.cu" -o "$name" >log 2>&1 && grep -q 'not supported by the emulator' log
    verdict "$name is refused without its diff"
done
env -u MAKEFLAGS -u MAKELEVEL make -j2 -f minitorch/emulator/emulator.mk REF=build CC="${CC:-gcc}" Q=@ emulator >log 2>&1
verdict "the changed emulator builds"
NVCC='' minitorch/emulator/tests/run_good.sh build/emu "${names[@]}" >log 2>&1
verdict "its programs run"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
