# check.bash -- for tests of programs: $bin, a folder $dir that is removed at the end, and counts: COMMAND && ok || bad WORDS. The test
# says `finish NAME`.
set -uo pipefail
bin=$(cd "$(dirname "$0")/../.." && pwd)/build/release/bin
dir=$(mktemp -d) passed=0 failed=0
trap 'rm -rf "$dir"' EXIT
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)) && echo "FAIL $*: $(tail -3 "$dir/log" 2>/dev/null)"; }
finish() { echo "$1: $passed passed, $failed failed" && exit $((failed > 0)); }
