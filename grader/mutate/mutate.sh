#!/usr/bin/env bash
# mutate.sh BUILD LAB [--sample K | --again] -- make mutate: grades systematic mutants of the marked regions of a lab.
#
# bin/mutate makes the mutants. One that does not compile does not count, and neither does one with the object code of
# the unit or of an earlier mutant. The others are graded: the rows of the mutant's step, then all rows, and only for
# a mutant that survives these the rows that measure speed. A mutant is killed by a row that is FAIL, CRASH or
# TIMEOUT.
#
# grader/mutate/equivalent/NN.txt lists mutants that do the same as the unit, so that no row can kill them: their
# identities as `mutate list` prints them, then an indented sentence that says why. A line that begins with ~ is an
# extended regular expression for several. A listed one is not graded; EQUIVALENT=grade grades it, and it must survive.
#
# A program.c is left out: what it is depends on its author, and its row asks only what it reaches.
#
# Exit status 1: fewer than 98 % of the others were killed, or a listed one is not made any more. --sample K takes K
# mutants, always the same ones; --again takes those that survived the last run. UNITS="ring.c tree.c" takes those of
# these units. JOBS=n, GRADE=path and ROOT=dir are for the tests and for busy machines.
set -uo pipefail
build=$(realpath -m "${1:?usage: mutate.sh BUILD LAB [--sample K | --again]}") lab=${2:?which lab?} mode=${3:-} sample=${4:-20}
grade=${GRADE:-$build/bin/grade}
cd "${ROOT:-$(dirname "$0")/../..}" || exit 2
lab=$(basename "$(echo solutions/"$lab"*)") number=${lab%%-*} jobs=${JOBS:-$(nproc)} least=98
work=build/mutate/$lab listed=grader/mutate/equivalent/$number.txt
flags=(-std=gnu11 -D_GNU_SOURCE -O2 -march=native -fno-math-errno -fno-trapping-math --param=avoid-fma-max-bits=0 -fopenmp -w)
last=$(cat "$work.survivors" 2>/dev/null)
rm -rf "$work" && mkdir -p "$work/objects" "$work/same" || exit 2

# compile FOLDER UNIT OBJECT: as a unit is compiled, but what it prints is not wanted.
compile() {
    local include=$PWD/minitorch object=$PWD/$3
    if [[ $2 == *.cu ]]; then
        (cd "$1" && "$build/emu/cuemu" -I"$include" -c "$2" -o "$object")
    else
        (cd "$1" && gcc "${flags[@]}" -I"$include" -c "$2" -o "$object")
    fi >/dev/null 2>&1
}

