# sample.sh -- which named mutants `make test` grades on a developer's machine, and which variants. Sourced by mutants.sh and
# variants.sh, after tables.sh.
#
# A lab whose own files changed is graded whole; of the others a few mutants of each unit, and a few variants, are: the next
# ones in a fixed order. The commit draws which; in .ci/run its time does: three hours later those behind them are graded.
# There, where many commits touch nearly every lab, whole are new entries and the units that changed, and of what else a lab
# that changed has, twice as many are graded as of others. ALL=1 make test grades all.
. "${BASH_SOURCE[0]%/*}/../../.ci/changed.bash"
kind=mutants # or variants: the folder in grader/ whose files are sampled, and that in build/ for what was found

# state_of LAB: a hash of its own files: units, mutants, checks, calls, lab.json, and headers that its units include.
state_of() { own_files "$1" | xargs sha256sum | sha256sum; }

# own_files LAB: those that there are.
own_files() {
    local number=${1%%-*} file
    {
        printf '%s\n' solutions/"$1"/*.c* labs/"$1"/lab.json grader/$kind/"$number.txt" grader/checks/"$number"-* \
            grader/worker/calls_"$number"*
        sed -nE 's|^#include "([^"]+)".*|minitorch/\1|p' solutions/"$1"/*.c* /dev/null | sort -u
    } | while read -r file; do [ ! -e "$file" ] || echo "$file"; done
}

# is_touched LAB: whether one of them changed. Folders, so that a file that was deleted is a change.
is_touched() {
    # shellcheck disable=SC2046
    changed solutions/"$1" "grader/$kind/${1%%-*}.txt" "grader/checks/${1%%-*}-*" "grader/worker/calls_${1%%-*}*" $(own_files "$1")
}

# note_states: of each lab with mutants, before they are graded.
declare -A states=()
sampled=
note_states() {
    local lab
    for lab in $(printf '%s\n' "${entries[@]%/*}" | sort -u); do states[$lab]=$(state_of "$lab"); done
}

# owed_of LAB: LAB/UNIT for each unit that changed, LAB/NAME for each entry whose head is new.
owed_of() {
    local base table=grader/$kind/${1%%-*}.txt
    base=$(base_commit)
    git diff --name-only "$base" -- solutions/"$1" | sed 's|^solutions/||'
    git diff -U0 "$base" -- "$table" | sed -nE "s#^[+]([a-z0-9-]+) +[|].*#$1/\1#p"
}

# take_sample N: of the labs whose own files are as they were when all their mutants were last caught here
# (build/mutants/LAB/all), or without that record are not touched, only N mutants of each unit, or N variants,
# stay in the array entries.
take_sample() {
    local lab whole before=${#entries[@]} each=unit entry turn twice='' owed=''
    turn=$((16#0$({ git rev-parse -q --verify HEAD 2>/dev/null || true; } | cut -c1-8)))
    [ -z "${SINCE:-}" ] || turn=$(($(commit_time) / 10800))
    [ $kind = mutants ] || each=lab
    for lab in "${!states[@]}"; do
        if [ -e "build/$kind/$lab/all" ]; then
            [ "$(cat "build/$kind/$lab/all")" != "${states[$lab]}" ] || sampled+=" $lab"
        elif ! is_touched "$lab"; then
            sampled+=" $lab"
        elif [ -n "${SINCE:-}" ] && [ -n "$(base_commit)" ]; then
            sampled+=" $lab" twice+=" $lab" owed+=" $(owed_of "$lab")"
        fi
    done
    mapfile -t entries < <(for entry in "${entries[@]}"; do echo "$entry ${unit_of[$entry]}"; done |
        sampled=$sampled each=$each turn=$turn take=$1 twice=$twice owed=$owed perl -MDigest::MD5=md5_hex -e '
        my ($sampled, $twice, $owed) = map { my %is = map { $_ => 1 } split " ", $ENV{$_}; \%is } qw(sampled twice owed);
        my (@all, %of);
        while (<STDIN>) {
            my ($name, $unit) = split;
            my ($lab) = split m{/}, $name;
            push @all, $name;
            my $whole = !$$sampled{$lab} || $$owed{$name} || $$owed{"$lab/$unit"};
            push @{$of{$whole ? $name : $ENV{each} eq "lab" ? $lab : "$lab/$unit"}}, $name;
        }
        my %stays;
        for my $names (values %of) {
            my @order = sort { md5_hex($a) cmp md5_hex($b) } @$names;
            my $take = $$names[0] =~ m{(.*)/} && $$twice{$1} ? 2 * $ENV{take} : $ENV{take};
            $stays{$order[($ENV{turn} * $take + $_) % @order]} = 1 for 0 .. $take - 1;
        }
        print map { $stays{$_} ? "$_\n" : () } @all;')
    whole=$(for lab in "${!states[@]}"; do [[ " $sampled " == *" $lab "* ]] || echo "${lab%%-*}"; done | sort | xargs)
    printf '  graded are %d of %d %s: all of labs that changed (%s), %d of each %s of the others%s; %s\n' \
        ${#entries[@]} $before $kind "${whole:-none}" "$1" $each "${twice:+, of$twice new ones and twice as many}" 'all: ALL=1 make test'
}

# take_turns: where the time may be up before all are graded (UNTIL), those of labs that are touched come first, and each
# commit draws another order.
take_turns() {
    local lab entry touched='' first=() rest=()
    [ -n "${UNTIL:-}" ] || return 0
    for lab in "${!states[@]}"; do if is_touched "$lab"; then touched+=" $lab"; fi; done
    while read -r entry; do
        if [[ " $touched " == *" ${entry%/*} "* ]]; then first+=("$entry"); else rest+=("$entry"); fi
    done < <(printf '%s\n' "${entries[@]}" | one_in 1)
    entries=("${first[@]}" "${rest[@]}")
}

# say_left COUNT: how many were not graded.
say_left() { [ "$1" -eq 0 ] || echo "  the time was up: $1 of ${#entries[@]} $kind were not graded"; }

# note_whole RESULTS: for take_sample, the state at the beginning of each lab of which this run caught every mutant.
note_whole() {
    local lab
    for lab in "${!states[@]}"; do
        [[ " $sampled " != *" $lab "* ]] && grep -q "^caught $lab/" "$1" && ! grep -q "^ESCAPED $lab/" "$1" || continue
        echo "${states[$lab]}" >"build/$kind/$lab/all"
    done
}
