#!/usr/bin/env bash
# .ci/unit with made-up test programs: what counts as a failure, and the messages.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
unit=$root/.ci/unit
cd "$dir"
# program NAME STATUS TESTED PASSING WORDS: prints these words and Criterion's last line.
program() {
    printf '#!/bin/sh\necho "%s" >&2\necho "[====] Synthesis: Tested: %d | Passing: %d | Failing: 0"\nexit %d\n' \
        "$5" "$3" "$4" "$2" >"$1"
    chmod +x "$1"
}
# expect NAME STATUS WORDS PROGRAM...
expect() {
    local name=$1 status=$2 words=$3 out rc=0
    shift 3
    out=$("$unit" "${@/#/./}" 2>&1) || rc=$?
    if [ $rc -eq "$status" ] && grep -qF -- "$words" <<<"$out"; then ok; else bad "$name: exit $rc, said: $out"; fi
}
program good 0 3 3 ""
program bad 1 3 2 "[FAIL] softmax::large_logits: (0.01s)"
program silent 1 3 3 ""
program none 0 0 0 ""
program leaky 0 3 3 "2 blocks, 55 bytes were never freed: a missing mt_release or mt_scope_end"
expect "all good" 0 "unit: 6 passed, 0 failed" good good
expect "one bad" 1 "unit: 5 passed, 1 failed" good bad
expect "which one is said again" 1 "failed: ./bad: [FAIL] softmax::large_logits" bad good
expect "a status that the counts do not show" 1 "failed: ./silent: exit status 1" silent
expect "no test at all" 1 "unit: 0 passed, 1 failed" none
expect "memory never freed" 1 "failed: ./leaky: 2 blocks, 55 bytes were never freed" leaky good
finish .ci/unit
