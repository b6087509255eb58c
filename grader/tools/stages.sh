#!/usr/bin/env bash
# stages.sh BUILD [LAB...] -- makes the stages after these labs (default: 02 05 08 12, or with SAMPLE=n one in n of them, drawn by the commit; all: every lab) and in each of them runs `make test`: it builds, its
# unit tests pass, its program trains, and the skeletons of its last lab earn 0 and the reference all points. ALL=1 grades all of its labs that are not in the stage
# before it: what is there for a lab's grade in one stage is there in every later one, and in the repository. Objects of BUILD are taken over where they fit.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. .ci/changed.bash
build=$(realpath "$1") passed=0 failed=0
labs=("${@:2}")
[ "${labs[*]}" != all ] || mapfile -t labs < <(cd labs && printf '%.2s\n' [0-9]*)
[ ${#labs[@]} -gt 0 ] || mapfile -t labs < <(printf '%s\n' 02 05 08 12 | one_in "${SAMPLE:-1}" | sort)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export MT_DATA=${MT_DATA:-$PWD/datasets/cache}
unset MAKEFLAGS MFLAGS MAKELEVEL LAB OUT
before=
for lab in "${labs[@]}"; do
    stage=$dir/$lab why= graded=$lab
    [ -z "${ALL:-}" ] || graded=$(cd labs && printf '%.2s\n' [0-9]* | awk -v after="$before" -v to="$lab" '$1 > after && $1 <= to' | xargs)
    before=$lab
    if ! grader/release/stage.sh "$build" "$stage" "$lab" >"$dir/log" 2>&1; then
        why="it cannot be made: $(grep -m 1 '^stage: ' "$dir/log" || tail -n 1 "$dir/log")"
    else
        mkdir -p "$stage"/build/release/{units,counted}
        cp -a "$build"/{obj,worker,made-for} "$stage/build/release"
        for kind in units counted; do (cd "$stage/solutions" && printf "$build/$kind/%s\n" *) | xargs cp -a -t "$stage/build/release/$kind" 2>/dev/null; done
        [ ! -d "$stage/minitorch/emulator" ] || cp -a "$build/emu" "$stage/build/release"
        LABS=$graded "$stage/.ci/test" >"$dir/log" 2>&1 || why=$(grep -A 3 '^what failed:' "$dir/log" || tail -n 3 "$dir/log")
    fi
    if [ -z "$why" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "failed: stage $lab: $why"; fi
    echo "  stage $lab: $(tail -n 1 "$dir/log")"
    rm -rf "$stage"
done
echo "stages: $passed passed, $failed failed"
[ $failed -eq 0 ]
