#!/usr/bin/env bash
# adds.sh [--check] -- writes, or checks, the line **This stage** at the top of each handout: the folders that minitorch/stages.tsv
# gives to the lab, the code lines that the framework gains with it (to the hundred), those that the student writes, and
# what the framework can then do ("gives" of lab.json). Ends with 1 where a line is not current.
set -euo pipefail
cd "$(dirname "$0")/../.."
before=0 stale=0
figures=$(grader/tools/figures.sh)
for lab in labs/[0-9]*; do
    number=$(basename "$lab" | cut -c1-2)
    total=$(grader/tools/figures.sh stage "$number" | awk '{ s += $2 } END { print s }')
    folders=$(awk -F'\t' -v lab="$number" '$2 == lab { sub(/\/.*/, "", $1); if (!seen[$1]++) printf "%s[%s](../../minitorch/%s)", n++ ? ", " : "", $1, $1 }' minitorch/stages.tsv)
    written=$(sed -nE "s|^lab $lab: [0-9]+ regions, ([0-9]+) lines$|\1|p" <<<"$figures")
    gives=$(sed -nE 's/^ *"gives": "(.*)",?$/\1/p' "$lab/lab.json")
    line=$(printf -- '- **This stage** adds %s to the framework: about %d lines of code, of which you write %d. It can then %s.' \
        "${folders:-your units}" $(((total - before + 50) / 100 * 100)) "$written" "$gives")
    line=$(fold -s -w 118 <<<"$line" | sed -E '2,$s/^/  /; s/ +$//')
    before=$total
    now=$(sed -n '/^- \*\*This stage\*\*/,/^- \*\*Time/p' "$lab/README.md" | sed '$d')
    [ "$now" != "$line" ] || continue
    stale=1
    if [ "${1:-}" = --check ]; then
        echo "$lab/README.md: what this stage adds is not current: make map"
    else
        LINE=$line perl -0pi -e 's/^- \*\*This stage\*\*.*?(?=^- \*\*)//msg; s/^(?=- \*\*Time)/$ENV{LINE}\n/m' "$lab/README.md"
    fi
done
[ "${1:-}" != --check ] || exit $stale
