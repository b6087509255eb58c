#!/usr/bin/env bash
# mutants.sh BUILD [LAB] -- make mutants: checks that every plausible mistake is rejected by the row that it names.
#
# Each entry of grader/mutants/NN.txt (table.awk) is applied to a copy, the rows with the name that it gives are graded, and one must
# be FAIL, CRASH or TIMEOUT. An entry that does not apply or does not build is a failure, and so is a row that does not say the entry's
# words. Races run alone, the others in parallel; a race that is INCONCLUSIVE is run again, up to twice (.ci/test has the rule). The seed
# is always the same, so that runs are reproducible; SEED=hex uses another, SEED=fresh one for each. With the usual seed a mutant that was
# caught is not graded again until it, its unit or what note_tools names has changed; a fresh clone grades them all.
# A row that no mutant names is a failure, too: nobody has seen it fail. SAMPLE=n: only n mutants of each unit of the labs whose own files have not changed (sample.sh). None is begun after UNTIL.
# GRADE=path, UNNAMED=path, ROOT=dir, PAUSE=seconds are for the tests.
set -euo pipefail
build=$(realpath -m "${1:?usage: mutants.sh BUILD [LAB]}") lab=${2:-}
grade=${GRADE:-$build/bin/grade} here=$(dirname "$(realpath "$0")")
. "$here/tables.sh"
. "$here/sample.sh"
cd "${ROOT:-$here/../..}"

# checks_of NUMBER: the labs whose checks the checks of this lab use, itself included, as alternatives of a regular expression.
checks_of() {
    local all=$1 before=
    while [ "$all" != "$before" ]; do
        before=$all
        all=$( (printf '%s\n' $all && for lab in $all; do grep -ohP '#include "checks/\K\d\d(?=-)' "grader/checks/$lab"-*; done) | sort -u) || true
    done 2>/dev/null
    echo $all | sed 's/ /\\|/g'
}

# note_tools: for each lab, in the array tools, a hash of what its verdicts depend on beside its units: its checks and calls, the parts
# of the grader that all labs share, what a worker is linked with, and the emulator; with GRADE=path, that program.
note_tools() {
    declare -gA tools=()
    local lab parts=("$build"/{worker,units,counted,traced,emu} "$build"/libgiven.a "$build/obj/grader")
    [ "$grade" = "$build/bin/grade" ] || parts=("$grade")
    for lab in "${!states[@]}"; do
        tools[$lab]=$(find "${parts[@]}" -type f ! -name '*.d' ! -regex '.*/grader/\(tests\|batch\|class\|course\|release\)/.*' \
            \( ! -regex '.*/\(checks/\|calls_\)[0-9][0-9].*' -o -regex ".*/checks/\($(checks_of "${lab%%-*}")\)-.*" \
            -o -name "calls_${lab%%-*}*" \) -exec sha256sum {} + 2>/dev/null | sort | sha256sum) || true # a part may be missing
    done
}

read_tables mutants build/mutants "$lab"
unnamed=$(printf '%s\n' "${named[@]}" | "${UNNAMED:-$build/bin/unnamed}" $lab) || true
note_states
note_tools
[ -z "${SAMPLE:-}" ] || take_sample "$SAMPLE"
take_turns
tries=3 pause=${PAUSE:-3} seed=(--seed "${SEED:-5eed01}")
[ "${SEED:-}" != fresh ] || seed=()
results=build/mutants/results${lab:+-$lab}
mkdir -p build/mutants && : >"$results" && : >"$results.again"

# judge ENTRY: prints the row that rejected it; on failure, what happened instead.
judge() {
    local name=$1 wanted=${row_of[$1]} says=${words_of[$1]} try said status units=build/mutants/$1/units report=build/mutants/$1/report
    make_units "$name" "$units" || return 1
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

# try_one ENTRY: one line on the terminal, and one in the list of results.
try_one() {
    local name=$1 word=caught said start=$SECONDS caught=build/mutants/$1/caught key
    key=$( (echo "${tools[${1%/*}]}" "${row_of[$1]}" "${words_of[$1]}" "${error_of[$1]}" &&
        cat "$made/$1/${unit_of[$1]}" {solutions,labs}/"${name%/*}"/*.{c,cu,json} 2>/dev/null || true) | sha256sum)
    if [ -z "${SEED:-}" ] && [ -e "$caught" ] && [ "$(head -1 "$caught")" = "$key" ]; then
        said="$(tail -1 "$caught")  (unchanged)"
    else
        rm -f "$caught"
        said=$(judge "$name") || word=ESCAPED
        [ -n "${SEED:-}" ] || [ $word = ESCAPED ] || printf '%s\n%s\n' "$key" "$said" >"$caught"
    fi
    printf '%s %s: %s\n' $word "$name" "${said%%$'\n'*}" >>"$results" # the first of several lines
    printf '  [%3d/%d] %-7s %-44s %s  (%d s)\n' "$(wc -l <"$results")" ${#entries[@]} $word "$name" "$said" $((SECONDS - start))
    [ $word = caught ] || echo "${place_of[$name]}: not caught; the grade is in build/mutants/$name/report" >&2
}

most=$(($(nproc) + 1)) # a grading waits for its workers and for the disk, too
for entry in "${entries[@]}"; do
    is_race "$entry" && continue
    while [ "$(jobs -rp | wc -l)" -ge $most ]; do wait -n || true; done
    ! time_is_up || break
    try_one "$entry" &
done
wait
for entry in "${entries[@]}"; do
    if is_race "$entry" && ! time_is_up; then try_one "$entry"; fi
done
graded=$(wc -l <"$results")
[ -n "${SEED:-}" ] || [ "$graded" -lt ${#entries[@]} ] || note_whole "$results"
say_left $((${#entries[@]} - graded))
cat "$results.again"
sed -n 's/^ESCAPED /failed: /p' "$results"
passed=$(grep -c '^caught' "$results") || true
missing=$(grep -c . <<<"$unnamed") || true
[ "$missing" -eq 0 ] || sed 's/^/failed: no mutant names the row /' <<<"$unnamed"
echo "mutants: $passed passed, $((graded - passed + missing)) failed"
[ "$passed" -eq "$graded" ] && [ "$missing" -eq 0 ] && { [ "$passed" -gt 0 ] || [ "${skipped:-}${#entries[@]}" = yes0 ]; }
