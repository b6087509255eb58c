#!/usr/bin/env bash
# grow.sh PROGRAM... -- make grow: the lines that the student wrote, what each lab that passes gave, and the share of each program's processor time that is spent in these labs' units.
#
# It reads build/progress/table (progress.sh). PROGRAM is linked with the student's units of the labs that pass, and PROGRAM.map is the linker's map: at which addresses the functions of each object stand. The program
# runs with a library that counts where its processor time goes (record/sample.c), for SAMPLES samples: again if it ends before. What counts is where an instruction stands: what a unit calls in a library counts
# as the library's.
set -euo pipefail
tools=$(dirname "$0") table=build/progress/table samples=${SAMPLES:-1000}
export OMP_WAIT_POLICY=passive # threads that wait take no processor time
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gives() { sed -nE 's/^ *"gives": *"(.*)",?$/\1/p' "labs/$1/lab.json"; }

awk -F'\t' '{ yours += $3; all += $4; passed += $2 == "passes" } END { printf "You wrote %d lines (reference: %d); %d of %d labs pass.\n\n", yours, all, passed, NR }' $table
while IFS=$'\t' read -r lab state lines _; do
    [ "$state" != passes ] || printf '  %-20s %4d lines  %s\n' "$lab" "$lines" "$(gives "$lab")"
done <$table

# "ADDRESS SIZE OBJECT" of each piece of code, from a linker's map, where a long name has a line of its own.
pieces() {
    awk '/^Linker script/ { on = 1 } !on { next } /^ \.text[^ ]*$/ { held = $0; next } { $0 = held $0; held = "" } /^ ?\.text/ && NF == 4 { print $2, $3, $4 }' "$1"
}
# share PIECES SAMPLES: "SHARE WHOSE" in percent, the largest first: a lab, `given`, `libraries`. A lab whose units are never seen has 0.0.
share() {
    perl -e '
        my (@pieces, %taken, $all);
        open my $in, "<", $ARGV[0] or die;
        my $whose = sub { $_[0] =~ m{/(?:mine|units)/(\d\d-[^/]+)/} ? $1 : "given" };
        while (<$in>) { my ($at, $size, $object) = split; push @pieces, [hex $at, hex($at) + hex $size, $object] if hex $size }
        $taken{$whose->($_->[2])} = 0 for @pieces;
        @pieces = sort { $a->[0] <=> $b->[0] } @pieces;
        open $in, "<", $ARGV[1] or die;
        while (<$in>) {
            my ($count, $at) = split;
            my ($low, $high) = (0, scalar @pieces);
            while ($at ne "-" && $low < $high) { # the first piece that begins behind it
                my $middle = int(($low + $high) / 2);
                if ($pieces[$middle][0] <= hex $at) { $low = $middle + 1 } else { $high = $middle }
            }
            my $object = $at ne "-" && $low && hex($at) < $pieces[$low - 1][1] ? $pieces[$low - 1][2] : "";
            $taken{$object ? $whose->($object) : "libraries"} += $count;
            $all += $count;
        }
        printf "%.1f %s\n", 100 * $taken{$_} / $all, $_ for sort { $taken{$b} <=> $taken{$a} || $a cmp $b } keys %taken;' "$1" "$2"
}

gcc -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/sample.so" "$tools/record/sample.c" -ldl
for program; do
    : >"$work/samples"
    for ((left = samples; left > 0; left = samples - $(awk '{ n += $1 } END { print n + 0 }' "$work/samples"))); do
        SAMPLE_COUNT=$left SAMPLE_INTO=$work/samples LD_PRELOAD=$work/sample.so "$program" >"$work/said" 2>&1 || { cat "$work/said" >&2 && exit 1; }
    done
    pieces "$program.map" >"$work/pieces"
    printf '\nProcessor time of %s.c:\n\n' "${program##*/}"
    share "$work/pieces" "$work/samples" | awk -v table=$table '
        BEGIN { FS = "\t"; while ((getline <table) > 0) passes[$1] = $2 == "passes"; FS = " " }
        { whose = $2 in passes ? passes[$2] ? "yours" : "the reference" : $2 ~ /^[0-9]/ ? "the reference" : ""; name = $2 == "given" ? "given code" : $2
          if (whose == "yours") yours += $1
          if ($1 >= 0.5 || whose == "yours") { bar = sprintf("%*s", $1 / 2.5 + 0.5, ""); gsub(/ /, whose == "yours" ? "#" : ".", bar); printf "  %-22s %5.1f %%  %-14s%s\n", name, $1, whose, bar } }
        END { printf "  %-22s %5.1f %%\n", "in your functions", yours }'
done
