#!/usr/bin/env bash
# pack.sh gradescope|autolab|github BUILD LAB [MINUTES] -- the package of a lab for a front end, into build/frontends/:
#
#   gradescope-02.zip   setup.sh, run_autograder and the grader's source, which setup.sh builds in the container
#   autolab-02/         autograde-Makefile and autograde.tar, with the grader as built in BUILD
#   github/             what is added to a course repository: workflow, script, devcontainer; a bundle for Classroom 50
#
# MINUTES is the time limit of the service for one submission. Source is what is committed. A course.json in the root
# of the repository, or COURSE=file, is added. TO=folder: there in place of build/frontends/.
set -euo pipefail
usage="usage: pack.sh gradescope|autolab|github BUILD LAB [MINUTES]"
kind=${1:?$usage} build=$(realpath -m "${2:?$usage}") lab=${3:-} minutes=${4:-10}
course=${COURSE:+$(realpath -m "$COURSE")}
cd "$(dirname "$0")/../.."
[ -n "$course" ] || [ ! -e course.json ] || course=$PWD/course.json
from=grader/frontends to=$(realpath -m "${TO:-build/frontends}")
[[ $minutes =~ ^[0-9]+$ ]] && [ "$minutes" -ge 2 ] || { echo "pack: MINUTES=$minutes: a whole number, at least 2" >&2 && exit 2; }
[ -z "$course" ] || "$build/bin/kit" course "$course" >/dev/null || exit 2
mkdir -p "$to"
stage=$(mktemp -d "$to/.stage.XXXXXX")
trap 'rm -rf "$stage"' EXIT

# settings FOLDER: the files that the scripts of a package read.
settings() {
    echo "$lab" >"$1/lab"
    echo "$minutes" >"$1/minutes"
    mkdir -p "$1/minitorch"
    [ -z "$course" ] || cp "$course" "$1/minitorch/course.json"
}

# Parts that the grader is made of: not its tests, nor what tests it.
gradescope() {
    local zip=$to/gradescope-$lab.zip out=(':!minitorch/tests' ':!minitorch/bench' ':!minitorch/emulator/tests')
    [ -z "$(git status --porcelain -- Makefile .ci minitorch grader solutions labs datasets)" ] ||
        echo "pack: changes that are not committed are not in the package" >&2
    for part in attacks frontends mutants tests variants; do out+=(":!grader/$part"); done
    settings "$stage"
    cp $from/gradescope/{setup.sh,run_autograder} "$stage"
    git archive HEAD -- Makefile LICENSE .ci/deps minitorch grader solutions labs datasets "${out[@]}" | tar x -C "$stage/minitorch"
    rm -f "$zip"
    (cd "$stage" && zip -q -r "$zip" .)
    echo "gradescope: ${zip#"$PWD"/} ($(du -h "$zip" | cut -f1)); upload it as the autograder of lab $lab"
}

autolab() {
    local out=$to/autolab-$lab grader=$stage/autograde
    mkdir -p "$out" "$grader"
    settings "$grader"
    cp $from/autolab/run "$grader"
    git ls-files 'minitorch/*.h' 'minitorch/*.cuh' 'labs/*/lab.json' datasets/fetch datasets/manifest.tsv | xargs cp --parents -t "$grader/minitorch"
    [ ! -d datasets/cache ] || cp -rL --parents -t "$grader/minitorch" datasets/cache/{mnist,standin,shakespeare,standin-text} 2>/dev/null || true
    mkdir -p "$grader/minitorch/build/release/bin"
    (cd "$build" && find worker units counted traced emu lib{given,calls}.a libcuemu.a defined bin/grade bin/frontend \
        \( -type f -o -type l \) ! -name '*.d' 2>/dev/null | xargs cp --parents -t "$grader/minitorch/build/release") || true
    tar cf "$out/autograde.tar" -C "$stage" autograde
    cp $from/autolab/autograde-Makefile "$out"
    echo "autolab: ${out#"$PWD"/}/autograde.tar and autograde-Makefile, for lab $lab"
}

github() {
    rm -rf "$to/github"
    mkdir -p "$to/github/.github/workflows"
    mkdir -p "$to/github/classroom50"
    cp $from/github/grade.yml "$to/github/.github/workflows"
    cp $from/github/grade.sh "$to/github/.github"
    cp $from/github/{autograder.py,grade.sh} "$to/github/classroom50"
    cp -r .devcontainer "$to/github"
    echo "github: copy .github and .devcontainer of ${to#"$PWD"/}/github into the course repository (make release);"
    echo "        for Classroom 50 classroom50/ is the bundle of an assignment (docs/INSTRUCTORS.md)"
}

case $kind in
gradescope | autolab) [ -d "$(echo labs/"$lab"-*)" ] || { echo "pack: unknown lab LAB=$lab" >&2 && exit 2; } ;;
github) ;;
*) echo "$usage" >&2 && exit 2 ;;
esac
"$kind"
