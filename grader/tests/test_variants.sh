#!/usr/bin/env bash
# variants.sh with a fake grader: which variants keep their marks, and the messages.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
variants=$PWD/grader/tools/variants.sh
unset SAMPLE UNTIL
export ROOT=$dir GRADE=$dir/grade
cd "$ROOT"
# graded NAME STATUS WORDS: variants.sh ends with STATUS and prints WORDS.
graded() { expect "$1" "$2" "$3" "$variants" build "${4:-}"; }

printf '#!/usr/bin/env bash\necho "$*" >"$ROOT/options"; cat "$ROOT/said"\n' >grade
chmod +x grade
mkdir -p solutions/02-backprop grader/variants/02-backprop
printf 'one\ntwo\nthree\n' >solutions/02-backprop/unit.c
variant() { printf '# keeps: %s\n--- a/unit.c\n+++ b/unit.c\n@@ -1,3 +1,3 @@\n %s\n-two\n+2\n three\n' "$1" "$2" >grader/variants/02-backprop/digit.patch; }
variant '02.6  a digit' one
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
variant '02.6  a digit' uno
graded "a patch that does not apply" 1 "does not apply to solutions/02-backprop"
variant 'a digit' one
graded "a patch without a step" 1 "its first line must be"
graded "no variants is not a success" 1 "0 passed, 0 failed" 03

variant '02.6  a digit' one
sed 's/^+2$/+II/' grader/variants/02-backprop/digit.patch >grader/variants/02-backprop/roman.patch
echo 'grade 02: 9/9' >said
graded "both" 0 "variants: 2 passed, 0 failed"
SAMPLE=1 graded "one of the unit: nothing has changed" 0 "variants: 1 passed, 0 failed"
UNTIL=1 graded "the time is up" 1 "the time was up: 2 of 2 variants were not graded"
UNTIL=99999999999 graded "there is time" 0 "variants: 2 passed, 0 failed"

finish variants.sh
