#!/usr/bin/env bash
# The pictures of the handouts that programs draw from simulated time and from results are what `make pictures` draws.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1

for lab in $(find minitorch/bench -name 'draw_*.c' | grep -oE '[0-9]+' | sort -u) 05; do
    check "lab $lab: they are drawn" minitorch/bench/pictures.sh build/release "$lab" "$dir/$lab" >"$dir/log"
    for picture in "$dir/$lab"/*.svg; do
        check "lab $lab: ${picture##*/}: run make pictures" cmp "$picture" labs/"$lab"-*/images/"${picture##*/}"
        check "lab $lab: ${picture##*/} is in the handout" grep -q "^!\[.*](images/${picture##*/})" labs/"$lab"-*/README.md
    done
done
expect "a lab without such pictures" 1 "no program draws the pictures of lab 00" minitorch/bench/pictures.sh build/release 00 "$dir/00"
finish pictures
