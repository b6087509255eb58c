#!/usr/bin/env bash
# skeletons.sh: skeletons follow the solutions and never overwrite a student's work; lost functions are reported.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
tool=$PWD/grader/tools/skeletons.sh
export STRIP=${STRIP:-$PWD/build/release/bin/strip}
[ -x "$STRIP" ] || make -s build/release/bin/strip
export ROOT=$dir
cd "$ROOT"
# unit BEFORE INSIDE AFTER: the solution, a function with a region.
unit() {
    mkdir -p solutions/01-matmul labs/01-matmul
    printf '%s\n' '#include "core/base.h"' 'int f(int x);' 'int f(int x)' '{' "    $1" '    /* LAB 01.1 BEGIN  Compute y. */' \
        "    $2" '    /* LAB 01.1 END */' "    $3" '}' >solutions/01-matmul/unit.c
}
lab=labs/01-matmul/unit.c

unit 'int y;' 'y = 2 * x;' 'return y;'
expect "a missing skeleton is named" 1 "$lab: missing; run \`make skeletons\`" "$tool" check
expect "it is written" 0 "wrote $lab" "$tool" write
expect "it holds the TODO" 0 'MT_TODO("01.1");' cat $lab
expect "check is content" 0 "skeletons: 2 passed, 0 failed" "$tool" check
expect "nothing is written twice" 0 "skeletons: 1 passed, 0 failed" "$tool" write

unit 'int y = 0;' 'y = 2 * x;' 'return y;'
expect "an old skeleton is named" 1 "$lab: not the skeleton of solutions/01-matmul/unit.c" "$tool" check
expect "nobody's work is overwritten" 0 "wrote $lab" "$tool" write

echo '/* mine */' >>$lab
expect "work is left alone" 1 "$lab: holds work that is not in git" "$tool" write
expect "work is still there" 0 '/* mine */' cat $lab
git init -q . && git add $lab && git -c user.name=t -c user.email=t@t commit -q -m work
expect "work in git HEAD may be overwritten" 0 "wrote $lab" "$tool" write
expect "and is a skeleton now" 0 "2 passed, 0 failed" "$tool" check
echo '/* mine */' >>$lab
FORCE=1 expect "FORCE=1 overwrites" 0 "wrote $lab" "$tool" write

unit '' 'int y = 2 * x;' 'return y;'
"$tool" write >/dev/null
expect "a declaration lost in a region" 1 "build/skel/01-matmul/unit.c: the skeleton does not compile" "$tool" check
unit '' 'int y = 2 * x; return y;' ''
printf '/* LAB 01.2 BEGIN  All of g. */\nint g(void);\nint g(void)\n{\n    return 1;\n}\n/* LAB 01.2 END */\n' \
    >>solutions/01-matmul/unit.c
"$tool" write >/dev/null
expect "a public function lost in a region" 1 "build/skel/01-matmul/unit.c: lost g; put the mark inside" "$tool" check
unit 'int y = 0;' '' 'return y;'
expect "bad marks" 1 "solutions/01-matmul/unit.c: no skeleton, mend its marks" "$tool" check
unit 'int y = 0;' 'y = 2 * x;' 'return y;'
"$tool" write >/dev/null
echo 'int h;' >labs/01-matmul/gone.c
expect "a skeleton without a solution" 1 "labs/01-matmul/gone.c: has no solution" "$tool" check
rm labs/01-matmul/gone.c
mkdir solutions/02-later && sed 's/01\.1/02.1/; s/f(int/k(int/' solutions/01-matmul/unit.c >solutions/02-later/later.c
expect "a lab without a folder: compiled" 0 "skeletons: 3 passed, 0 failed" "$tool" check
expect "a lab without a folder: counted" 0 "1 units are of labs that are not graded yet" "$tool" check
"$tool" write >/dev/null
expect "a lab without a folder: nothing is written" 1 "" test -e labs/02-later
expect "usage" 2 "usage:" "$tool" frobnicate

finish skeletons.sh
