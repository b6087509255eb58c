#!/usr/bin/env bash
# variants.sh with a fake grader: which variants keep their marks, and the messages.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
variants=$PWD/grader/tools/variants.sh
unset SAMPLE UNTIL SINCE
export ROOT=$dir GRADE=$dir/grade
cd "$ROOT"
# graded NAME STATUS WORDS: variants.sh ends with STATUS and prints WORDS.
graded() { expect "$1" "$2" "$3" "$variants" build "${4:-}"; }

printf '#!/usr/bin/env bash\necho "$*" >"$ROOT/options"; cat "$ROOT/said"\n' >grade
chmod +x grade
mkdir -p solutions/02-backprop labs/02-backprop grader/variants
printf 'one\ntwo\nthree\n' >solutions/02-backprop/unit.c
variant() { printf 'digit | unit.c | %s\n-%s\n+2\n' "$1" "$2" >grader/variants/02.txt; }
variant '02.6 | a digit' two
echo 'grade 02: 9/9' >said
graded "all points" 0 "variants: 1 passed, 0 failed"
graded "only its step, without speed" 0 "passed"
grep -q -- '--step 02.6 .*--no-speed' options && ok || bad "options: $(cat options)"
echo 'grade 02: 7/9 INCONCLUSIVE=1' >said
graded "but for speed" 0 "variants: 1 passed, 0 failed"
printf ' 02.6  softmax: ties   FAIL   0/2\n       hint: a hint\ngrade 02: 7/9 FAIL=1\n' >said
graded "a lost point" 1 "FAILED 02-backprop/digit: grade 02: 7/9 FAIL=1"
graded "the row that took it" 1 "softmax: ties"
echo 'grade 02: 7/9' >said
graded "gradual credit that is not full" 1 "FAILED 02-backprop/digit: grade 02: 7/9"
variant '02.6 | a digit' due
graded "an entry that does not apply" 1 "grader/variants/02.txt:2: digit: solutions/02-backprop/unit.c has this 0 times, not 1: due"
variant 'a digit' two
graded "an entry without a step" 1 "grader/variants/02.txt:1: a head is: name"
variant '02.6 softmax | a digit' two
graded "a row in place of a step" 1 "grader/variants/02.txt:1: its head must be: name | unit.c | 02.7 | why it is right"
variant '02.6' two
graded "an entry without a reason" 1 "why it is right"
graded "no variants is not a success" 1 "0 passed, 0 failed" 03

variant '02.6 | a digit' two
printf '\nroman | unit.c | 02.6 | other digits\n-two\n+II\n' >>grader/variants/02.txt
echo 'grade 02: 9/9' >said
graded "both" 0 "variants: 2 passed, 0 failed"
SAMPLE=1 graded "one of the unit: nothing has changed" 0 "variants: 1 passed, 0 failed"
UNTIL=1 graded "the time is up" 1 "the time was up: 2 of 2 variants were not graded"
UNTIL=99999999999 graded "there is time" 0 "variants: 2 passed, 0 failed"

finish variants.sh
