#!/usr/bin/env bash
# The name of a submission is passed to the grader unchanged: neither make nor the shell executes any part of it. A
# different MINE compiles the units of its labs and nothing else; another processor, all objects. make bench measures the
# units that it names.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
mkdir -p "$dir/bin"
# shellcheck disable=SC2016
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"%s/said"; env >"%s/env"\n' "$dir" "$dir" >"$dir/bin/grade"
chmod +x "$dir/bin/grade"

# expect NAME: it is one argument, and nothing was run.
expect() {
    rm -f "$dir/said"
    (cd "$root" && make -s grade LAB=02 REF="$dir" -o data-or-standin SUBMISSION="$1" "${@:2}") >"$dir/log" 2>&1 || true
    if [ -e "$dir/said" ] && grep -qxF -- "$1" "$dir/said" && [ ! -e "$dir/ran" ]; then ok; else bad "$1: $(cat "$dir/said" 2>/dev/null)"; fi
    rm -f "$dir/ran"
}

touch="touch $dir/ran"
# shellcheck disable=SC2016
for name in alice.tar 'two words.tar' 'bob$(shell '"$touch"').tar' 'bob$$(shell '"$touch"').tar' 'a;'"$touch"'.tar' 'a`'"$touch"'`.tar' \
    'a$('"$touch"').tar' "it's.tar" "a';$touch;'.tar" 'a"b.tar' 'a&b|c>d.tar' '-x.tar' 'ü.tar' 'a\b.tar' '${HOME}.tar' '*' '#a.tar' \
    '$(error stop).tar' '$(eval all: ; '"$touch"')x'; do
    expect "$name"
done
expect alice.tar SEED=5eed01 STEP=02.3
grep -qxF 5eed01 "$dir/said" && grep -qxF 02.3 "$dir/said" || bad "STEP and SEED"
if (cd "$root" && make -s grade LAB=02 REF="$dir" -o data-or-standin SEED='$(shell '"$touch"')') >/dev/null 2>&1; [ -e "$dir/ran" ]; then bad "SEED is expanded"; else ok; fi
# All that is quoted is out of the environment before a command has one.
# shellcheck disable=SC2016
kept=$(sed '/^[^#]*$(shell/,$d' "$root/Makefile" | sed -n ':a;/\\$/{N;ba};s/^unexport//p' | tr -s ' \\\n' '\n' | sort -u)
quoted=$(grep -ohE 'quote,[A-Z]+|_value,[a-z-]+,[A-Z]+' "$root"/Makefile "$root"/{grader,minitorch}/*/*.mk | sed 's/.*,//' | sort -u)
check "quoted, and exported: $(comm -13 <(echo "$kept") <(echo "$quoted") | xargs)" [ -z "$(comm -13 <(echo "$kept") <(echo "$quoted"))" ]

# An object whose source was renamed would be linked beside the new one.
mkdir -p "$dir"/{units,counted}/04-optimizers "$dir/worker"
touch "$dir"/{units,counted}/04-optimizers/{clip,renamed}.o "$dir"/worker/{main,renamed}.o
(cd "$root" && make -s -n help REF="$dir") >"$dir/log" 2>&1 || bad "make help: $(cat "$dir/log")"
check "objects without a source" [ "$(cd "$dir" && find . -name '*.o' | sort | xargs)" = "./counted/04-optimizers/clip.o ./units/04-optimizers/clip.o ./worker/main.o" ]

# An entry's words are arguments as they are.
# shellcheck disable=SC2016
words='$(shell '"$touch"')`'"$touch"'`'
(cd "$root" && make -s mutant LAB=02 FROM="$words" NAME="$words" ROW="02.1 $words" WORDS="$words") >"$dir/log" 2>&1 || true
if [ ! -e "$dir/ran" ] && grep -qF "make mutant: there is no folder $words" "$dir/log"; then ok; else bad "mutant: $(cat "$dir/log")"; fi
rm -f "$dir/ran"

# compiles SET FILE...: what a set of MINE compiles, as if its units had just been written (use.c and
# table.c only once, for labs 08 and 11).
compiles() {
    local said
    # shellcheck disable=SC2086
    said=$(cd "$root" && make -n V=1 apps MINE="$1" $(for n in $1; do printf -- '-W %s ' labs/"$n"-*/*.c*; done) |
        sed -nE 's/^echo " *(CC|CUDA) *([^"]*)"/\2/p' | grep -vxE 'minitorch/(fused/use|cuda/table).c' | sort | xargs)
    if [ "$said" = "$(cd "$root" && ls -d ${*:2} | xargs)" ]; then ok; else bad "MINE=\"$1\" compiles $said"; fi
}
make -s -C "$root" apps >"$dir/log" 2>&1 || { cat "$dir/log" && exit 1; }
compiles 02 'labs/02-*/*.c'
compiles '06 02' 'labs/0[26]-*/*.c*'
compiles 08 'labs/08-*/*.c'
# attention SET WORDS: with which attention programs of this set of MINE are linked: the plain one's object has a folder of its own.
attention() {
    local said=tiled
    (cd "$root" && make -n apps MINE="$1" -W minitorch/fused/use.c) | grep plain/use.o >/dev/null && said=plain
    if [ $said = "$2" ]; then ok; else bad "MINE=\"$1\" has the $said attention"; fi
}
attention '' tiled
attention 08 plain
attention '08 11' tiled
attention 11 tiled
# measures WANTED ARGUMENT...: what make bench runs last.
measures() {
    local said
    said=$(make -n -C "$root" bench DEPENDENCIES= "${@:2}" 2>&1 | grep '==>' | grep -oE 'build/[^ ;]*/bin/[a-z_]+|minitorch/bench/[^;|]*[^;| ]' | xargs)
    if [ "$said" = "$1" ]; then ok; else bad "make bench ${*:2} runs $said"; fi
}
mine=build/release-mine-02/bin
measures "$mine/bench_mlp $mine/bench_activations" LAB=02
measures "$mine/bench_activations" LAB=02 BENCH=bench_activations
measures "build/release/bin/bench_mlp build/release/bin/bench_activations" LAB=02 MINE=
measures "minitorch/bench/count_lab06.sh labs/06-cuda-kernels" LAB=06
measures "minitorch/bench/count_lab06.sh solutions/06-cuda-kernels" LAB=06 MINE=
for lab in "$root"/labs/*/; do # every lab has its programs
    number=$(basename "$lab" | cut -d- -f1)
    if make -n -C "$root" bench LAB="$number" DEPENDENCIES= 2>&1 | grep '==>' >"$dir/log"; then ok; else bad "make bench LAB=$number"; fi
done
# make run has the student's units of that lab, or those of MINE; a lab without a program names those that have one.
for info in "$root"/labs/*/lab.json; do
    program=$(sed -nE 's/^ *"program": "(.*)",$/\1/p' "$info") number=$(basename "${info%/*}" | cut -d- -f1)
    runs() { (make -n -C "$root" run DEPENDENCIES= LAB="$number" "$@" 2>&1 || true) | grep -E '^build/|\*\*\*' | tail -1; }
    if [ -n "$program" ]; then
        programs="${programs:+$programs or }LAB=$number"
        check "make run LAB=$number" [ "$(runs) $(runs MINE=)" = "build/release-mine-$number/bin/$program build/release/bin/$program" ]
    else
        without=$number
    fi
