#!/usr/bin/env bash
# setup.sh -- Gradescope runs it once, as root, when it makes the container: installs packages and builds the grader.
# The container may run on another machine later, so the reference is not built for the processor of this one.
set -euo pipefail
source=/autograder/source
cd "$source/minitorch"
case $(uname -m) in
aarch64) march=armv8.2-a ;;
*) march=x86-64-v3 ;;
esac
.ci/deps --grade
make -s -j"$(nproc)" MARCH=$march data-or-standin
# A container where the grader does not work shows it now.
lab=$(cat "$source/lab")
build/release/bin/grade --quiet --marking --lab "$lab" --step "$lab.1" --submission labs/"$lab"-*
chmod -R go-rwx "$source" # units are compiled by another user
