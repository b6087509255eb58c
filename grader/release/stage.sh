#!/usr/bin/env bash
# stage.sh BUILD OUT LAB -- make stage: writes the repository as it stands after a lab into OUT: the folders of minitorch/ up to it (minitorch/stages.tsv), the labs with the reference's sources and
# their checks, and the programs, benches, tests and pages that need nothing later. make release begins with it.
#
# A file needs the headers that it includes and the functions that its object in BUILD calls. Programs, benches and tests that need what is not there are left out; what the framework, a unit or a check
# of these labs needs and is not there is an error, because an earlier lab would know a later one. Tracked files with their present contents are taken. Nothing is left in OUT if anything fails.
set -euo pipefail
[ $# -eq 3 ] && [ -n "$2" ] && [ -n "$3" ] || { echo "usage: make stage LAB=05 OUT=dir" >&2 && exit 2; }
out=$(realpath -m "$2") last=$3
cd "$(dirname "$0")/../.."
build=$1 table=minitorch/stages.tsv here=grader/release
stop() { echo "stage: $*" >&2 && exit 1; }
[ -d solutions ] || stop "there are no sources of the reference here: make a stage where this repository was released from"
lab=$(cd labs && compgen -G "$last-*/lab.json") || stop "there is no lab $last: use one of $(cd labs && printf '%s\n' */lab.json | cut -d- -f1 | xargs)"
lab=${lab%/lab.json}
[ ! -e "$out" ] || stop "$out exists: name a new folder"
[[ $out != "$PWD"/* ]] || [[ $out == "$PWD"/build/* ]] || stop "$out lies in this repository: name a folder outside"
git rev-parse -q --verify HEAD >/dev/null 2>&1 || stop "this is not a git repository with a commit: a stage takes its tracked files"
unknown=$(comm -13 <({ cut -f1 $table; printf '%s\n' apps bench testing tests; } | sort) <(git ls-files minitorch | sed -nE 's|^minitorch/([^/]*)/.*|\1|p' | sort -u) | head -n 1)
[ -z "$unknown" ] || stop "minitorch/$unknown has no line in $table: add one, with its lab"
make -s -j"$(nproc)" objects >&2
mkdir -p "$(dirname "$out")"
tree=$(mktemp -d "$out.XXXXXX") work=$(mktemp -d)
trap 'rm -rf "$tree" "$work"' EXIT
chmod 755 "$tree"

# ---- whole folders -------------------------------------------------------------------------------------------------
later=() # of later labs
while IFS=$'\t' read -r folder number _; do
    [ "$((10#$number))" -le "$((10#$last))" ] || later+=(":!minitorch/$folder")
done <$table
for name in labs/*/lab.json; do
    name=$(basename "${name%/lab.json}") number=${name%%-*}
    [ "$((10#$number))" -le "$((10#$last))" ] || later+=(":!labs/$name" ":!solutions/$name" ":!grader/checks/$number-*" ":!grader/worker/calls_$number*")
done
git ls-files -z -- .clang-format .devcontainer .vscode .gitignore LICENSE Makefile .ci/{deps,run,test,unit} datasets ':!datasets/tests' \
    minitorch ':!minitorch/tests/*.sh' ':!minitorch/tests/*.bash' ':!minitorch/tests/*.py' ':!minitorch/tests/cuda' ':!minitorch/emulator/tests' \
    labs ':(exclude,glob)labs/**/*.c' ':(exclude,glob)labs/**/*.cu' solutions docs/{DEBUGGING,DIAGNOSTICS,EMULATOR,GLOSSARY,GRADING,OWN_PROGRAM,STYLE,TOUR,WORKLOG}.md docs/images \
    ':(glob)grader/*.[ch]' grader/{build,sandbox,rows,course,report,worker,checks} grader/tools/{lab,labs,progress,debug,editor,scratch,skeleton,grow}.sh grader/tools/{strip,frontend}.c grader/tools/printers.py grader/tools/scratch.awk grader/tools/record/sample.c "${later[@]}" |
    xargs -0r cp -a --parents -t "$tree" # tar fails if a file gets another link while it is read, as the grader gives headers and objects
cp -r $here/stage/. "$tree"
for unit in "$tree"/solutions/*/*.c*; do # not from labs/, where someone may have worked
    "$build/bin/strip" "$unit" "$tree/labs/${unit#"$tree/solutions/"}"
done
awk -F'\t' -v last="$last" '$2 <= last' $table >"$tree/$table"

# ---- what needs something later ---------------------------------------------------------------------------------------
(cd "$tree/minitorch" && perl -0pi -e 's{^\#include "([^"]+)".*\n}{-e $1 ? $& : ""}gme; s{^/\*[^\n]*\*/\n(?:\n|\z)}{}gm; s/\n+\z/\n/' mt.h)
(cd "$build" && find obj/minitorch obj/grader units worker -name '*.o' | xargs nm -A -P -g) |
    sed -E 's|^obj/||; s|^units/|solutions/|; s|^worker/|grader/worker/|; s|\.o: |.c |' | cut -d' ' -f1-3 >"$work/symbols"
perl $here/needs.pl "$tree" "$work/symbols" >"$work/needs"
if [ -s "$work/needs" ]; then
    sed -E 's/(.*) (.*)/stage: \1 needs \2, which a later lab has/' "$work/needs" | head -n 40 >&2
    exit 1
fi

# ---- commands --------------------------------------------------------------------------------------------------------
# A lab's benches, and the commands of make, are those whose programs and scripts are there.
there=$(cd "$tree" && ls minitorch/{apps,bench} grader/tools | sed -n 's/\.\(c\|sh\)$//p' | xargs)
perl -pi -e 'BEGIN { %there = map { $_ => 1 } split " ", shift } if (/^ *"bench": /) { s/"([^"]*?)((?:\.sh)?)"(?=[],])/$there{$1} ? "\"$1$2\"" : ""/ge; s/(?<=\[)[, ]+|[, ]+(?=\])//g; s/(, )+/, /g }' "$there" "$tree"/labs/*/lab.json
# cut FILE...: a paragraph that names what is not there goes; of the Makefile and of folders of the framework only a command with its line for make help.
TREE=$tree perl -0pi -e '
    sub gone { # what this text names is in the repository, and not in the stage
        my ($text) = @_;
        for ($text =~ m{\$\((?:B|REF)\)/bin/(\w+)}g) {
            my @source = grep { -e } "minitorch/apps/$_.c", "minitorch/bench/$_.c", "grader/tools/$_.c";
            return 1 if @source && !-e "$ENV{TREE}/$source[0]";
        }
        return grep { -f && !-e "$ENV{TREE}/$_" } $text =~ m{(?<!wildcard )((?:\.ci|minitorch|grader|docs)/[\w./-]*\w)}g;
    }
    my $all = $ARGV =~ m{/minitorch/(?:apps|bench|tests)/};
    s{(.*?(?:\n\n+|\z))}{my $part = $1; ($all || $part =~ /^## /m) && gone($part) ? "" : $part}gse;
    s{^#.*\n}{gone($&) ? "" : $&}gme if $ARGV =~ /Makefile$/;
    s/\n+\z/\n/' "$tree"/Makefile $(find "$tree/minitorch" -name '*.mk')
find "$tree"/minitorch/{apps,bench,tests} -name '*.mk' ! -exec grep -q '^## ' {} \; -delete
# What a passed lab gave is tried with its command; where a stage lacks that, with the lab's bench; without one, with the largest program, which has the lab's units.
targets=$(find "$tree/Makefile" "$tree/minitorch" \( -name Makefile -o -name "*.mk" \) -exec sed -n 's/^\([a-z][a-z0-9-]*\):.*/\1/p' {} + | xargs)
perl -0pi -e 'BEGIN { %is = map { $_ => 1 } split " ", shift; ($program) = grep { $is{$_} } qw(gpt2 mnist by-hand) }
    my ($number) = $ARGV =~ m{labs/(\d\d)};
    my $instead = !/"bench": \[\]/ ? "make bench LAB=$number" : $program ? "make $program MINE=$number" : "";
    s/^( *"try": ")make ([a-z0-9-]+)(.*)/$is{$2} ? $& : $instead ? "$1$instead\"," : die "lab $number has nothing to try\n"/me' "$targets" "$tree"/labs/*/lab.json

# ---- pages -----------------------------------------------------------------------------------------------------------
[ -e "$tree/minitorch/apps/mnist.c" ] || rm "$tree"/docs/{OWN_PROGRAM,TOUR}.md
[ -d "$tree/minitorch/emulator" ] || rm "$tree/docs/EMULATOR.md"
perl -0pi -e 's{^## (?:(?!^## ).)*?/apps/(\w+\.c)(?:(?!^## ).)*}{-e "'"$tree"'/minitorch/apps/$1" ? $& : ""}gmse' "$tree"/docs/TOUR.md 2>/dev/null || true # a walk through a program
ROOT=$tree grader/tools/map.sh >/dev/null 2>&1 || stop "no map: run make check-map"
sed -i 's/ Generated by `make map`; do not edit\.//' "$tree/docs/MAP.md"
$here/readme.sh "$tree" "$last" >"$tree/README.md"
$here/pages.sh "$tree"
rmdir "$tree"/minitorch/*/ 2>/dev/null || true
mv -T "$tree" "$out"
echo "stage: $out: lab $last, $(find "$out/minitorch" -name '*.[ch]' | wc -l) files of minitorch/"
