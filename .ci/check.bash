# check.bash -- sourced by a test script (.ci/shell-tests runs them): the repository $root, its programs in $bin, a folder $dir that is
# removed at the end, and counts of what was checked. After a failure the end of $dir/log, if the test writes one, is shown.
#
#   COMMAND && ok || bad WORDS
#   check NAME COMMAND...                 the command succeeds
#   expect NAME STATUS WORDS COMMAND...   the command ends with STATUS and prints WORDS
#   await PID CONDITION                   wait until the condition holds: a failure if the process ends before, or after LIMIT seconds
#   finish NAME                           the last command: the line that .ci/shell-tests reads
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=$root/build/release/bin
dir=$(mktemp -d) passed=0 failed=0
trap 'rm -rf "$dir"' EXIT
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)) && printf 'FAIL %s\n' "$*" && { [ ! -s "$dir/log" ] || tail -n 3 "$dir/log" | sed 's/^/  | /'; }; }
check() { if "${@:2}"; then ok; else bad "$1"; fi; }
expect() {
    local out rc=0
    out=$("${@:4}" 2>&1) || rc=$?
    if [ $rc -eq "$2" ] && grep -qF -- "$3" <<<"$out"; then ok; else bad "$1: exit $rc, said: $out"; fi
}
await() {
    local end=$((SECONDS + ${LIMIT:-120}))
    until eval "$2" 2>/dev/null; do
        if ! kill -0 "$1" 2>/dev/null; then
            ! eval "$2" 2>/dev/null || return 0
            bad "process $1 has ended before $2" && return 1
        fi
        [ $SECONDS -lt $end ] || { bad "within ${LIMIT:-120} s not: $2" && return 1; }
        sleep 0.02
    done
}
finish() { echo "$1: $passed passed, $failed failed" && exit $((failed > 0)); }
