#!/usr/bin/env bash
# mutants.sh BUILD [LAB] -- make mutants: checks that every plausible mistake is rejected by the row that it names.
#
# Each patch (patches.sh) is applied to a copy, the rows with the name that it gives are graded, and one must be FAIL, CRASH or TIMEOUT. A patch
# that does not apply or does not build is a failure, and so is a row that does not say the words of the patch's second line. Races run alone, the others in parallel; a race that is INCONCLUSIVE is run again, up to twice (.ci/test has the rule). The seed
# is always the same, so that runs are reproducible; SEED=hex uses another, SEED=fresh one for each. With the usual seed a mutant that was
# caught is not graded again until it, its unit, the grader or what a worker is linked with has changed; a fresh clone grades them all.
# SAMPLE=n: only n mutants of each unit of the labs whose own files have not changed (sample.sh). None is begun after UNTIL.
# GRADE=path, ROOT=dir, PAUSE=seconds are for the tests.
set -euo pipefail
build=$(realpath -m "${1:?usage: mutants.sh BUILD [LAB]}") lab=${2:-}
grade=${GRADE:-$build/bin/grade} here=$(dirname "$(realpath "$0")")
. "$here/patches.sh"
. "$here/sample.sh"
cd "${ROOT:-$here/../..}"
find_patches "$lab"
note_states
[ -z "${SAMPLE:-}" ] || take_sample "$SAMPLE"
take_turns
tries=3 pause=${PAUSE:-3} seed=(--seed "${SEED:-5eed01}")
[ "${SEED:-}" != fresh ] || seed=()
results=build/mutants/results${lab:+-$lab}
mkdir -p build/mutants && : >"$results" && : >"$results.again"
tools=$(find "$grade" "$build"/libgiven.a "$build"/{worker,units,counted,traced,emu} -type f ! -name '*.d' -exec sha256sum {} + 2>/dev/null | sort)

# judge PATCH NAME: prints the row that rejected it; on failure, what happened instead.
judge() {
    local name=$2 wanted step says try said status units=build/mutants/$2/units report=build/mutants/$2/report
    make_mutant "$1" "$units" || return 1
    rm -rf "$report" && mkdir -p "$report"
    for ((try = 1; ; try++)); do
        "$grade" --lab "${name%%-*}" --step "$wanted" --build "$build" --units "$units/${name%/*}" --report "$report" \
            "${seed[@]}" >"$report/log" 2>&1 || true
        said=$("$build/bin/rowverdict" "$report/${name%%-*}.json" "$wanted" ${says:+"$says"} 2>&1) && status=0 || status=$?
        [[ $said == INCONCLUSIVE* ]] && [ $try -lt $tries ] || break
        echo "again: $name: $said" >>"$results.again"
        sleep "$pause"
    done
    echo "$said"
    return $status
}

# try_one PATCH: one line on the terminal, and one in the list of results.
try_one() {
    local patch=$1 name=${1#grader/mutants/} word=caught said start=$SECONDS
    name=${name%.patch}
    local caught=build/mutants/$name/caught key
    key=$( (echo "$tools" && cat "$patch" {solutions,labs}/"${name%/*}"/*.{c,cu,json} 2>/dev/null) | sha256sum)
    if [ -z "${SEED:-}" ] && [ -e "$caught" ] && [ "$(head -1 "$caught")" = "$key" ]; then
        said="$(tail -1 "$caught")  (unchanged)"
    else
        rm -f "$caught"
        said=$(judge "$patch" "$name") || word=ESCAPED
        [ -n "${SEED:-}" ] || [ $word = ESCAPED ] || printf '%s\n%s\n' "$key" "$said" >"$caught"
    fi
    printf '%s %s: %s\n' $word "$name" "${said%%$'\n'*}" >>"$results" # the first of several lines
    printf '  [%3d/%d] %-7s %-44s %s  (%d s)\n' "$(wc -l <"$results")" ${#patches[@]} $word "$name" "$said" $((SECONDS - start))
    [ $word = caught ] || echo "$patch:1: not caught; the grade is in build/mutants/$name/report" >&2
}

most=$(($(nproc) + 1)) # a grading waits for its workers and for the disk, too
for patch in "${patches[@]}"; do
    is_race "$patch" && continue
    while [ "$(jobs -rp | wc -l)" -ge $most ]; do wait -n || true; done
    ! time_is_up || break
    try_one "$patch" &
done
wait
for patch in "${patches[@]}"; do
    if is_race "$patch" && ! time_is_up; then try_one "$patch"; fi
done
graded=$(wc -l <"$results")
[ -n "${SEED:-}" ] || [ "$graded" -lt ${#patches[@]} ] || note_whole "$results"
say_left $((${#patches[@]} - graded))
cat "$results.again"
sed -n 's/^ESCAPED /failed: /p' "$results"
passed=$(grep -c '^caught' "$results") || true
echo "mutants: $passed passed, $((graded - passed)) failed"
[ "$passed" -eq "$graded" ] && { [ "$passed" -gt 0 ] || [ "${skipped:-}${#patches[@]}" = yes0 ]; }
