#!/bin/bash
# test_overlap.sh -- the program overlap from the command line: its figures, and its messages for wrong options.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${MT_BIN:-$root/build/release/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

ok()
{
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n  exit %s\n%s\n' "$name" "$status" "$(sed 's/^/  | /' "$work/said")"
    fi
}
run()     { "$bin/overlap" --svg "$work/figure.svg" "$@" >"$work/said" 2>&1; status=$?; }
refused() { [ $status != 0 ] && [ $status -lt 128 ] && grep -qF -- "$1" "$work/said"; } # in words, not by a signal
numbers() { grep "fill='white'>" "$work/figure.svg" | sed 's/.*>\(.*\)<.*/\1/'; }       # those in the boxes
ticks()   { grep "fill='#666'>" "$work/figure.svg" | sed 's/.*>\(.*\)<.*/\1/'; }

[ -x "$bin/overlap" ] || { echo "$bin/overlap is missing: run make first"; echo '0 passed, 1 failed'; exit 1; }

run
ok 'the chapter'"'"'s 90 s and 40 s' grep -q '^overlap: PASS sequential=90 overlapped=40 ' "$work/said"
ok '... each of six batches is loaded and computed on in both figures' [ "$(numbers | sort | uniq -c | xargs)" = '4 0 4 1 4 2 4 3 4 4 4 5' ]
ok '... over an axis in seconds' [ "$(ticks | sort -un | paste -sd,)" = '0 s,10 s,20 s,30 s,40 s,50 s,60 s,70 s,80 s,90 s' ]
run --batches 100 --workers 8
ok 'a box with no room for its number goes without' [ -z "$(numbers)" ]
ok '... and keeps its colour: no edge covers it' [ "$(grep -c "stroke='white'" "$work/figure.svg")" = 200 ] # of what loads, 5.7 wide
run --workers 65
ok 'a number out of bounds: which option' refused "--workers: '65' is not a whole number from 1 to 64"
run --compute 0
ok '... nor does computing take no time' refused "--compute: '0'"
run --svg "$work/nonesuch/figure.svg"
ok 'a picture that cannot be written' refused "$work/nonesuch/figure.svg: No such file"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
