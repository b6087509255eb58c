#!/usr/bin/env bash
# variants.sh BUILD [LAB] -- make variants: checks that right units in another form keep their marks.
#
# Each entry of grader/variants/NN.txt (table.awk) is applied to a copy, and the rows of the step that it names must give every point; rows
# that measure speed are left out.
# SAMPLE=n: only n variants of each of the labs whose own files have not changed (sample.sh). None is begun after UNTIL.
set -euo pipefail
build=$(realpath -m "${1:?usage: variants.sh BUILD [LAB]}") lab=${2:-}
grade=${GRADE:-$build/bin/grade}
tools=$(realpath "$(dirname "$0")")
cd "${ROOT:-$tools/../..}"
. "$tools/tables.sh"
. "$tools/sample.sh"
read_tables variants build/variants "$lab"
passed=0 failed=0 index=0 kind=variants
note_states
[ -z "${SAMPLE:-}" ] || take_sample "$SAMPLE"
take_turns
for name in "${entries[@]}"; do
    ! time_is_up || break
    number=${name%%-*} folder=build/variants/$name
    rm -f "$folder/log"
    if [[ ! ${row_of[$name]} =~ ^$number\.[0-9]+$ ]] || [ -z "${words_of[$name]}" ]; then
        said="${place_of[$name]}: its head must be: name | unit.c | $number.7 | why it is right"
    elif said=$(make_units "$name" "$folder"); then
        "$grade" --lab "$number" --step "${row_of[$name]}" --build "$build" --units "$folder/${name%/*}" --no-speed --seed "${SEED:-5eed01}" \
            >"$folder/log" 2>&1 || true
        said=$(tail -1 "$folder/log")
    fi
    # Points that are missing must be those of rows that measure speed.
    if [[ $said =~ ^grade\ $number:\ ([0-9.]+)/([0-9.]+)(\ INCONCLUSIVE=[0-9]+)?$ ]] &&
        { [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] || [ -n "${BASH_REMATCH[3]}" ]; }; then
        passed=$((passed + 1)) word=ok
    else
        failed=$((failed + 1)) word=FAILED
    fi
    index=$((index + 1))
    printf '  [%3d/%d] %s %s: %s\n' $index ${#entries[@]} $word "$name" "$said"
    if [ $word = FAILED ]; then
        grep -hE ' (FAIL|CRASH|TIMEOUT) ' -A3 "$folder/log" 2>/dev/null || true
    fi
done
say_left $((${#entries[@]} - index))
echo "variants: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
