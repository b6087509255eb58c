#!/usr/bin/env bash
# progress.sh with a fake grader: what it says of a lab, when a lab is graded again, which lines count as the student's.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
export ROOT=$dir GRADE=$dir/grade
cd "$dir"
mkdir -p build/{bin,worker,emu} labs/{00-tensors,01-matmul} solutions/{00-tensors,01-matmul}
ln -s "$bin/strip" build/bin/strip
touch labs/01-matmul/lab.json build/libgiven.a build/worker/calls.o
printf '{\n  "gives": "reshape tensors",\n  "try": "make bench LAB=\\"00\\"",\n  "units": []\n}\n' >labs/00-tensors/lab.json
printf '1 adds `core` to the framework: about 100 lines of code, of which you\n  write %s.\n' 4 >labs/00-tensors/README.md
printf '#!/bin/sh\necho "$2" >>"$ROOT/graded"\necho "grade $2: $(cat "$ROOT/said$2")"\n' >grade && chmod +x grade
cat >solutions/00-tensors/unit.c <<'EOF'
/* unit.c -- two functions. */
#include "unit.h"

static int helper(int a)
{
    /* LAB 00.2 BEGIN  Half of it.
     * Hint: divide. */
    return a / 2;
    /* LAB 00.2 END */
}

int mt_one(int a)
{
    int b = a;
    /* LAB 00.1 BEGIN  The sum.
     * Hint: /" add. */
    for (int i = 0; i < 3; i++)
        b += helper(i); // thrice

    return b;
    /* LAB 00.1 END */
}
EOF
skeleton() { "$bin/strip" solutions/00-tensors/unit.c labs/00-tensors/unit.c; }
says() { expect "$1" 0 "$2" "$root/grader/tools/progress.sh" build; }
again() { [ "$(xargs <graded)" = "$2" ] && ok || bad "$1: graded are $(xargs <graded)"; : >graded; }

skeleton
echo '90/100' >said00 && echo '0/100 TODO=9' >said01
says "a lab that passes" "  00-tensors              90/100     0 lines (reference:   4)  passes"
says "a lab not begun" "  01-matmul                0/100     0 lines (reference:   0)  not begun"
says "what it can do, and the command" '  - reshape tensors                                            make bench LAB="00"'
says "the last line" "progress: 1/2 labs"
again "a result is kept" "00 01"
check "the table" [ "$(head -n 1 build/progress/table)" = $'00-tensors\tpasses\t0\t4' ]

# What it depends on, by its contents.
changed() { says "$1: $2" "progress: "; again "$1" "$2"; }
touch labs/00-tensors/unit.c build/libgiven.a && changed "only touched" ""
echo 'int b;' >>labs/00-tensors/unit.c && changed "a unit" "00"
echo '90/100 FAIL=1' >said00 && changed "what the grader would say now is not known" ""
mv labs/00-tensors/unit.c labs/00-tensors/other.c && changed "a unit's name" "00"
says "a lab that fails" "begun: FAIL=1"
says "where to begin" "Start with: make lab LAB=00"
mv labs/00-tensors/other.c labs/00-tensors/unit.c && changed "and back" "00"
for file in build/{libgiven.a,defined,made-for,worker/calls.o,worker/new.o,emu/translate} course.json; do
    echo >>"$file" && changed "$file" "00 01"
done
echo "#" >>grade && changed "the grader" "00 01"
echo "{}" >>labs/01-matmul/lab.json && changed "lab.json" "01"
echo 01-matmul >build/later && changed "a lab whose reference comes later" ""
echo 'int c;' >labs/01-matmul/unit.c && changed "its units are in the others" "00 01"
rm build/later labs/01-matmul/unit.c && changed "no longer" "00 01"

# A grade that says nothing of the units is not kept.
for said in '90/100 INCONCLUSIVE=1|  passes, but rows that measure are not known: the machine is busy' '-/100 ERROR=2|could not be graded: grade 00: -/100 ERROR=2' '90/100 REVIEW=1|  passes'; do
    echo "${said%|*}" >said00 && echo 'int d;' >>labs/00-tensors/unit.c
    says "$said" "${said#*|}"
    says "$said" "${said#*|}"
    [[ $said == *REVIEW* ]] && again "$said" "00" || again "$said" "00 00"
done
printf '#!/bin/sh\necho "no worker"; exit 1\n' >grade
says "a grader that cannot" "could not be graded: no worker"

# Lines.
lines() { says "$1" "00-tensors                   -  $2 lines (reference:   4)"; }
skeleton && lines "a skeleton" "   0"
sed -i 's/MT_TODO("00.1").*/if (a)\n        return 3;/' labs/00-tensors/unit.c && lines "a step, two lines" "   2"
sed -i 's/^    if (a)/\t if  (a)  \/* a comment *\/\n\n/' labs/00-tensors/unit.c && lines "blanks and comments" "   2"
sed -i 's/Hint: divide. *//; s/TODO 00.2:.*/Half. *\/ \/*/' labs/00-tensors/unit.c && lines "hints taken out" "   2"
cp solutions/00-tensors/unit.c labs/00-tensors/unit.c && lines "the solution" "   4"
skeleton && awk -f "$root/grader/tools/scratch.awk" labs/00-tensors/unit.c >scratch && cp scratch labs/00-tensors/unit.c
check "an empty form" grep -q MT_TODO scratch
lines "from scratch" "   0"
printf 'static int mine(void)\n{\n    return 7;\n}\n' >>labs/00-tensors/unit.c && lines "a function of one's own" "   4"
cp labs/00-tensors/unit.c labs/00-tensors/notes.c && lines "a file that is no unit" "   4"
for i in 1 2 3; do echo "static int more$i;" >>labs/00-tensors/unit.c; done
lines "more lines than the reference has" "   7"
sed -i '/more[123];/d' labs/00-tensors/unit.c
says "the sum" "  in all                             4 lines (reference: 4)"
mkdir -p reference/skeletons/00-tensors && "$bin/strip" solutions/00-tensors/unit.c reference/skeletons/00-tensors/unit.c && rm -r solutions
lines "in a release" "   4"
finish progress.sh
