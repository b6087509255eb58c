#!/usr/bin/env bash
# seeds.sh BUILD LAB [SEEDS] -- make seeds: does a named mutant escape with some random inputs?
#
# Each mutant of the lab (tables.sh) is built once and graded SEEDS times with other inputs (grade --times): first the rows that it names,
# then, with the seeds for which none of these rejects it, all rows of its step, without those that measure speed. A miss is a seed for
# which none of these is FAIL, CRASH or TIMEOUT; it is printed. So are seeds for which only other rows than those that the mutant names
# reject it, but these are not misses. FROM=hex: the first seed; the others follow it. MUTANT=words: only mutants with these words in
# their names. JOBS=n: as many at once (default: the number of processors).
# ROWS=all: instead, all rows of the lab are graded, and a miss is a row whose points differ between seeds. ROWS=step: those of the
# mutant's step, in a third of the time.
set -uo pipefail
build=$(realpath -m "${1:?usage: seeds.sh BUILD LAB [SEEDS]}") number=${2:?which lab?} seeds=${3:-100}
grade=${GRADE:-$build/bin/grade} here=$(dirname "$(realpath "$0")") jobs=${JOBS:-$(nproc)} from=(${FROM:+--seed "$FROM"})
. "$here/tables.sh"
cd "${ROOT:-$here/../..}" || exit 2
read_tables mutants build/seeds "$number" || exit 2
results=build/seeds/results-$number
mkdir -p build/seeds && : >"$results"

# A mutant gets a few times the processor time that the whole lab needs.
began=$SECONDS
"$grade" --lab "$number" --build "$build" --units "$(echo solutions/"$number"-*)" --quiet --no-speed >/dev/null 2>&1
limit=$((3 + 2 * (SECONDS - began)))

# try_one ENTRY: its gradings into the results, "NAME misses gradings".
try_one() {
    local name=$1 wanted=${row_of[$1]} log=build/seeds/$1/log seed all missed rows=() others=() misses=0
    if ! make_units "$name" "build/seeds/$name" >"$log"; then
        echo "  $name: $(cat "$log")" && echo "$name 1 1" >>"$results"
        return
    fi
    again=(--lab "$number" --build "$build" --units "build/seeds/$name/${name%/*}" --no-speed --limit "$limit" --quiet)
    case ${ROWS:-} in all) ;; step) rows=(--step "${wanted%% *}") ;; *) rows=(--step "$wanted") ;; esac
    "$grade" "${again[@]}" "${rows[@]}" --times "$seeds" "${from[@]}" >"$log" 2>&1
    mapfile -t all < <(seeds_of "$log" | sort -u)
    if [ ${#all[@]} -eq 0 ]; then
        echo "  $name was not graded: see $log" && echo "$name 1 1" >>"$results"
        return
    fi
    if [ -n "${ROWS:-}" ]; then
        mapfile -t missed < <(points_differ "$log")
        [ ${#missed[@]} -eq 0 ] || printf "  points differ $name: %s\n" "${missed[@]}"
        echo "$name ${#missed[@]} ${#all[@]}" >>"$results"
        return
    fi
    mapfile -t missed < <(comm -23 <(printf '%s\n' "${all[@]}") <(seeds_of "$log" FAIL CRASH TIMEOUT | sort -u))
    for seed in "${missed[@]}"; do
        "$grade" "${again[@]}" --step "${wanted%% *}" --times 1 --seed "$seed" >>"$log" 2>&1
        if seeds_of "$log" FAIL CRASH TIMEOUT | grep -cx "$seed" >/dev/null; then others+=("$seed"); else
            misses=$((misses + 1)) && echo "  missed $name: seed $seed"
        fi
    done
    [ ${#others[@]} -eq 0 ] || echo "  $name: with ${#others[@]} of ${#all[@]} seeds only rows that it does not name: ${others[*]:0:8}"
    echo "$name $misses ${#all[@]}" >>"$results"
}
# points_differ LOG: its rows with other points for other seeds, and two of these.
points_differ() {
    awk '!/^[0-9a-f]+  [A-Za-z]/ || $2 == "INCONCLUSIVE" { next }
        !seen[$1]++ { seed[++n] = $1 }
        $2 != "full" { split($3, p, "/"); who = $1; $1 = $2 = $3 = ""; sub(/^ +/, ""); rows[$0]; lost[$0, who] = p[2] - p[1] }
        END {
            for (row in rows)
                for (k = 2; k <= n; k++)
                    if (lost[row, seed[k]] + 0 != lost[row, seed[1]] + 0) {
                        printf "%s: %g lost (seed %s), %g lost (seed %s)\n", row, lost[row, seed[1]], seed[1], lost[row, seed[k]], seed[k]
                        break
                    }
        }' "$1" | sort
}
# seeds_of LOG [VERDICT...]: the seeds of its gradings, or of rows with these verdicts.
seeds_of() {
    local log=$1
    shift
    awk -v verdicts=" $* " '/^[0-9a-f]+  [A-Za-z]/ && (verdicts == "  " || index(verdicts, " " $2 " ")) { print $1 }' "$log"
}

for entry in "${entries[@]}"; do
    is_race "$entry" && continue
    [[ $entry == *"${MUTANT:-}"* ]] || continue
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
    try_one "$entry" &
done
wait
awk -v lab="$number" '{ m += $2; t += $3 } END { printf "seeds %s: %d misses in %d grades\n", lab, m, t; exit m > 0 || t == 0 }' "$results"
