#!/usr/bin/env bash
# labs.sh BUILD [LAB...] -- tests the checks: for every lab with checks, or these (02), the skeleton earns 0 points with every row TODO, units with empty regions earn 0, and the solution earns all points. Skeletons are generated from solutions/, so that a student's work in labs/ has no influence.
# Without the emulator a lab with .cu units is skipped, with a note.
# If the solution misses points only in timed rows (": speed") or in rows with ERROR, CRASH or TIMEOUT, the machine may be busy: their steps are graded once more, and where a row is
# INCONCLUSIVE up to four times, with increasing pauses (.ci/test has the rule). A row that is still INCONCLUSIVE then is reported as not measured. A wrong value is a failure at once.
# SPEED=without leaves out the rows that measure speed, so that other programs may use the machine; SPEED=only grades these rows of the solution.
# The seed is always the same, so that an error comes again and runs are reproducible; SEED=hex uses another, SEED=fresh one for each grade (make steady grades with many).
set -uo pipefail
build=$1 passed=0 failed=0 tries=5 pause=${PAUSE:-10} failures=() seed=(--seed "${SEED:-5eed01}") speed=${SPEED:-with} slow=()
[ "$speed" != without ] || slow=(--no-speed)
[ "${SEED:-}" != fresh ] || seed=()
verdict() { # name, condition, the grade's machine line
    if [ "$2" = yes ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    printf '  %-28s %s   %s\n' "$1" "$([ "$2" = yes ] && echo ok || echo FAILED)" "$3"
    [ "$2" = yes ] || failures+=("$1: $3")
}
grade() { # units, folder for the reports, options: the table into $out, its last line into $last
    out=$("$build/bin/grade" --lab "$number" --width 0 --build "$build" --units "$1" --report "build/report/$2" "${seed[@]}" "${@:3}" 2>&1)
    last=$(tail -1 <<<"$out")
}
# The rows without all their points; a row's note begins two blanks after these.
lost() { sed -nE "s#^ ($number\.[0-9]+  .*[^ ]) +([A-Z]+) +([0-9.]+)/([0-9.]+)(  .*)?\$#\1|\2|\3|\4|\5#p" <<<"$out" | awk -F'|' '$3 != $4'; }
left_out='speed == "without" && $1 ~ /: speed$/ && $2 == "INCONCLUSIVE"'
missed() { lost | awk -F'|' -v speed="$speed" "!($left_out)"; }
points_left_out() { lost | awk -F'|' -v speed="$speed" "$left_out { sum += \$4 } END { print sum + 0 }"; }
full() {
    [[ $last =~ ^grade\ $number:\ ([0-9.]+)/([0-9.]+)(\ INCONCLUSIVE=[0-9]+)?(\ SKIPPED=[0-9]+)?$ ]] && [ -z "$(missed)" ] &&
        awk "BEGIN { exit ${BASH_REMATCH[1]} + $(points_left_out) != ${BASH_REMATCH[2]} }"
}
# Whether a busy machine can be the cause: timed rows with PASS, FAIL or INCONCLUSIVE, and rows that did not come to an end; not a wrong value.
only_races() { [ -n "$(missed)" ] && ! grep -qvE ': speed\|((PASS|FAIL)\|.* [0-9.]+x of .*\(bar |INCONCLUSIVE\|)|\|(ERROR|CRASH|TIMEOUT)\|' <<<"$(missed)"; }
# Whether a row has failed, and not only was not measured.
failing() { grep -qv '|INCONCLUSIVE|' <<<"$(missed)"; }
# race_again STEP: grade that step until it has all its points. One that stays INCONCLUSIVE was not measured, which is not an error of the reference.
race_again() {
    local try failures=0
    for ((try = 1; try < tries; try++)); do
        printf '  %-28s busy, try %d of %d   %s\n' "$number solution" "$try" $tries "$last"
        missed | sed 's/^/      /'
        echo "again: $number, step $1: $(missed | cut -d'|' -f1,2 | paste -sd ';')"
        ! failing || failures=$((failures + 1))
        [[ ! $(missed) =~ \|(ERROR|CRASH|TIMEOUT)\| ]] || printf '%s\n' "$out" # in full
        sleep $((pause * try))
        grade "solutions/$lab" solution --step "$1" "${slow[@]}"
        if full; then return 0; fi
        only_races || return 1
        ! failing || [ $failures -eq 0 ] || return 1
    done
    [ -n "$(missed)" ] && ! failing && printf '  %-28s not measured: %s\n' "$number solution" "$(missed | cut -d'|' -f1)"
}

# grade_unwritten: the skeleton, and units with empty regions. They earn nothing for speed: they are graded side by side.
grade_unwritten() {
    local skeleton=build/skel/$lab empty=build/skel/empty/$lab unit ok
    rm -rf "$skeleton" "$empty" && mkdir -p "$skeleton" "$empty"
    for unit in solutions/"$lab"/*.c*; do
        "$build/bin/strip" "$unit" "$skeleton/${unit##*/}"
        sed '/^ *MT_TODO(/d' "$skeleton/${unit##*/}" >"$empty/${unit##*/}"
    done

    (grade "$empty" empty --limit 5 && echo "$out") >"$empty.log" &
    grade "$skeleton" skeleton
    ok=no
    [[ $last =~ ^grade\ $number:\ 0/[0-9.]+\ TODO=[0-9]+$ ]] && ok=yes
    verdict "$number skeleton" $ok "$last"
    [ $ok = yes ] || printf '%s\n' "$out"

    wait $!
    out=$(cat "$empty.log") last=$(tail -1 "$empty.log") ok=no
    [[ $last =~ ^grade\ $number:\ 0/ ]] && ok=yes
    verdict "$number empty regions" $ok "$last"
    [ $ok = yes ] || printf '%s\n' "$out"
}

for info in labs/*/lab.json; do
    lab=$(basename "$(dirname "$info")") number=${lab%%-*}
    [ $# -eq 1 ] || [[ " ${*:2} " == *" $number "* ]] || continue
    if compgen -G "solutions/$lab/*.cu" >/dev/null && [ ! -x "$build/emu/cuemu" ]; then
        printf '  %-28s skipped   %s\n' "$number" "$build/emu is missing: install g++ and run make, without CUDA=off"
        continue
    fi
    if [ "$speed" = only ]; then
        grade "solutions/$lab" solution --step "$number speed"
        [[ $last != *"has no step"* ]] || continue
    else
        grade_unwritten
        grade "solutions/$lab" solution "${slow[@]}"
    fi
    ok=no sum=$last
    if full; then
        ok=yes
    elif only_races; then
        ok=yes
        for step in $(missed | cut -d' ' -f1 | sort -u); do race_again "$step" || ok=no; done
    fi
    verdict "$number solution" $ok "$sum"
    [ $ok = yes ] || printf '%s\n' "$out"
done
[ $failed -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "labs: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
