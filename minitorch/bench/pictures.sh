#!/usr/bin/env bash
# pictures.sh BUILD LAB [OUT] -- make pictures: draws the pictures of the handout of a lab (all: of every handout) into OUT, or where the handout has them.
# They are drawn by the programs draw_NN, and by others with --svg; a stage has those of its labs.
set -euo pipefail
bin=$(realpath "$1")/bin lab=$2 out=${3:-}
cd "$(dirname "$0")/../.."
drawn=0
others='05 overlap overlap.svg'

while read -r number program file; do
    if [ "$lab" != all ] && [ "$lab" != "$number" ] || [ ! -x "$bin/$program" ]; then continue; fi
    into=${out:-$(echo labs/"$number"-*/images)}
    mkdir -p "$into"
    if [ -z "$file" ]; then "$bin/$program" "$into"; else "$bin/$program" --svg "$into/$file" >/dev/null && echo "$into/$file"; fi
    drawn=$((drawn + 1))
done < <(find minitorch/bench -name 'draw_*.c' | sed -E 's|.*/(draw_([0-9]+).*)\.c|\2 \1|' | sort && echo "$others")
[ $drawn -gt 0 ] || { echo "pictures: no program draws the pictures of lab $lab" >&2 && exit 1; }
