#!/usr/bin/env bash
# entry.sh mutants|variants LAB FROM NAME ROW [WORDS] -- make mutant, make variant: writes an entry of grader/mutants/NN.txt or
# grader/variants/NN.txt (table.awk has the form) from a unit that was edited in the folder FROM.
#
# One unit there must differ from its namesake in solutions/. Each changed place becomes a block: the lines that go and
# those that come; an insertion has the line before it, or that behind it where only this one is found once. The entry comes
# behind those of its step with smaller names. WORDS may end in `| needs: avx512_bf16`. The entry is kept only if the table with it makes the same unit, byte for byte.
# ROOT=dir is for the tests.
set -euo pipefail
kind=${1:?usage: entry.sh mutants|variants LAB FROM NAME ROW [WORDS]} number=${2:-} from=${3:-} name=${4:-} row=${5:-} words=${6:-}
here=$(realpath "$(dirname "$0")")
cd "${ROOT:-$here/../..}"
stop() { echo "make ${kind%s}: $1" >&2 && exit 2; }
if [ -z "$from" ] || [ -z "$name" ] || [ -z "$row" ] || { [ "$kind" = variants ] && [ -z "$words" ]; }; then
    [ "$kind" = mutants ] || stop 'write LAB=02 FROM=folder NAME=what-is-different ROW=02.6 WORDS="why it is right"'
    stop 'write LAB=02 FROM=folder NAME=what-is-wrong ROW="02.6 words of the row" and, if its text must have them, WORDS="..."'
fi
solution=$(echo solutions/"$number"-*) table=grader/$kind/$number.txt
[ -d "$solution" ] || stop "there is no lab $number"
[ -d "$from" ] || stop "there is no folder $from"
[[ $row =~ ^$number\.[0-9]+( |$) ]] || stop "ROW begins with a step of lab $number, as $number.1: $row"
[ "$kind" = mutants ] || [[ $row =~ ^[0-9.]+$ ]] || stop "ROW of a variant is a step: ${row%% *}"

shopt -s nullglob
units=() unit=''
for edited in "$from"/*.{c,cu}; do
    unit=${edited##*/}
    [ -e "$solution/$unit" ] || stop "$edited: lab $number has no unit $unit"
    cmp -s "$edited" "$solution/$unit" || units+=("$unit")
done
[ -n "$unit" ] || stop "there is no unit in $from"
[ ${#units[@]} -gt 0 ] || stop "no unit in $from differs from that in $solution"
[ ${#units[@]} -eq 1 ] || stop "an entry changes one unit, but these differ from those in $solution: ${units[*]}"
unit=${units[0]}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# read_table FILE FOLDER: what table.awk says of it and makes.
read_table() { awk -v units="$solution" -v out="$2" -f "$here/table.awk" "$1"; }
[ -e "$table" ] || printf '# %s of lab %s, by steps. The form: grader/tools/table.awk.\n' "${kind^}" "$number" >"$work/$number.txt"
[ ! -e "$table" ] || cp "$table" "$work/$number.txt"
read_table "$work/$number.txt" "$work/old" >"$work/list" || stop "mend $table first"

# The line of the table where the entry belongs: the head of the first one behind it, or nothing.
before=$(LC_ALL=C NAME=$name ROW=$row awk -F'\037' '
    function step_of(row,    part) { split(row, part, /[. ]/); return part[2] + 0 }
    $1 == ENVIRON["NAME"] { print "line " $6 ": it is there"; exit }
    !line && (step_of($3) > step_of(ENVIRON["ROW"]) || (step_of($3) == step_of(ENVIRON["ROW"]) && $1 > ENVIRON["NAME"])) { line = $6 }
    END { print line }' "$work/list" | head -1)
[[ $before != *there ]] || stop "$table has $name already, choose another name (${before%:*})"

blocks() {
    { diff -a -U0 "$solution/$unit" "$from/$unit" || true; } | tail -n +3 | awk '
    FNR == NR { text[++lines] = $0; next }
    /^@@/ {
        split(substr($2, 2), part, ",")
        goes[++hunks] = $2 ~ /,/ ? part[2] + 0 : 1
        begin[hunks] = part[1] + !goes[hunks] # an insertion comes before this line
        next
    }
    /^[-+]/ { body[hunks] = body[hunks] $0 "\n" }
    END {
        for (h = 1; h <= hunks; h = next_hunk) {
            low = begin[h]; high = begin[h] + goes[h] # the lines of the block: from low to before high
            if (!goes[h] && (high > lines || (low > 1 && (places(low - 1, low) == 1 || places(low, low + 1) > 1)))) low--
            else if (!goes[h]) high++
            # Another place that begins within these lines is of the same block.
            for (next_hunk = h + 1; next_hunk <= hunks && begin[next_hunk] - !goes[next_hunk] < high; next_hunk++)
                if (high < begin[next_hunk] + goes[next_hunk]) high = begin[next_hunk] + goes[next_hunk]
            n = places(low, high)
            if (h > 1 || n > 1) print "@" (n > 1 ? which "/" n : "")
            for (i = low; h < next_hunk; h++) {
                for (; i < begin[h]; i++) print " " text[i]
                printf "%s", body[h]
                i += goes[h]
            }
            for (; i < high; i++) print " " text[i]
        }
    }
    # places(LOW, HIGH): how often the unit has these lines; which: the how-manieth they are.
    function places(low, high,    i, k, n) {
        for (i = 1; i + high - low <= lines + 1; i++) {
            for (k = 0; k < high - low && text[i + k] == text[low + k]; k++) ;
            if (k < high - low) continue
            n++
            if (i == low) which = n
        }
        return n
    }' "$solution/$unit" -
}

{
    { printf '%s | %s | %s' "$name" "$unit" "$row" && printf '%s\n' "${words:+ | $words}"; } | fold -s -w 114 | sed '$!s/ *$/ \\/; 2,$s/^/    /'
    blocks
} >"$work/entry"
if [ -n "$before" ]; then
    echo >>"$work/entry"
    sed -i "$((before - 1))r $work/entry" "$work/$number.txt"
else
    { echo && cat "$work/entry"; } >>"$work/$number.txt"
fi
(cd "$work" && awk -v units="$OLDPWD/$solution" -v out=new -f "$here/table.awk" "$number.txt") >"$work/list" 2>"$work/wrong" || stop "$(sed -n '1s/^[^ ]* //p' "$work/wrong")"
said=$(NAME=$name awk -F'\037' '$1 == ENVIRON["NAME"]' "$work/list")
IFS=$'\037' read -r _ _ got_row got_words flags line error <<<"$said"
[ -z "$error" ] || stop "$error"
if [ "$got_row" != "$row" ] || [ "$got_words${flags:+${got_words:+ | }needs: $flags}" != "$words" ] || ! cmp -s "$work/new/$name/$unit" "$from/$unit"; then
    stop "an entry cannot say this: the unit must be lines of text, and \` | \` in ROW or WORDS begins another field"
fi
cp "$work/$number.txt" "$table"
echo "$table:$line: $name. Next: make $kind LAB=$number"
