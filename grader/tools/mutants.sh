#!/usr/bin/env bash
# mutants.sh BUILD [LAB] -- make mutants: checks that every plausible mistake is rejected by the row that it names.
#
# grader/mutants/NN-name/what-is-wrong.patch: first line `# catches: 02.6 softmax: large logits` (step, words of the row's
# name), then a unified diff of one unit of solutions/NN-name/. It is applied to a copy and graded, and a row with that name must be FAIL, CRASH or TIMEOUT. A patch that does not apply or does not build is a failure. Races run alone, the others in parallel; an INCONCLUSIVE race is run again. The seed is always the same, so that runs are reproducible; SEED=hex uses another, SEED=fresh one for each. GRADE=path, ROOT=dir, PAUSE=seconds are for
# the tests.
set -euo pipefail
build=$(realpath -m "${1:?usage: mutants.sh BUILD [LAB]}") lab=${2:-}
grade=${GRADE:-$build/bin/grade}
cd "${ROOT:-$(dirname "$0")/../..}"
shopt -s nullglob
patches=()
for folder in grader/mutants/"${lab:+$lab-}"*/; do
    if [ ! -d "labs/$(basename "$folder")" ]; then
        echo "  skipped ${folder%/}: not graded yet" && skipped=yes && continue
    fi
    units=(solutions/"$(basename "$folder")"/*.cu)
    if [ ${#units[@]} -gt 0 ] && [ ! -x "$build/emu/cuemu" ]; then
        echo "  skipped ${folder%/}: $build/emu is missing: install g++ and run make, without CUDA=off"
        skipped=yes
    else
        patches+=("$folder"*.patch)
    fi
done
tries=3 pause=${PAUSE:-3} seed=(--seed "${SEED:-5eed01}")
[ "${SEED:-}" != fresh ] || seed=()
results=build/mutants/results${lab:+-$lab}
mkdir -p build/mutants && : >"$results"

# apply PATCH FOLDER: the folder's copy of the one unit that the patch names; prints why not.
apply() {
    local unit
    unit=$(sed -nE 's|^\+\+\+ ([^\t]*/)?([^/\t]+).*|\2|p' "$1")
    [ "$(wc -w <<<"$unit")" -eq 1 ] || { echo "does not patch exactly one unit" && return 1; }
    # The unit is in the folder, whatever the path in the patch; git must not treat build/ as a part of its repository.
    sed -E "s|^--- .*|--- a/$unit|; s|^\+\+\+ .*|+++ b/$unit|; /^(diff|index) /d" "$1" |
        (cd "$2" && GIT_CEILING_DIRECTORIES=$(dirname "$PWD") git apply -p1 - 2>&1 | head -3 | tr '\n' ' ' && exit "${PIPESTATUS[0]}") &&
        ! cmp -s "$2/$unit" "solutions/$(basename "$2")/$unit"
}

# judge PATCH NAME: prints the row that rejected it; on failure, what happened instead.
judge() {
    local name=$2 wanted try said status folder=build/mutants/$2/units/${2%/*} report=build/mutants/$2/report
    wanted=$(sed -nE '1s/^# catches: +([0-9]{2}\.[0-9]+.*)/\1/p' "$1")
    [ -n "$wanted" ] || { echo "its first line must be: # catches: 02.6 softmax: large logits" && return 1; }
    rm -rf "build/mutants/$name"
    mkdir -p "$folder" "$report"
    cp solutions/"${name%/*}"/* "$folder"
    apply "$1" "$folder" || { echo "does not apply to solutions/${name%/*}: make a new patch" && return 1; }
    for ((try = 1; ; try++)); do
        "$grade" --lab "${name%%-*}" --step "${wanted%% *}" --build "$build" --units "$folder" --report "$report" \
            "${seed[@]}" >"$report/log" 2>&1 || true
        said=$("$build/bin/rowverdict" "$report/${name%%-*}.json" "$wanted" 2>&1) && status=0 || status=$?
        [[ $said == INCONCLUSIVE* ]] && [ $try -lt $tries ] || break
        sleep "$pause"
    done
    echo "$said"
    return $status
}

# try_one PATCH: one line on the terminal, and one in the list of results.
try_one() {
    local patch=$1 name=${1#grader/mutants/} word=caught said start=$SECONDS
    name=${name%.patch}
    said=$(judge "$patch" "$name") || word=ESCAPED
    printf '%s %s: %s\n' $word "$name" "$said" >>"$results"
    printf '  [%3d/%d] %-7s %-44s %s  (%d s)\n' "$(wc -l <"$results")" ${#patches[@]} $word "$name" "$said" $((SECONDS - start))
    [ $word = caught ] || echo "$patch:1: not caught; the grade is in build/mutants/$name/report" >&2
}

is_race() { head -1 "$1" | grep -q ': speed$'; }
for patch in "${patches[@]}"; do
    is_race "$patch" && continue
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
    try_one "$patch" &
done
wait
for patch in "${patches[@]}"; do
    if is_race "$patch"; then try_one "$patch"; fi
done
sed -n 's/^ESCAPED /failed: /p' "$results"
passed=$(grep -c '^caught' "$results") || true
echo "mutants: $passed passed, $((${#patches[@]} - passed)) failed"
[ "$passed" -eq ${#patches[@]} ] && { [ "$passed" -gt 0 ] || [ -n "${skipped:-}" ]; }
