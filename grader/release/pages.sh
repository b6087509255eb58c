#!/usr/bin/env bash
# pages.sh TREE -- the pages of a stage or a release name only what is there: pages.pl cuts the rest, and a picture that no page shows is removed. Runs in this repository, whose programs and files are those that may be missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
names=$(cd "$here/../.." && ls minitorch/{apps,bench} | sed -nE 's/\.(c|cu|sh)$//p' | xargs) # of programs and scripts
cd "$1"
targets=$(find Makefile minitorch grader docs \( -name Makefile -o -name '*.mk' \) -exec sed -nE 's/^\.PHONY: //p; s/^([a-z][a-z0-9-]*( [a-z][a-z0-9-]*)*):.*/\1/p' {} + | xargs)
find . -name '*.md' -print0 | TARGETS=$targets ROOT=$here/../.. NAMES=$names xargs -0 perl -i "$here/pages.pl"
for picture in docs/images/*; do
    grep -rqF --include='*.md' "${picture##*/}" . || rm "$picture"
done
rmdir docs/images 2>/dev/null || true
