#!/usr/bin/env bash
# mutate and mutate.sh on a lab of one unit, whose grader compiles the unit and tests it.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
build=${BUILD:-build/release}
[ -x "$build/bin/mutate" ] || make -s "$build/bin/mutate"
build=$(realpath "$build") runner=$PWD/grader/mutate/mutate.sh
export ROOT=$dir GRADE=$dir/grade JOBS=2
cd "$ROOT"

# ---- the operators: a statement in a region, and what one of its mutants must be -----------------------------
region() { printf 'int given;\nvoid f(int n, int m, double *a)\n{\n    /* LAB 99.1 BEGIN  Do it. */\n    %b\n    /* LAB 99.1 END */\n}\n' "$1" >one.c; }
mutant() { # NAME CODE OPERATOR CHANGED
    region "$2"
    expect "$1" 0 ": $3: " "$build/bin/mutate" list one.c
    expect "$1: the text" 0 " -> $4" "$build/bin/mutate" list one.c
}
mutant "a comparison" 'for (int i = 0; i < n; i++) a[i] = 1;' comparison 'for (int i = 0; i <= n; i++) a[i] = 1;'
mutant "the end of a loop" 'for (int i = 0; i < n; i++) a[i] = 1;' "off by one" 'for (int i = 0; i < n - 1; i++) a[i] = 1;'
mutant "the end of a loop that goes down" 'for (int i = n; i >= 0; i--) a[i] = 1;' "off by one" 'for (int i = n; i >= 0 + 1; i--) a[i] = 1;'
mutant "a loop left early" 'for (int i = 0; i < n; i++) a[i] = 1;' "left early" 'for (int i = 0; i < n; i++) { a[i] = 1; break; }'
mutant "while" 'while (n > m) n = n / 2;' "if for while" 'if (n > m) n = n / 2;'
mutant "a statement" 'a[0] = n;' "dropped statement" ';'
mutant "an assignment" 'a[0] += n;' assignment 'a[0] = n;'
mutant "an accumulation" 'a[0] = n;' assignment 'a[0] += n;'
mutant "a branch" 'if (n > m) a[0] = 2;' "branch never taken" 'if (0 && (n > m)) a[0] = 2;'
mutant "a condition" 'if (n > m) a[0] = 2;' "branch always taken" 'if (1 || (n > m)) a[0] = 2;'
mutant "an index" 'a[n * 3 + m] = 2;' "swapped index" 'a[m * 3 + n] = 2;'
mutant "a difference" 'a[0] = a[n] - f(m)[1];' "swapped operands" 'a[0] = f(m)[1] - a[n];'
mutant "a conditional" 'a[0] = n ? a[1] : a[2];' "swapped branches" 'a[0] = n ? a[2] : a[1];'
mutant "arguments" 'f(n, m + 1, a);' "swapped arguments" 'f(m + 1, n, a);'
region 'a[0] = mt_min(n, m) + fmaxf(a[1], a[2]);'
expect "the smaller of two in any order" 1 "" grep -q "swapped arguments" <("$build/bin/mutate" list one.c)
mutant "logic" 'if (n && m) a[0] = 2;' logic 'if (n || m) a[0] = 2;'
mutant "an integer" 'a[0] = n + 16;' constant 'a[0] = n + (16 + 1);'
mutant "a fraction" 'a[0] = 0.5f;' constant 'a[0] = (0.5f * 1.01f);'
mutant "a type" 'int64_t k = n;' "narrow type" 'int k = n;'
mutant "a minus" 'a[0] = -a[1];' "missing minus" 'a[0] = a[1];'
mutant "a barrier" '__syncthreads();' "missing barrier" ';'
mutant "an atomic" 'atomicAdd(&a[n], 2);' "missing atomic" '*(&a[n]) += 2;'
mutant "a reduction" '#pragma omp parallel for reduction(+ : s)\n    for (int i = 0; i < n; i++) s += a[i];' "missing private copy" '#pragma omp parallel for'
mutant "a shared variable" '#pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n        double d = a[i];\n        a[i] = d * d;\n    }' \
    "missing private copy" 'static double d = 0; d = a[i];'
