#!/usr/bin/env bash
# variants.sh BUILD [LAB] -- make variants: checks that right units in another form keep their marks.
#
# grader/variants/NN-name/what-is-different.patch: first line `# keeps: 02.7  why it is right`, then a unified diff of one unit of
# solutions/NN-name/. It is applied to a copy, and the rows of that step must give every point; rows that measure speed are left out.
# SAMPLE=n: only n variants of each of the labs whose own files have not changed (sample.sh). None is begun after UNTIL.
set -euo pipefail
build=$(realpath -m "${1:?usage: variants.sh BUILD [LAB]}") lab=${2:-}
grade=${GRADE:-$build/bin/grade}
tools=$(realpath "$(dirname "$0")")
cd "${ROOT:-$tools/../..}"
. "$tools/patches.sh" # apply
. "$tools/sample.sh"
shopt -s nullglob
passed=0 failed=0 index=0 kind=variants patches=(grader/variants/"${lab:+$lab-}"*/*.patch)
note_states
[ -z "${SAMPLE:-}" ] || take_sample "$SAMPLE"
take_turns
for patch in "${patches[@]}"; do
    ! time_is_up || break
    name=${patch#grader/variants/} said=
    name=${name%.patch}
    id=${name%/*} number=${name%%-*} step=$(sed -nE '1s/^# keeps: +([0-9]{2}\.[0-9]+) .*/\1/p' "$patch")
    folder=build/variants/$name/$id
    rm -rf "build/variants/$name" && mkdir -p "$folder"
    cp solutions/"$id"/*.c* "$folder"
    if [ -z "$step" ]; then
        said="its first line must be: # keeps: 02.7  why it is right"
    elif ! said=$(apply "$patch" "$folder"); then
        said="does not apply to solutions/$id: make a new patch. $said"
    else
        "$grade" --lab "$number" --step "$step" --build "$build" --units "$folder" --no-speed --seed "${SEED:-5eed01}" \
            >"build/variants/$name/log" 2>&1 || true
        said=$(tail -1 "build/variants/$name/log")
    fi
    # Points that are missing must be those of rows that measure speed.
    if [[ $said =~ ^grade\ $number:\ ([0-9.]+)/([0-9.]+)(\ INCONCLUSIVE=[0-9]+)?$ ]] &&
        { [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] || [ -n "${BASH_REMATCH[3]}" ]; }; then
        passed=$((passed + 1)) word=ok
    else
        failed=$((failed + 1)) word=FAILED
    fi
    index=$((index + 1))
    printf '  [%3d/%d] %s %s: %s\n' $index ${#patches[@]} $word "$name" "$said"
    if [ $word = FAILED ]; then
        grep -hE ' (FAIL|CRASH|TIMEOUT) ' -A3 "build/variants/$name/log" 2>/dev/null || true
    fi
done
say_left $((${#patches[@]} - index))
echo "variants: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
