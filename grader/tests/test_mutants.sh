#!/usr/bin/env bash
# mutants.sh and rowverdict, with a fake grader: which mutants are rejected, which are not, and the messages.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
build=${BUILD:-build/release}
for tool in rowverdict unnamed; do [ -x "$build/bin/$tool" ] || make -s "$build/bin/$tool"; done
build=$(realpath "$build") mutants=$PWD/grader/tools/mutants.sh
unset SAMPLE UNTIL SINCE
unnamed() { printf '%s\n' "02.6 softmax: large logits" "02.7" | "$build/bin/unnamed" 02; }
expect "a row that no mutant names" 1 "02.6 softmax: random rows" unnamed
expect "a step names none of its rows" 1 "02.7 cross-entropy: random rows" unnamed
unnamed >"$dir/unnamed" || true
check "a row that one names" eval '! grep -q "softmax: large logits" "$dir/unnamed"'
export UNNAMED=true
export ROOT=$dir GRADE=$dir/grade PAUSE=0 SEED=5eed02
cd "$ROOT"

# The fake grader: the row fails if the unit contains "minus".
cat >grade <<'STRAW'
#!/usr/bin/env bash
while [ $# -gt 0 ]; do
    case $1 in --units) units=$2 ;; --report) report=$2 ;; --step) echo "$2" >"$ROOT/step" ;; esac
    shift
done
verdict=PASS && grep -qs minus "$units"/unit.c && verdict=$(cat "$ROOT/verdict")
[ "$verdict" != NONE ] || exit 1
printf '{"tests":[{"number":"02.6","name":"softmax: small","extra_data":{"verdict":"PASS"}},
    {"number":"02.6","name":"softmax: large logits","output":"a hint","extra_data":{"verdict":"%s"}}]}' "$verdict" >"$report/02.json"
STRAW
chmod +x grade
mkdir -p solutions/02-backprop labs/02-backprop grader/mutants
touch grader/mutants/03.txt
printf 'one\ntwo\nplus\nfour\nfive\n' >solutions/02-backprop/unit.c
# mutant ROW OLD: the only mutant, plus -> minus.
mutant() { printf '# A mutant\n\nsign | unit.c | %s\n-%s\n+minus\n' "$1" "$2" >$table; }
table=grader/mutants/02.txt

mutant "02.6 softmax: large logits" plus
for verdict in FAIL CRASH TIMEOUT; do
    echo $verdict >verdict
    expect "caught by $verdict" 0 "caught  02-backprop/sign " "$mutants" "$build"
done
expect "what caught it is named" 0 "TIMEOUT  02.6 softmax: large logits" "$mutants" "$build"
expect "only that row is graded" 0 "02.6 softmax: large logits" cat step
expect "a lab that is not graded yet" 0 "skipped grader/mutants/03.txt: not graded yet" "$mutants" "$build"
expect "the sum" 0 "mutants: 1 passed, 0 failed" "$mutants" "$build" 02
for verdict in PASS TODO INCONCLUSIVE ERROR; do
    echo $verdict >verdict
    expect "not caught by $verdict" 1 "ESCAPED 02-backprop/sign " "$mutants" "$build"
