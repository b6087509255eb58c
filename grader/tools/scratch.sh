#!/usr/bin/env bash
# scratch.sh BUILD LAB -- make lab FROM=scratch: the C units of a lab in labs/ become files with the functions of their headers, each with an empty body (scratch.awk), instead of skeletons with gaps.
#
# Nothing that a student wrote is replaced: a unit must be its skeleton, be written from scratch already and have no line yet, or not be there. All units are made, or none. .cu units stay skeletons: their headers
# do not say enough of launches and shared memory.
set -euo pipefail
build=$1 lab=$2 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stop() { echo "lab: $*" >&2 && exit 1; }
units=$([ -d solutions ] && echo solutions || echo reference/skeletons)/$lab
compgen -G "$units/*.c" >/dev/null || stop "lab ${lab%%-*} has .cu units only: they are written in their skeletons"
for unit in "$units"/*.c; do
    name=${unit##*/} unit=labs/$lab/${unit##*/}
    grader/tools/skeleton.sh "$build" "$lab/$name" >"$work/skeleton"
    awk -f grader/tools/scratch.awk "$work/skeleton" >"$work/$name"
    [ ! -e "$unit" ] || cmp -s "$unit" "$work/skeleton" || cmp -s "$unit" "$work/$name" ||
        stop "$unit has lines of yours: move it away first, and it is made anew"
done
rm "$work/skeleton"
cp "$work"/*.c "labs/$lab/"
echo "lab: from scratch: $(cat "$work"/*.c | grep -c 'MT_TODO("') functions of labs/$lab; their headers say what they do"
