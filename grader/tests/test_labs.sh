#!/usr/bin/env bash
# labs.sh with a fake grader that prints the files said.1, said.2, ... in successive gradings.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
labs=$root/grader/tools/labs.sh
export PAUSE=0
cd "$dir"
mkdir -p bin labs/01-matmul solutions/01-matmul
touch labs/01-matmul/lab.json solutions/01-matmul/matmul.c
# shellcheck disable=SC2016
printf '#!/bin/sh\ncp "$1" "$2"\n' >bin/strip
cat >bin/grade <<'STRAW'
#!/usr/bin/env bash
case "$*" in *report/empty*) cat empty; exit ;; *build/skel*) echo 'grade 01: 0/18 TODO=2'; exit ;; esac
n=$(($(cat count) + 1))
echo $n >count
[ $n -eq 1 ] || echo "$*" >again
cat said.$n
STRAW
chmod +x bin/*
echo "grade 01: 0/18 FAIL=2" >empty

# says N ROWS LAST: what the Nth grading of the solution prints.
says() { printf 'lab 01 matmul      your units: solutions/01-matmul\n\n%s\n\n 1/18 points\ngrade 01: %s\n' "$2" "$3" >"said.$1"; }
# expect NAME STATUS GRADINGS WORDS
expect() {
    local out rc=0
    echo 0 >count
    out=$("$labs" . 2>&1) || rc=$?
    if [ $rc -eq "$2" ] && [ "$(cat count)" -eq "$3" ] && grep -qF -- "$4" <<<"$out"; then ok; else bad "$1: exit $rc, $(cat count) gradings, said: $out"; fi
}
good=' 01.1  naive: every size        PASS          10/10'
values=' 01.1  naive: every size        FAIL           0/10
       mt_matmul_naive_cpu(c, a, b, M=1)   seed 5eed01
       hint: C[i,j] is the sum'
fast=' 01.6  parallel: speed         PASS            8/8   1.02x of the reference (bar 0.55 .. 0.80)'
slow=' 01.6  parallel: speed         PASS         1.71/8   0.60x of the reference (bar 0.55 .. 0.80)'
missed=' 01.6  parallel: speed         FAIL            0/8   0.50x of the reference (bar 0.55 .. 0.80)'
unsure=' 01.6  parallel: speed         INCONCLUSIVE    0/8   0.60x of the reference (bar 0.55 .. 0.80)'
error=' 01.5  packed: no spills        ERROR          0/8'
crash=' 01.6  parallel: speed         CRASH           0/8
       mt_matmul_parallel_cpu(c, a, b, M=1)   seed 5eed02'

says 1 "$good
$fast" 18/18
expect "full marks" 0 1 "labs: 3 passed, 0 failed"
says 2 "$fast" 8/8
for row in "$slow|11.71/18" "$missed|10/18 FAIL=1" "$unsure|10/18 INCONCLUSIVE=1" "$error|10/18 ERROR=1"; do
    says 1 "$good
${row%|*}" "${row#*|}"
    expect "speed once: $row" 0 2 "busy, try 1 of 5   grade 01: ${row#*|}"
done
for n in 1 2 3 4 5 6; do says $n "$good
$unsure" "10/18 INCONCLUSIVE=1"; done
expect "never quiet: not measured" 0 5 "01 solution                  not measured: 01.6  parallel: speed"
says 5 "$missed" "0/8 FAIL=1"
expect "too slow at last" 1 5 "labs: 2 passed, 1 failed"
says 2 "$missed" "0/8 FAIL=1"
says 3 "$missed" "0/8 FAIL=1"
expect "too slow twice" 1 3 "labs: 2 passed, 1 failed"
says 1 "$good
 01.5  packed: speed             FAIL            0/8   1.06x of the tiled kernel (bar 1.20 .. 1.60)  9 rounds, spread 32 %
$slow" "10/18 FAIL=1"
says 2 "$fast" 8/8
says 3 "$fast" 8/8
expect "each step by itself" 0 3 "labs: 3 passed, 0 failed"
says 1 "$good
 01.5  packed: bytes moved       FAIL            0/8   9.06 times the minimum of bytes (bar 6.00 .. 2.00)  counted" "10/18 FAIL=1"
expect "a count is no race" 1 1 "labs: 2 passed, 1 failed"
says 1 "$good
 01.5  packed: speed             FAIL            0/8" "10/18 FAIL=1"
expect "a wrong value in such a row" 1 1 "labs: 2 passed, 1 failed"
for n in 1 2 3 4 5; do says $n "$good
$crash" "10/18 CRASH=1"; done
expect "a crash that comes again" 1 2 "01 solution                  FAILED   grade 01: 10/18 CRASH=1"
expect "what was graded again is named" 1 2 "again: 01, step 01.6: 01.6  parallel: speed|CRASH"
says 2 "$good
$fast" 18/18
expect "a crash that does not" 0 2 "parallel_cpu(c, a, b, M=1)   seed 5eed02"
grep -q -- '--seed 5eed01 --step 01.6$' again && ok || bad "graded again by: $(cat again)"
says 1 "$values
$unsure" "0/18 FAIL=1 INCONCLUSIVE=1"
expect "a wrong value is not noise" 1 1 "labs: 2 passed, 1 failed"
says 1 "" "0/18"
expect "no rows" 1 1 "labs: 2 passed, 1 failed"
says 1 "$good
$fast" 18/18
echo "grade 01: 1/18 FAIL=1" >empty
expect "empty regions that earn points" 1 1 "failed: 01 empty regions: grade 01: 1/18 FAIL=1"

# In two parts: without the rows that measure speed, beside other programs; and these alone.
echo "grade 01: 0/18 FAIL=2" >empty
says 1 "$good
$unsure" "10/18 INCONCLUSIVE=1"
SPEED=without expect "without speed" 0 1 "labs: 3 passed, 0 failed"
expect "which is no row left out otherwise" 0 2 "busy, try 1 of 5"
says 1 "$good" "10/18"
SPEED=without expect "points are missing, and no row says why" 1 1 "labs: 2 passed, 1 failed"
says 1 "$good
 01.4  packed: bytes moved    INCONCLUSIVE    0/8" "10/18 INCONCLUSIVE=1"
SPEED=without expect "another row is not left out" 1 1 "labs: 2 passed, 1 failed"
says 1 "$good
$error" "10/18 ERROR=1"
says 2 "$fast" 8/8
SPEED=without expect "the machine may be busy" 0 2 "busy, try 1 of 5"
grep -q -- '--step 01.5 --no-speed$' again && ok || bad "graded again by: $(cat again)"
says 1 "$fast" 8/8
SPEED=only expect "only speed" 0 1 "labs: 1 passed, 0 failed"
says 1 "$missed" "0/8 FAIL=1"
says 2 "$fast" 8/8
SPEED=only expect "which may be missed once" 0 2 "busy, try 1 of 5"
says 1 "" "grade: lab 01 has no step 01 speed"
SPEED=only expect "a lab without such rows" 1 1 "labs: 0 passed, 0 failed"
finish labs.sh
