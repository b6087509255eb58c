#!/usr/bin/env bash
# mutants.sh BUILD [LAB] -- make mutants: is every plausible mistake caught by the check that is named for it?
#
# grader/mutants/NN-name/what-is-wrong.patch: first line `# catches: 02.6 softmax: large logits` (step, words of the row's
# name), then a unified diff of one unit of solutions/NN-name/. Applied to a copy, graded, and a row so called must be
# FAIL, CRASH or TIMEOUT. A patch that does not apply any more, or does not build, is a failure. GRADE=path and
# ROOT=dir are for the tests.
set -euo pipefail
build=$(realpath -m "${1:?usage: mutants.sh BUILD [LAB]}") lab=${2:-}
grade=${GRADE:-$build/bin/grade}
cd "${ROOT:-$(dirname "$0")/../..}"
shopt -s nullglob
patches=(grader/mutants/"${lab:+$lab-}"*/*.patch)
passed=0 failed=0 index=0

# apply PATCH FOLDER: the folder's copy of the one unit that the patch names; prints why not.
apply() {
    local unit
    unit=$(sed -nE 's|^\+\+\+ ([^\t]*/)?([^/\t]+).*|\2|p' "$1")
    [ "$(wc -w <<<"$unit")" -eq 1 ] || { echo "does not patch exactly one unit" && return 1; }
    # Whatever the path in the patch, the unit lies in the folder; git must not take build/ for a part of its repository.
    sed -E "s|^--- .*|--- a/$unit|; s|^\+\+\+ .*|+++ b/$unit|; /^(diff|index) /d" "$1" |
        (cd "$2" && GIT_CEILING_DIRECTORIES=$(dirname "$PWD") git apply -p1 - 2>&1 | head -3 | tr '\n' ' ' && exit "${PIPESTATUS[0]}") &&
        ! cmp -s "$2/$unit" "solutions/$(basename "$2")/$unit"
}

# judge PATCH NAME: prints what caught it; or, failing, what happened instead.
judge() {
    local name=$2 wanted folder=build/mutants/$2/units/${2%/*} report=build/mutants/$2/report
    wanted=$(sed -nE '1s/^# catches: +([0-9]{2}\.[0-9]+.*)/\1/p' "$1")
    [ -n "$wanted" ] || { echo "its first line must be: # catches: 02.6 softmax: large logits" && return 1; }
    rm -rf "build/mutants/$name"
    mkdir -p "$folder" "$report"
    cp solutions/"${name%/*}"/* "$folder"
    apply "$1" "$folder" || { echo "does not apply to solutions/${name%/*}: make the patch anew" && return 1; }
    "$grade" --lab "${name%%-*}" --step "${wanted%% *}" --build "$build" --units "$folder" --report "$report" \
        >"$report/log" 2>&1 || true
    "$build/bin/rowverdict" "$report/${name%%-*}.json" "$wanted" 2>&1
}

for patch in "${patches[@]}"; do
    index=$((index + 1)) start=$SECONDS
    name=${patch#grader/mutants/} name=${name%.patch}
    if said=$(judge "$patch" "$name"); then
        passed=$((passed + 1)) word=caught
    else
        failed=$((failed + 1)) word=ESCAPED
    fi
    printf '  [%2d/%d] %-7s %-44s %s  (%d s)\n' $index ${#patches[@]} $word "$name" "$said" $((SECONDS - start))
    [ $word = caught ] || echo "$patch:1: not caught; the grade is in build/mutants/$name/report" >&2
done
echo "mutants: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
