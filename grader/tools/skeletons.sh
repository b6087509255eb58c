#!/usr/bin/env bash
# skeletons.sh check   checks that the committed skeletons in labs/ are those of solutions/, and that they compile
# skeletons.sh write   writes the skeletons in labs/*/; a file with a student's work is not changed unless FORCE=1
#
# A file in labs/ is not a student's work if it is what this script wrote last (build/skel-written) or what git HEAD has.
# Skeletons are never make targets: a timestamp must not overwrite a student's work.
# A lab that has solutions and no folder in labs/ is not graded yet: its skeletons must compile, but are not written.
# .cu units are compiled by the emulator's cuemu if it was built (`make emulator`), else not compiled.
# ROOT=dir uses another tree, STRIP=path another skeleton maker, CC another compiler, CUEMU another cuemu.
set -euo pipefail
strip=$(realpath -m "${STRIP:-$(dirname "$0")/../../build/release/bin/strip}")
given=$(realpath "$(dirname "$0")/../../minitorch")
cuemu=$(realpath -m "${CUEMU:-$given/../build/release/emu/cuemu}")
[ -x "$strip" ] || make -s -C "$given/.." build/release/bin/strip
cd "${ROOT:-$given/..}"
fresh=build/skel written=build/skel-written
passed=0 failed=0 left_out=0 not_yet=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)) && echo "$*" >&2; }

# units FOLDER: the units under solutions/ or labs/, as NN-name/unit.c
units() { (cd "$1" 2>/dev/null && find . -mindepth 2 -maxdepth 2 \( -name '*.c' -o -name '*.cu' \) -printf '%P\n' | sort); }

# generate: every skeleton into build/skel; a unit with bad marks has none; strip has printed the reason.
generate() {
    rm -rf "$fresh"
    for unit in $(units solutions); do
        mkdir -p "$fresh/${unit%/*}"
        "$strip" "solutions/$unit" "$fresh/$unit" || bad "solutions/$unit: no skeleton, mend its marks"
    done
}

# compiles UNIT: there are no warnings in given code, and every public function of the solution still exists.
compiles() {
    local unit=$1 object=build/skel/object lost
    local cc
    read -ra cc <<<"${CC:-gcc}" # it may have arguments: ccache gcc
    cc+=(-std=gnu11 -D_GNU_SOURCE -march=native -fno-math-errno -fno-trapping-math -fopenmp -I"$given" -c)
    [ "${unit##*.}" = c ] || cc=("$cuemu" --fast -I"$given" -c)
    if ! "${cc[@]}" -O2 -Wall -Wextra -Wno-unused -Werror "$fresh/$unit" -o $object.skeleton; then
        bad "$fresh/$unit: the skeleton does not compile; move what it needs out of the regions of solutions/$unit"
    elif ! "${cc[@]}" -O0 -w "solutions/$unit" -o $object.solution; then
        bad "solutions/$unit: does not compile"
    else
        lost=$(comm -13 <(public $object.skeleton) <(public $object.solution) | tr '\n' ' ')
        if [ -z "$lost" ]; then ok; else bad "$fresh/$unit: lost ${lost% }; put the mark inside the function"; fi
    fi
    rm -f $object.*
}
public() { nm --defined-only -g -j "$1" | grep -v '^_Z' | sort; } # symbols of C++ templates depend on their use

check() {
    generate
    for unit in $(units $fresh); do
        if [ ! -d "labs/${unit%/*}" ]; then
            not_yet=$((not_yet + 1))
        elif [ ! -e "labs/$unit" ]; then
            bad "labs/$unit: missing; run \`make skeletons\` and commit it"
        elif ! cmp -s "$fresh/$unit" "labs/$unit"; then
            bad "labs/$unit: not the skeleton of solutions/$unit; edit the solution, run \`make skeletons\`, commit both"
        else
            ok
        fi
        case $unit in
        *.c) compiles "$unit" ;;
        *.cu) if [ -x "$cuemu" ]; then compiles "$unit"; else left_out=$((left_out + 1)); fi ;;
        esac
    done
    for unit in $(units labs); do
        [ -e "solutions/$unit" ] || bad "labs/$unit: has no solution; git rm it, or write solutions/$unit"
    done
}

# is_work UNIT: labs/UNIT is neither ours nor in git.
is_work() {
    ! cmp -s "labs/$1" "$written/$1" && ! git show "HEAD:./labs/$1" 2>/dev/null | cmp -s - "labs/$1"
}

write() {
    generate
    for unit in $(units $fresh); do
        [ -d "labs/${unit%/*}" ] || { not_yet=$((not_yet + 1)) && continue; }
        mkdir -p "$written/${unit%/*}"
        if cmp -s "$fresh/$unit" "labs/$unit"; then
            ok
        elif [ -e "labs/$unit" ] && [ "${FORCE:-0}" != 1 ] && is_work "$unit"; then
            bad "labs/$unit: holds work that is not in git, left as it is; commit it, or overwrite with FORCE=1"
            continue
        else
            cp "$fresh/$unit" "labs/$unit.tmp" && mv "labs/$unit.tmp" "labs/$unit"
            echo "wrote labs/$unit"
            ok
        fi
        cp "$fresh/$unit" "$written/$unit"
    done
}

case ${1:-} in
check | write) "$1" ;;
*) echo "usage: skeletons.sh check|write" >&2 && exit 2 ;;
esac
[ $left_out = 0 ] || echo "skeletons: $left_out .cu units are not compiled, there is no cuemu (make emulator)"
[ $not_yet = 0 ] || echo "skeletons: $not_yet units are of labs that are not graded yet"
echo "skeletons: $passed passed, $failed failed"
[ $failed -eq 0 ]