done
echo INCONCLUSIVE >verdict
expect "what escaped is said again at the end" 1 "failed: 02-backprop/sign: INCONCLUSIVE  02.6" "$mutants" "$build"
sed -i 's|^\[ "$verdict" != NONE|printf FAIL >"$ROOT/verdict"; &|' grade
expect "inconclusive once, which is named" 0 "again: 02-backprop/sign: INCONCLUSIVE" "$mutants" "$build"
sed -i 's|^printf FAIL >"$ROOT/verdict"; ||' grade
echo ERROR >verdict
expect "where to look" 1 "$table:3: not caught; the grade is in build/mutants/02-backprop/sign/report" "$mutants" "$build"
echo NONE >verdict
expect "no results" 1 "02.json: No such file" "$mutants" "$build"
echo FAIL >verdict
mutant "02.6 large logits" plus
expect "a part of the name does" 0 "1 passed, 0 failed" "$mutants" "$build"
mutant "02.6" plus
expect "any row of the step" 0 "FAIL  02.6 softmax: large logits" "$mutants" "$build"
mutant "02.6 softmax: small" plus
expect "another row is not enough" 1 "PASS  02.6 softmax: small" "$mutants" "$build"
mutant "02.6 softmax: large logits | a hint" plus
expect "a row that says the words" 0 "1 passed, 0 failed" "$mutants" "$build"
mutant "02.6 softmax: large logits | a word" plus
expect "a row that does not say the words" 1 'it does not say "a word", but:' "$mutants" "$build"
expect "its lines are one mutant" 1 "mutants: 0 passed, 1 failed" "$mutants" "$build"
mutant "02.7 softmax: large logits" plus
expect "another step is not enough" 1 'no row is called "02.7 softmax: large logits"' "$mutants" "$build"
mutant "02.6 softmax: large logits" moins
rm -r build/mutants # nor was it made before
expect "an entry that does not apply" 1 "failed: 02-backprop/sign: $table:4: sign: solutions/02-backprop/unit.c has this 0 times, not 1: moins" "$mutants" "$build"
mutant "softmax" plus
expect "an entry without a row to catch it" 1 "$table:3: a head is: name | unit.c | 02.6 softmax: large logits" "$mutants" "$build"
mutant "02.6 softmax: large logits | needs: no_such_flag" plus
expect "a processor that no row can use" 0 "skipped $table:3: sign: no no_such_flag here" "$mutants" "$build"
mutant "02.6 softmax: large logits | needs: nvcc" plus
nvcc=(/usr/local/cuda/bin/nvcc /usr/bin/nvcc /usr/lib/cuda/bin/nvcc) said="skipped $table:3: sign: no nvcc here"
for place in "${nvcc[@]}"; do [ ! -x "$place" ] || said="mutants: 1 passed, 0 failed"; done
expect "a row that needs nvcc" 0 "$said" "$mutants" "$build"
mutant "02.6 softmax: large logits" plus
expect "the time is up" 1 "mutants: 0 passed, 0 failed" env UNTIL=1 "$mutants" "$build"
expect "what is left is said" 1 "the time was up: 1 of 1 mutants were not graded" env UNTIL=1 "$mutants" "$build"
expect "there is time" 0 "mutants: 1 passed, 0 failed" env UNTIL=99999999999 "$mutants" "$build"
unset SEED
expect "with the usual seed" 0 "caught  02" "$mutants" "$build"
expect "all of the lab were caught" 0 "graded are 1 of 1 mutants: all of labs that changed (none), 1 of each unit" env SAMPLE=1 "$mutants" "$build"
expect "nothing has changed" 0 "large logits  (unchanged)" "$mutants" "$build"
echo six >>solutions/02-backprop/unit.c
"$mutants" "$build" >log && expect "the unit has changed" 1 "" grep unchanged log
echo '# another grader' >>grade
echo PASS >verdict
echo seven >>solutions/02-backprop/unit.c
expect "a sample, and the unit has changed" 1 "all of labs that changed (02)" env SAMPLE=1 "$mutants" "$build"
expect "it escaped: the lab is graded whole again" 1 "all of labs that changed (02)" env SAMPLE=1 "$mutants" "$build"
expect "the grader has changed" 1 "ESCAPED" "$mutants" "$build"
expect "what escaped is graded again" 1 "ESCAPED" "$mutants" "$build"
echo FAIL >verdict

# What a kill depends on, with a build folder of our own.
mkdir -p built/{bin,obj/grader/{checks,rows,batch},worker} grader/checks
cp grade built/bin/ && cp "$build/bin/rowverdict" built/bin/
echo '#include "checks/05-data.h"' >grader/checks/02-kernels.c
objects=(checks/02-kernels.o checks/03-run.o checks/05-data.o checks/oracle.o rows/run.o batch/batch.o ../../worker/calls_02.o ../../worker/calls_03.o)
for object in "${objects[@]}"; do echo >built/obj/grader/$object; done
regrades() { # OBJECT: whether the mutant is graded again when this object has changed
    env -u GRADE "$mutants" built >/dev/null
    echo "$1" >>"built/obj/grader/$1"
    ! env -u GRADE "$mutants" built | grep unchanged >/dev/null
}
for object in checks/02-kernels.o checks/05-data.o checks/oracle.o rows/run.o ../../worker/calls_02.o; do
    check "graded again: $object has changed" regrades $object
done
for object in checks/03-run.o batch/batch.o ../../worker/calls_03.o; do
    check "not graded again: $object has changed" eval "! regrades $object"
done
export SEED=5eed02
git init -q .
expect "inside a git repository" 0 "1 passed, 0 failed" "$mutants" "$build"
expect "the solution is as it was" 0 "plus" sed -n 3p solutions/02-backprop/unit.c
expect "no mutants is not a success" 1 "0 passed, 0 failed" "$mutants" "$build" 07
echo 'no json' >bad.json
sed 's/{"number"/{"output":"FAIL  linear.c does not build","number"/g' build/mutants/02-backprop/sign/report/02.json >unbuilt.json
expect "rowverdict: no row of units that do not build" 1 "it does not build" "$build/bin/rowverdict" unbuilt.json 02.6
sed -i 's/linear.c does not build/the units do not build together/g' unbuilt.json
expect "rowverdict: nor of units that do not link" 1 "it does not build" "$build/bin/rowverdict" unbuilt.json 02.6
expect "rowverdict: not JSON" 2 "not JSON" "$build/bin/rowverdict" bad.json 02.6

finish mutants.sh
