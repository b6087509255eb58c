#!/usr/bin/env bash
# readme.sh TREE LAB -- prints the README of a stage: what the framework can do after this lab, its commands, its map with figures (grader/tools/figures.sh counts code lines), its programs.
set -euo pipefail
tree=$1 last=$2
cd "$(dirname "$0")/../.."
# The first sentence of a top comment, `/* NAME -- sentence: more. */`.
about() { perl -0ne 'm{^/\* \S+ -- (.*?)(?:[.:](?=\s)|\*/|\n \*\n)}s or exit; my $t = $1; $t =~ s/\n \* / /g; print $t' "$1"; }
total=0 rows=
while read -r folder lines; do
    total=$((total + lines))
    name=${folder#minitorch/}
    what=$(awk -F'\t' -v folder="$name" '$1 == folder { print $2 " | " $3 }' minitorch/stages.tsv)
    case $folder in solutions/*) what="${folder:10:2} | the reference's units, which you write in [labs/${folder#solutions/}](labs/${folder#solutions/}/README.md)" ;; esac
    rows+="| [$name]($folder) | $what | $lines |"$'\n'
done < <(grader/tools/figures.sh stage "$last")
gifts=
for lab in "$tree"/labs/*/; do
    lab=$(basename "$lab")
    gifts+="- $(sed -nE 's/^ *"gives": "(.*)",?$/\1/p' "labs/$lab/lab.json") ([lab ${lab%%-*}](labs/$lab/README.md))"$'\n'
done
cat <<TXT
# minitorch after lab $last

A small deep-learning framework in C11 that you build lab by lab, and an autograder that checks your code. This repository has the framework as it stands after lab $last,
$total lines of code (comments and blank lines not counted), and nothing of the labs after it. It can:

$gifts
## Commands

On Debian 12 or 13 with git and make; each command installs the packages that it needs.

    make demo                train with the reference's units, and grade them
    make test                build, unit tests, training, and the labs: skeletons earn 0, the reference all points
    make lab LAB=00          open a lab: its handout, what is to be written, a first grade
    make grade LAB=00        grade it; STEP=00.2 grades one step
    make progress            which labs pass, how many lines you wrote, what your framework can do
    make grow                the share of a run's processor time that is spent in your functions
    make help                all commands

## Map

| folder | lab | what it has | lines of code |
|---|---|---|---|
$rows$(compgen -G "$tree/minitorch/apps/*.c" >/dev/null && printf '%s\n' '' '## Programs' '' '| program | what it is |' '|---|---|' && for file in "$tree"/minitorch/apps/*.c; do
    echo "| [${file##*/}](minitorch/apps/${file##*/}) | $(about "$file") |"
done)

Pages: $(for page in "$tree"/docs/*.md; do
    name=$(basename "$page" .md)
    printf '[%s](docs/%s.md), ' "$(tr 'A-Z_' 'a-z ' <<<"$name")" "$name"
done | sed 's/, $/./')
TXT
