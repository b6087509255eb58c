#!/usr/bin/env bash
# run.sh DIR-OF-CUEMU -- all tests of the emulator: each run_*.sh beside this one. Ends with what failed and
# "N passed, N failed".
# SAMPLE=n: where git says that the emulator has not changed, one in n of the programs in good/ and bugs/, drawn by the
# commit, and no second build of the emulator (run_ucontext, run_extending).
set -uo pipefail
emu=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 names="" sample=${SAMPLE:-1}
if [ "$sample" -gt 1 ]; then
    cd "$here/../../.." && . .ci/changed.bash
    ! changed minitorch/emulator docs/EXTENDING.md || sample=1
fi

# programs SCRIPT: those of its folder that are drawn; nothing where all are.
programs() {
    [ "$sample" -gt 1 ] && [[ $1 = run_@(good|bugs) ]] || return
    (cd "$here/${1#run_}" && ls -d ./*.cu ./*/ 2>/dev/null) | sed -E 's#^\./##; s#(\.cu|/)$##' | one_in $sample
}

for script in "$here"/run_*.sh; do
    name=$(basename "$script" .sh)
    [ "$sample" -eq 1 ] || [[ $name != run_@(ucontext|extending) ]] || continue
    mapfile -t drawn < <(programs "$name")
    echo "--> $name"
    "$script" "$emu" "${drawn[@]}" 2>&1 | tee "$log"
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -1)
    line=${line:-0 passed, 1 failed} # it did not come to its end
    passed=$((passed + ${line%% *}))
    line=${line#*, }
    failed=$((failed + ${line%% *}))
    names+=$(grep '^FAIL' "$log" | sed "s/^/$name: /")
    [ "${line%% *}" = 0 ] || names+=$'\n'
done
printf '%s' "$names"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