# graded FOLDER OPTION...: the first row that kills; status 1 if none does. The text is "-" if a row measures speed.
graded() {
    local folder=$1 out line
    shift
    out=$("$grade" --lab "$number" --build "$build" --units "$folder" --seed 5eed01 --until-failure --quiet "$@" 2>&1)
    line=$(grep -m1 -E "^ $number\.[0-9]+ .* (FAIL|CRASH|TIMEOUT) " <<<"$out") && echo $line && return 0
    grep -qE "^grade $number: [0-9.]+/[0-9.]+( INCONCLUSIVE=[0-9]+)?$" <<<"${out##*$'\n'}" || { echo "the grader failed: $(tail -1 <<<"$out")" && return 2; }
    [[ ${out##*$'\n'} != *INCONCLUSIVE* ]] || echo -
    return 1
}

# The seconds that the reference needs: a mutant gets a few times as much before it is a TIMEOUT. For a sample the
# reference is not graded: make test does that by itself (labs.sh).
limit=20 seconds=$SECONDS
if [ "$mode" != --sample ]; then
    said=$(graded "solutions/$lab" --no-speed)
    [ $? -eq 1 ] || { echo "mutate $number: the reference does not pass: $said" && exit 1; }
    limit=$((3 + 2 * (SECONDS - seconds)))
fi

# judge K UNIT INDEX STEP: killed|invalid|equivalent|same|survived, a tab, and what to say.
judge() {
    local k=$1 unit=$2 folder=$work/$1/$lab hash said
    mkdir -p "$folder" && cp solutions/"$lab"/*.c* "$folder"
    "$build/bin/mutate" make "solutions/$lab/$unit" "$3" >"$folder/$unit"
    compile "$folder" "$unit" "$work/$k/object" || { echo "invalid	" && return; }
    cmp -s "$work/$k/object" "$work/objects/$unit" && echo "equivalent	" && return
    hash=$(md5sum <"$work/$k/object" | cut -d' ' -f1)
    mkdir "$work/same/$hash" 2>/dev/null || { echo "same	" && return; }
    said=$(graded "$folder" --no-speed --limit $limit --step "$4") && echo "killed	$said" && return
    said=$(graded "$folder" --no-speed --limit $limit)
    case $? in
    0) echo "killed	$said" ;;
    1) echo "survived	$said" ;;
    *) echo "error	$said" ;;
    esac
}

try_one() { # K UNIT INDEX LINE STEP IDENTITY
    local said rate
    said=$(judge "$1" "$2" "$3" "$5")
    [[ $said == survived* ]] || rm -rf "${work:?}/$1"
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "solutions/$lab/$2:$4" "$6" "${said%%	*}" "${said#*	}" >>"$work/results"
    rate=$(wc -l <"$work/results")
    [[ ${said%%	*} != @(survived|error) ]] || printf '  %s: solutions/%s/%s:%s: %s  %s\n' "${said%%	*}" "$lab" "$2" "$4" "$6" "${said#*	}"
    if [ -t 2 ] || [ $((rate % ((count + 9) / 10))) -eq 0 ]; then
        printf "  %d of %d mutants, %d s, about %d s to go$line_end" "$rate" "$count" $((SECONDS - start)) \
            $(((SECONDS - start) * (count - rate) / rate)) >&2
    fi
}

# is_listed IDENTITY: whether a line of the list means it; notes that the line does.
declare -A equivalent
if [ -e "$listed" ]; then
    while IFS= read -r line; do [[ $line == [![:space:]#]* ]] && equivalent[$line]=listed; done <"$listed"
fi
is_listed() {
    local line expression
    [ -n "${equivalent[$1]:-}" ] && equivalent[$1]=found && return
    for line in "${!equivalent[@]}"; do
        expression=${line#\~ }
        [[ $line == "~ "* && $1 =~ $expression ]] && equivalent[$line]=found && return
    done
    return 1
}

: >"$work/results"
: >"$work/list"
for unit in $(cd "solutions/$lab" && ls *.c *.cu 2>/dev/null); do
    if [ -e "labs/$lab/lab.json" ] && ! grep -qF "\"$unit\"" "labs/$lab/lab.json"; then continue; fi # it has no rows yet
    [ "$unit" != program.c ] || continue
    compile "solutions/$lab" "$unit" "$work/objects/$unit" || { echo "mutate $number: $unit does not compile" && exit 1; }
    "$build/bin/mutate" list "solutions/$lab/$unit" | sed "s/^/$unit	/" >>"$work/list"
done
wanted=() explained=0
while IFS= read -r row; do
    IFS=$'\t' read -r unit index line step identity <<<"$row"
    is_listed "$identity" && is=listed || is=
    if [[ " ${UNITS:-$unit} " != *" $unit "* ]]; then continue; fi
    if [ -n "$is" ]; then
        explained=$((explained + 1))
        [ "${EQUIVALENT:-}" = grade ] && wanted+=("$row")
    elif [ "${EQUIVALENT:-}" != grade ] && { [ "$mode" != --again ] || grep -qxF -- "$identity" <<<"$last"; }; then
        wanted+=("$row")
    fi
done <"$work/list"
# A sample is the first in the order of a hash of the identities.
if [ "$mode" = --sample ]; then
    mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" |
        perl -MDigest::MD5=md5_hex -ne 'print substr(md5_hex((split /\t/)[4]), 0, 8), "\t$_"' | sort | head -"$sample" | cut -f2-)
fi

count=${#wanted[@]} start=$SECONDS k=0 line_end='\n'
[ ! -t 2 ] || line_end='\033[K\r'
for row in "${wanted[@]}"; do
    IFS=$'\t' read -r unit index line step identity <<<"$row"
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    k=$((k + 1))
    try_one $k "$unit" "$index" "$line" "$step" "$identity" &
done
wait

# Speed: one at a time, where the lab has rows for it.
while IFS=$'\t' read -r k place identity word said; do
    [ "$word" = survived ] && [ "$said" = - ] || continue
    said=$(graded "$work/$k/$lab" --limit $((limit * 3))) && word=killed && echo "  killed by speed: $place: $identity  $said"
    [ "$word" = survived ] || sed -i "s/^\($k	.*	\)survived	-$/\1killed	speed/" "$work/results"
done < <(cat "$work/results")

of() { cut -f4 "$work/results" | grep -cx "$1"; }
awk -F'\t' '$4 == "survived" { print $3 }' "$work/results" >"$work.survivors"
killed=$(of killed) survived=$(($(of survived) + $(of error))) same=$((explained + $(of equivalent))) status=0
awk -F'\t' '$4 == "survived" || $4 == "error" { print "survived: " $2 ": " $3 }' "$work/results" | sort
for identity in "${!equivalent[@]}"; do
    [ "${equivalent[$identity]}" = found ] && continue
    echo "$listed: no such mutant is made: $identity" && status=1
done
[ $((killed * 100)) -ge $(((killed + survived) * least)) ] || status=1
if [ "${EQUIVALENT:-}" = grade ]; then
    status=0
    awk -F'\t' '$4 == "killed" { print "listed as equivalent, but killed: " $2 ": " $3 ": " $5 }' "$work/results"
    [ "$killed" -eq 0 ] || status=1
fi
[ $status -eq 0 ] || echo "failed: $((survived)) of $((killed + survived)) mutants of lab $number survived, or its list is out of date"
echo "mutate $number: $killed of $((killed + survived)) killed, $same equivalent"
exit $status
