#!/usr/bin/env bash
# map.sh: every form of tag in a header appears in docs/MAP.md with its unit and checks; --check notices a change.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
tool=$PWD/grader/tools/map.sh
export ROOT=$dir
cd "$ROOT"
mkdir -p minitorch/ops solutions/02-backprop grader/checks
cat >minitorch/ops/a.h <<'HEADER'
/* a.h -- all of it is of Lab 02.9, which holds for no declaration below. */
#ifndef A_H
/* mt_one -- a comment before.
 * Lab 02.1 */
void mt_one(float *out, int64_t N,
            int64_t C);
float *mt_two(void);

mt_fn mt_three;  /* beside it.   Lab 02.2 */
mt_fn mt_four;   /* Lab 02.10-11  two steps */
void mt_given(void);
typedef void mt_kind(int x); /* Lab 02.3 */
HEADER
cat >solutions/02-backprop/a.c <<'UNIT'
void mt_one(float *out, int64_t N,
            int64_t C)
{
    /* LAB 02.1 BEGIN  One. */
    /* LAB 02.1 END */
    /* LAB 02.4 BEGIN  Named nowhere. */
}
float *mt_two(void)
{
}
static void mt_three(void)
{
}
UNIT
cat >grader/checks/02.c <<'CHECKS'
static const mg_group groups[] = {
    { "02.1", "one: all", run, cases },
    KERNEL("02.1", "one: big", run, cases), MG_GROUP("02.2",
        "three", run, cases),
    MG_GROUP("02.12", "training", run, cases),
};
double x = mg_bar(run, "02.1", "low");
CHECKS
expect "it is written" 0 "wrote docs/MAP.md, 7 rows" "$tool"
expect "a hole is told: no check" 0 "step 02.10 has no check" "$tool"
expect "a hole is told: no definition" 0 "minitorch/ops/a.h: mt_four (Lab 02.10) is defined nowhere" "$tool"
expect "a hole is told: no tag" 0 'solutions/02-backprop/a.c: no header says "Lab 02.4"' "$tool"
unit='[a.c](../solutions/02-backprop/a.c)' header='[ops/a.h](../minitorch/ops/a.h)'
expect "a comment before" 0 "| 02.1 | \`mt_one\` | $header | $unit | one: all; one: big |" cat docs/MAP.md
expect "the next declaration too" 0 "| 02.1 | \`mt_two\` | $header | $unit | one: all; one: big |" cat docs/MAP.md
expect "a comment beside" 0 "| 02.2 | \`mt_three\` | $header | $unit | three |" cat docs/MAP.md
expect "two steps, the first" 0 "| 02.10 | \`mt_four\` | $header | - | - |" cat docs/MAP.md
expect "two steps, the second" 0 "| 02.11 | \`mt_four\` | $header | - | - |" cat docs/MAP.md
expect "a check alone, last" 0 "| 02.12 | - | - | - | training |" tail -1 docs/MAP.md
expect "what is given is not in it" 1 "" grep -E 'mt_given|mt_kind|02\.9' docs/MAP.md
expect "a hole fails the check" 1 "step 02.10 has no check" "$tool" --check
mkdir whole && (cd whole && mkdir -p minitorch/ops solutions/02-backprop grader/checks docs &&
    echo 'void mt_one(void); /* Lab 02.1 */' >minitorch/ops/a.h &&
    printf 'void mt_one(void)\n{\n    /* LAB 02.1 BEGIN  One. */\n}\n' >solutions/02-backprop/a.c &&
    echo 'ACT("02.1", "one", fwd, one),' >grader/checks/02.c)
expect "one without holes" 0 "wrote docs/MAP.md, 1 rows" env ROOT="$ROOT/whole" "$tool"
expect "it is current" 0 "is current" env ROOT="$ROOT/whole" "$tool" --check
mkdir solutions/03-later
echo 'void mt_five(void); /* Lab 03.1 */' >minitorch/ops/b.h
printf 'void mt_five(void)\n{\n    /* LAB 03.1 BEGIN  Five. */\n}\n' >solutions/03-later/b.c
expect "a lab without checks" 0 "wrote docs/MAP.md, 8 rows" "$tool"
expect "it is not graded yet" 0 "## Lab 03, not graded yet" cat docs/MAP.md
expect "its steps are not holes" 1 "" sh -c "\"$tool\" 2>&1 | grep 'step 03'"
mkdir -p labs/02-backprop && echo '{ "units": ["other.c"] }' >labs/02-backprop/lab.json
expect "no checks of a unit that lab.json leaves out" 1 "" sh -c "\"$tool\" 2>&1 | grep 'step 02.4 has no check'"
sed -i 's/other/a/' labs/02-backprop/lab.json
expect "of one that it lists" 0 "step 02.4 has no check" "$tool"
sed -i 's/mt_three/mt_third/' minitorch/ops/a.h
expect "it is not any more" 1 "docs/MAP.md:1: not current, run: make map" "$tool" --check
expect "usage" 2 "usage" "$tool" --frobnicate

finish map.sh