mutant "the wrong loop parallel" '#pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++) a[j] += 1;' "inner loop parallel" 'for (int i = 0; i < n; i++) _Pragma'
region 'a[0] = n;\n    a[0] = n;'
expect "the same words twice" 0 "dropped statement: a[0] = n; -> ; #2" "$build/bin/mutate" list one.c
region 'view v = { 1, n };\n    f(n, (view){ n, m }, a);'
expect "an initialiser is not a statement" 1 "" grep -q "dropped statement: .* -> view" <("$build/bin/mutate" list one.c)
region 'f(n,\n      m, a);'
number=$("$build/bin/mutate" list one.c | grep dropped | cut -f1)
expect "lines keep their numbers" 0 "9" grep -c '' <("$build/bin/mutate" make one.c "$number"; echo)
expect "no such mutant" 2 "and no number 999" "$build/bin/mutate" make one.c 999
printf 'int f(int n)\n{\n    return n < 3;\n}\n' >one.c
expect "nothing outside regions" 0 "0 mutants" sh -c "echo \$('$build/bin/mutate' list one.c | wc -l) mutants"

# ---- the runner: its grader compiles the unit and tests it -----------------------------------------------------
mkdir -p solutions/99-toy minitorch grader/mutate/equivalent
cat >solutions/99-toy/sum.c <<'UNIT'
long sum(const int *x, long n)
{
    long s = 0;
    /* LAB 99.1 BEGIN  Add. */
    for (long i = 0; i < n; i++)
        s += x[i];
    /* LAB 99.1 END */
    return s;
}
UNIT
cat >grade <<'TOY'
#!/usr/bin/env bash
speed=yes
while [ $# -gt 0 ]; do
    case $1 in --units) units=$2 ;; --no-speed) speed= ;; esac
    shift
done
[ ! -e "$ROOT/broken" ] || { echo "grade: no sandbox" && exit 3; }
cat >"$units/main" <<'MAIN'
long sum(const int *x, long n);
int main(void)
{
    int x[4] = { 1000, 20, 3, 400000 };
    return TEST;
}
MAIN
test='sum(x, 3) != 1023' && [ ! -e "$ROOT/weak" ] || test='sum(x, 0) != 0'
[ -z "$speed" ] || [ ! -e "$ROOT/races" ] || test='sum(x, 3) != 1023'
gcc -w -O1 -D"TEST=$test" -x c "$units/main" -x c "$units/sum.c" -o "$units/toy" && timeout 2 "$units/toy" && verdict=PASS || verdict=FAIL
rm -f "$units/main" "$units/toy"
printf ' 99.1  sum: values     %s   1/1\n' $verdict
[ $verdict = FAIL ] && echo "grade 99: 0/1 FAIL=1" && exit
[ -z "$speed" ] && [ -e "$ROOT/races" ] && echo "grade 99: 1/1 INCONCLUSIVE=1" || echo "grade 99: 1/1"
TOY
chmod +x grade
run() { "$runner" "$build" 99 "$@"; }
expect "all are killed" 0 "mutate 99: 7 of 7 killed, 0 equivalent" run
expect "the same object code counts once" 0 "same" grep same build/mutate/99-toy/results
touch weak
expect "survivors are listed" 1 "survived: solutions/99-toy/sum.c:6: sum.c sum: assignment: s += x[i]; -> s = x[i];" run
expect "and counted" 1 "mutate 99: 1 of 7 killed" run
expect "a sample" 1 " of 3 killed" run --sample 3
run >first 2>&1 || true
expect "again, the survivors only" 1 "mutate 99: 0 of 6 killed" run --again
touch races
expect "rows that measure speed kill, too" 0 "mutate 99: 7 of 7 killed" run
expect "after the others" 0 "killed by speed: solutions/99-toy/sum.c:6: sum.c sum: assignment" run
rm races weak
identity='sum.c sum: assignment: s += x[i]; -> s = x[i];'
list=grader/mutate/equivalent/99.txt
printf '%s\n    This is a test.\n' "$identity" >$list
expect "a listed one is not graded" 0 "mutate 99: 6 of 6 killed, 1 equivalent" run
expect "unless it shall be: it must survive" 1 "listed as equivalent, but killed: solutions/99-toy/sum.c:6: $identity" env EQUIVALENT=grade "$runner" "$build" 99
printf '%s\n    This is a test.\n' 'sum.c sum: comparison: i < n -> i > n' >>$list
expect "a listed one that is not made" 1 "no such mutant is made: sum.c sum: comparison: i < n -> i > n" run
printf '~ %s\n    This is a test.\n' 'off by one: for .long i = 0; i < n; i\+\+' >$list
expect "a regular expression for several" 0 "mutate 99: 6 of 6 killed, 2 equivalent" run
rm $list
touch broken
expect "a grader that fails kills nothing" 1 "the reference does not pass: the grader failed: grade: no sandbox" run

finish mutate
