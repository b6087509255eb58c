#!/usr/bin/env bash
# labs.sh BUILD [LAB] -- tests the checks: for every lab with checks, or one (02), the skeleton earns 0 points with every row TODO, and the solution earns all points. Skeletons are generated from solutions/, so that a student's work in labs/ has no influence.
# Without the emulator a lab with .cu units is skipped, with a note.
# If the solution misses points only in rows with a race ("0.91x of ..."), or a row is INCONCLUSIVE, the machine may be busy: it is graded again, up to five times, with increasing pauses.
set -uo pipefail
build=$1 passed=0 failed=0 tries=5 pause=${PAUSE:-10} failures=()
verdict() { # name, condition, the grade's machine line
    if [ "$2" = yes ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    printf '  %-28s %s   %s\n' "$1" "$([ "$2" = yes ] && echo ok || echo FAILED)" "$3"
    [ "$2" = yes ] || failures+=("$1: $3")
}
grade() { # units, folder for the reports: the table into $out, its last line into $last
    out=$("$build/bin/grade" --lab "$number" --build "$build" --units "$1" --report "build/report/$2" 2>&1)
    last=$(tail -1 <<<"$out")
}
full() { [[ $last =~ ^grade\ $number:\ ([0-9.]+)/([0-9.]+)$ ]] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]; }
# The rows without all their points; a row's note begins two blanks after these.
missed() { sed -nE "s#^ ($number\.[0-9]+  .*[^ ]) +([A-Z]+) +([0-9.]+)/([0-9.]+)(  .*)?\$#\1|\2|\3|\4|\5#p" <<<"$out" | awk -F'|' '$3 != $4'; }
# Whether a busy machine can be the cause: a race with PASS, FAIL or INCONCLUSIVE, not a row that crashed.
only_races() { [ -n "$(missed)" ] && ! missed | grep -qvE '(\|(PASS|FAIL)\|.* [0-9.]+x of .*\(bar |\|INCONCLUSIVE\|)'; }

for info in labs/"${2:+$2-}"*/lab.json; do
    lab=$(basename "$(dirname "$info")") number=${lab%%-*}
    if compgen -G "solutions/$lab/*.cu" >/dev/null && [ ! -x "$build/emu/cuemu" ]; then
        printf '  %-28s skipped   %s\n' "$number" "$build/emu is missing: install g++ and run make, without CUDA=off"
        continue
    fi
    skeleton=build/skel/$lab
    rm -rf "$skeleton" && mkdir -p "$skeleton"
    for unit in solutions/"$lab"/*.c*; do "$build/bin/strip" "$unit" "$skeleton/$(basename "$unit")"; done

    grade "$skeleton" skeleton
    ok=no
    [[ $last =~ ^grade\ $number:\ 0/[0-9.]+\ TODO=[0-9]+$ ]] && ok=yes
    verdict "$number skeleton" $ok "$last"
    [ $ok = yes ] || printf '%s\n' "$out"

    for ((try = 1; try <= tries; try++)); do
        grade "solutions/$lab" solution
        ok=yes
        full && break
        ok=no
        if ! only_races || [ "$try" -eq $tries ]; then break; fi
        printf '  %-28s busy, try %d of %d   %s\n' "$number solution" "$try" $tries "$last"
        missed | sed 's/^/      /'
        sleep $((pause * try))
    done
    verdict "$number solution" $ok "$last"
    [ $ok = yes ] || printf '%s\n' "$out"
done
[ $failed -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "labs: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
