#!/usr/bin/env bash
# test_few.sh -- a machine with too few processors for a race: the row is SKIPPED, its values are checked, and it counts in no
# total. And a unit whose ratio lies just below a bar: on a quiet machine three races decide.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root"
grade() { taskset -c "$(taskset -cp $$ | grep -oE '[0-9]+' | tail -n 1)" build/release/bin/grade --quiet --width 0 --lab 01 --step '01.6 speed' --report "$dir" "$@"; }
value() { /usr/bin/python3 -c 'import json, sys; t = json.load(open(sys.argv[1]))["tests"]; print(*[(r["max_score"], r.get("status")) for r in t if r["name"] == "parallel: speed"])' "$dir/01.json"; }
expect "right units" 0 "grade 01: 0/0 SKIPPED=1" grade --units solutions/01-matmul
expect "it is said why" 0 "this row needs 2 processors, and here 1 may be used: it does not count here" cat "$dir/01.json"
expect "reports add up to what was graded" 0 "(0, None)" value
mkdir "$dir/serial" && cp solutions/01-matmul/*.c "$dir/serial" && sed -i '/#pragma omp/d' "$dir/serial/matmul.c"
expect "a unit without its parallel loop has no points for it either" 0 "grade 01: 0/0 SKIPPED=1" grade --units "$dir/serial"
expect "an unwritten step" 0 "grade 01: 0/8 TODO=1" grade --units labs/01-matmul
sed 's/from + k \* ld + w/from + w/' solutions/01-matmul/matmul.c >"$dir/serial/matmul.c"
expect "wrong values are a failure there, too" 0 "grade 01: 0/8 FAIL=1" grade --units "$dir/serial"
# As make test grades the reference on such a machine.
expect "all points of what is measured" 0 "labs: 1 passed, 0 failed" taskset -c "$(taskset -cp $$ | grep -oE '[0-9]+' | tail -n 1)" env SPEED=only PAUSE=0 grader/tools/labs.sh build/release 01
mkdir "$dir/twice" && cp solutions/01-matmul/loops.c "$dir/twice"
sed '/^void mt_matmul_packed_cpu/,/^}/s/^    multiply(&p);/&\n    p = mt_product_of("matmul_packed", c, a, b, d);\n    multiply(\&p);/' solutions/01-matmul/matmul.c >"$dir/twice/matmul.c"
echo '{ "labs": { "01": { "bars": { "01.5 packed: speed": { "low": 0.55 } } } } }' >"$dir/course.json"
build/release/bin/grade --quiet --width 0 --lab 01 --step '01.5 speed' --units "$dir/twice" --course "$dir/course.json" >"$dir/log" 2>&1
if grep -qE 'INCONCLUSIVE +0/' "$dir/log"; then
    check "a ratio of about 0.5, where credit begins at 0.55, is open on a busy machine only" grep -qE 'to be called a FAIL on a busy machine|other programs used' "$dir/log"
else
    check "a ratio of about 0.5, where credit begins at 0.55, is a FAIL by three races" grep -qE '01.5 .* FAIL +0/20 .*(, the median of three|0.(4[0-9]|50)x of)' "$dir/log"
fi
finish few