done
number=$without
check "make run without a program" grep -qF "make run needs a lab with a program of yours: $programs.  Stop." <<<"$(runs)"
number=''
check "make run without a lab" grep -qF "make run needs a lab with a program of yours: $programs.  Stop." <<<"$(runs)"
check "MINE without such a lab" grep -qF 'unknown lab MINE=1 77: use some of 00 01' <<<"$(make -n -C "$root" train-mnist MINE="02 1 77" 2>&1)"
# An object is made again for other flags, and a dry run with them changes nothing.
object() {
    (cd "$root" && make V=1 REF="$dir/for" "$@" "$dir/for/obj/minitorch/core/base.o") | grep -c '^  CC ' || true
}
check "a dry run is the first" make -s -n -C "$root" REF="$dir/none" "$dir/none/obj/minitorch/core/base.o"
said="$(object) $(object) $(object -n MARCH=x86-64) $(object) $(object MARCH=x86-64) $(object MARCH=x86-64) $(object)"
[ "$said" = "1 0 0 0 1 0 1" ] && ok || bad "objects made for other flags: $said"
is() { if [ "$2" = "$3" ]; then ok; else bad "$1: $2, not $3"; fi; }
# A build uses all processors unless -j was given, also below another make; a command does not, whose script may call make.
# shellcheck disable=SC2016
printf 'build/jobs jobs: ; @echo "$(filter -j%%,$(MAKEFLAGS))"\nbuild/below: ; @$(MAKE) -s -f Makefile -f $(lastword $(MAKEFILE_LIST)) build/jobs 2>&1\n' >"$dir/jobs.mk"
jobs_of() { (cd "$root" && env -u MAKEFLAGS -u MAKELEVEL make -s DEPENDENCIES= -f Makefile -f "$dir/jobs.mk" "$@") 2>&1 | xargs; }
is "jobs of a build" "$(jobs_of build/jobs)" "-j$(nproc)"
is "of one with -j7" "$(jobs_of -j7 build/jobs)" -j7
is "of one with -j1" "$(jobs_of -j1 build/jobs)" -j1
is "of one below it" "$(jobs_of -j7 build/below)" -j7
is "of a command" "$(jobs_of jobs)" ""
# The first grade of a lab builds nothing of later labs, and no tools of instructors; the next lab adds to it.
first() { make -n V=1 -C "$root" lab REF="$dir/first" DEPENDENCIES= "$@" 2>&1 | sed -nE 's/^echo "  (CC|LINK) +([^"]*)"$/\2/p' | sort -u; }
zero=$(first LAB=00) four=$(first LAB=04)
check "what lab 00 needs" grep -qxF solutions/00-tensors/view.c <<<"$zero"
check "what lab 04 needs" grep -qxF solutions/04-optimizers/adamw.c <<<"$four"
is "lab 00 and later ones" "$(grep -E '/(0[3-9]|1)|minitorch/(ops|dist)|bin/strip' <<<"$zero")" ""
is "lab 04 and later ones" "$(grep -E '/(0[5-9]|1)|minitorch/(data|dist)|bin/strip' <<<"$four")" ""
is "of lab 00 what lab 04 does not need" "$(comm -23 <(printf '%s\n' "$zero") <(printf '%s\n' "$four"))" ""
# In a log, a line stands for a hundred files.
build_log=$(make -n -B -C "$root" all unit-programs traced DEPENDENCIES= 2>&1 | grep -E '^echo "  ' | sort -u)
if [ "$(wc -l <<<"$build_log")" -le 15 ] && grep -qE '"  100 files: [a-z]' <<<"$build_log"; then ok; else bad "the log of a build has these lines: $build_log"; fi

finish make
