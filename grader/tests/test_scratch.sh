#!/usr/bin/env bash
# scratch.sh: units become empty functions that compile and earn nothing, and no line of a student is lost. With ALL=1 those of every lab are graded, else of lab 03.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
tree=$dir/tree build=$root/build/release
mkdir -p "$tree" && cp -r solutions minitorch "$tree" && ln -s "$root/grader" "$tree"
mkdir "$tree/labs"
for lab in labs/*/lab.json; do
    lab=$(basename "${lab%/lab.json}")
    mkdir "$tree/labs/$lab"
    for unit in solutions/"$lab"/*.c solutions/"$lab"/*.cu; do [ ! -e "$unit" ] || "$bin/strip" "$unit" "$tree/labs/$lab/${unit##*/}"; done
done
cd "$tree" || exit 1
scratch() { grader/tools/scratch.sh "$build" "$1"; }
unchanged() { cmp -s labs/03-autograd/tape.c before; }

echo 'static int mine;' >>labs/03-autograd/tape.c && cp labs/03-autograd/tape.c before
expect "a student's line" 1 "lab: labs/03-autograd/tape.c has lines of yours: move it away first" scratch 03-autograd
check "it stays" unchanged
check "and so does the other unit" grep -q 'LAB\|TODO 03.5' labs/03-autograd/backward.c
mv labs/03-autograd/tape.c mine.c
expect "a lab, one unit moved away" 0 "5 functions of labs/03-autograd" scratch 03-autograd
check "it is made anew" grep -q MT_TODO labs/03-autograd/tape.c
expect "again" 0 "5 functions of labs/03-autograd" scratch 03-autograd
check "a function of several steps says them" grep -qF '/* steps 03.5, 03.7, 03.8 */' labs/03-autograd/backward.c
check "a helper before a function that does not call it is no part of it" grep -qF 'MT_TODO("03.6");' labs/03-autograd/backward.c
out=$(grader/tools/lab.sh "$build" 03-autograd 2>&1)
check "the order of the steps names each" grep -qF " 03.5, 03.7, 03.8 labs/03-autograd/backward.c:" <<<"$out"
check "given functions stay" grep -q '^void mt_no_grad_begin' labs/03-autograd/tape.c
check "no hint stays" eval '! grep -q Hint: labs/03-autograd/*.c'
expect "a lab on the device" 1 "lab 06 has .cu units only" scratch 06-cuda-kernels
expect "another word" 2 "lab: FROM=memory is unknown: use FROM=scratch" grader/tools/lab.sh "$build" 03-autograd memory

for lab in labs/*; do
    compgen -G "$lab/*.c" >/dev/null || continue
    [ "$lab" = labs/03-autograd ] || scratch "${lab#labs/}" >/dev/null || bad "$lab"
    for unit in "$lab"/*.c; do
        check "$unit compiles" gcc -std=gnu11 -D_GNU_SOURCE -fopenmp -march=native -Werror=implicit-function-declaration -Iminitorch -fsyntax-only "$unit"
    done
    [ "$lab" = labs/03-autograd ] || [ -n "${ALL:-}" ] || continue
    number=${lab#labs/} && number=${number%%-*}
    last=$(cd "$root" && "$bin/grade" --lab "$number" --build "$build" --units "$tree/$lab" --no-speed --quiet 2>&1 | tail -n 1)
    check "$lab earns nothing: $last" grep -qE '^grade [0-9]+: 0/[0-9]+ TODO=[0-9]+( INCONCLUSIVE=[0-9]+)?$' <<<"$last"
done
mkdir whole && for unit in solutions/03-autograd/*.c; do perl -0pe 's{^ */\* LAB .*?\*/\n}{}gms' "$unit" >"whole/${unit##*/}"; done
check "the solution without its marks" eval '! grep -q "LAB 03" whole/*'
last=$(cd "$root" && "$bin/grade" --lab 03 --build "$build" --units "$tree/whole" --no-speed --quiet 2>&1 | tail -n 1)
check "it is graded as with them: $last" grep -q '^grade 03: 100/100$' <<<"$last"
cp whole/*.c "$root/labs/03-autograd/lab.json" labs/03-autograd/
of_tree() { "$bin/grade" --root "$tree" --lab 03 --build "$build" --no-speed "$@"; }
expect "what a passed lab gave" 0 ' Try it with your units:  make mnist MINE=03' of_tree
expect "the next lab" 0 ' The next lab:            make lab LAB=04' of_tree
out=$(of_tree --step 03.1)
check "the lab gave nothing after one step" eval '! grep -q "Your framework can" <<<"$out"'
check "but there is a next step" grep -qx ' Next:                    make grade LAB=03 STEP=03.2' <<<"$out"
check "after the last step the whole lab" grep -qx ' Next:                    make grade LAB=03' < <(of_tree --step 03.8)

# In a release there are no solutions: it has the skeletons.
for unit in tape backward; do grader/tools/skeleton.sh "$build" 03-autograd/$unit.c >"$dir/unit" && cp "$dir/unit" labs/03-autograd/$unit.c; done
mkdir reference && cp -r labs reference/skeletons && rm -r solutions
expect "in a release" 0 "5 functions of labs/03-autograd" scratch 03-autograd
expect "there, too, again" 0 "5 functions of labs/03-autograd" scratch 03-autograd
echo 'static int mine;' >>labs/03-autograd/tape.c
expect "there, too, a student's line" 1 "has lines of yours" scratch 03-autograd
finish "scratch.sh"
