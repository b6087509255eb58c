#!/usr/bin/env bash
# test_overlap.sh -- the program overlap from the command line: its figures, and its messages for wrong options.
. "$(dirname "$0")/../../.ci/check.bash"
bin=${MT_BIN:-$bin}

run()     { "$bin/overlap" --svg "$dir/figure.svg" "$@" >"$dir/log" 2>&1; status=$?; }
refused() { [ $status != 0 ] && [ $status -lt 128 ] && grep -qF -- "$1" "$dir/log"; } # in words, not by a signal
numbers() { grep "fill='white'>" "$dir/figure.svg" | sed 's/.*>\(.*\)<.*/\1/'; }       # those in the boxes
ticks()   { grep "fill='#666'>" "$dir/figure.svg" | sed 's/.*>\(.*\)<.*/\1/'; }

[ -x "$bin/overlap" ] || { echo "$bin/overlap is missing: run make first"; echo '0 passed, 1 failed'; exit 1; }

run
check 'the chapter'"'"'s 90 s and 40 s' grep -q '^overlap: PASS sequential=90 overlapped=40 ' "$dir/log"
check '... each of six batches is loaded and computed on in both figures' [ "$(numbers | sort | uniq -c | xargs)" = '4 0 4 1 4 2 4 3 4 4 4 5' ]
check '... over an axis in seconds' [ "$(ticks | sort -un | paste -sd,)" = '0 s,10 s,20 s,30 s,40 s,50 s,60 s,70 s,80 s,90 s' ]
run --batches 100 --workers 8
check 'a box with no room for its number goes without' [ -z "$(numbers)" ]
check '... and keeps its colour: no edge covers it' [ "$(grep -c "stroke='white'" "$dir/figure.svg")" = 200 ] # of what loads, 5.7 wide
run --workers 65
check 'a number out of bounds: which option' refused "--workers: '65' is not a whole number from 1 to 64"
run --compute 0
check '... nor does computing take no time' refused "--compute: '0'"
run --svg "$dir/nonesuch/figure.svg"
check 'a picture that cannot be written' refused "$dir/nonesuch/figure.svg: No such file"

finish overlap
