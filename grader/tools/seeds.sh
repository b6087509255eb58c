#!/usr/bin/env bash
# seeds.sh BUILD LAB [SEEDS] -- make seeds: does a named mutant escape with some random inputs?
#
# Each mutant of the lab (patches.sh) is built once and graded SEEDS times with other inputs (grade --times): the rows of its step, without
# those that measure speed. A miss is a grade in which none of these rows is FAIL, CRASH or TIMEOUT; it is printed with its seed. So are
# grades in which only other rows than the one that the mutant names reject it, but these are no misses. FROM=hex: the first seed; the others
# follow it. MUTANT=words: only mutants with these words in their names. JOBS=n: as many at once (default: the number of processors).
set -uo pipefail
build=$(realpath -m "${1:?usage: seeds.sh BUILD LAB [SEEDS]}") number=${2:?which lab?} seeds=${3:-100}
grade=${GRADE:-$build/bin/grade} here=$(dirname "$(realpath "$0")") jobs=${JOBS:-$(nproc)} from=(${FROM:+--seed "$FROM"})
. "$here/patches.sh"
cd "${ROOT:-$here/../..}" || exit 2
find_patches "$number"
results=build/seeds/results-$number
mkdir -p build/seeds && : >"$results"

# A mutant gets a few times the processor time that the whole lab needs.
began=$SECONDS
"$grade" --lab "$number" --build "$build" --units "$(echo solutions/"$number"-*)" --quiet --no-speed >/dev/null 2>&1
limit=$((3 + 2 * (SECONDS - began)))

# try_one PATCH: its gradings into the results, "NAME misses gradings".
try_one() {
    local name=${1#grader/mutants/} wanted step log row
    name=${name%.patch} log=build/seeds/${name%.patch}/log
    mkdir -p "build/seeds/$name"
    if ! make_mutant "$1" "build/seeds/$name" >"$log"; then
        echo "  $name: $(cat "$log")" && echo "$name 1 1" >>"$results"
        return
    fi
    "$grade" --lab "$number" --build "$build" --units "build/seeds/$name/${name%/*}" --step "$step" --no-speed --limit "$limit" \
        --times "$seeds" "${from[@]}" --quiet >"$log" 2>&1
    row=${wanted#* }
    [ "$row" != "$wanted" ] || row=
    awk -v name="$name" -v row="$row" -v step="$step" -v results="$results" '
        !/^[0-9a-f]+  [A-Za-z]/ { next }
        $1 != seed { seed = $1; order[++n] = seed }
        $2 ~ /^(FAIL|CRASH|TIMEOUT)$/ { any[seed] = 1; if (index($0, "  " step " ") && index($0, row)) named[seed] = 1 }
        END {
            for (i = 1; i <= n; i++) {
                if (!any[order[i]]) { misses++; printf "  missed %s: seed %s\n", name, order[i] }
                else if (!named[order[i]]) { others++; which = which " " order[i] }
            }
            if (others) printf "  %s: in %d of %d grades only rows that it does not name:%s\n", name, others, n, substr(which, 1, 100)
            if (!n) { printf "  %s was not graded: see %s\n", name, "build/seeds/" name "/log"; misses = n = 1 }
            printf "%s %d %d\n", name, misses, n >>results
        }' "$log"
}

for patch in "${patches[@]}"; do
    is_race "$patch" && continue
    [[ $patch == *"${MUTANT:-}"* ]] || continue
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
    try_one "$patch" &
done
wait
awk -v lab="$number" '{ m += $2; t += $3 } END { printf "seeds %s: %d misses in %d grades\n", lab, m, t; exit m > 0 || t == 0 }' "$results"
