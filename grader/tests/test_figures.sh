#!/usr/bin/env bash
# figures.sh: what it counts, on a tree made up here; that what runs is recorded in step 3 only; README's numbers of `make figures`.
. "$(dirname "$0")/../../.ci/check.bash"
tree=$dir/tree
mkdir -p "$tree"/{minitorch/{core,text,cuda,emulator,tests},solutions/{00-a,08-b},grader,labs}
cp -r "$root/grader/tools" "$tree/grader"
printf '%s\t%s\t%s\n' core 00 a cuda 06 b emulator 06 c text 08 d 'core/late.*' 08 e >"$tree/minitorch/stages.tsv"
cat >"$tree/minitorch/core/a.c" <<'EOF'
/* A comment
 * of two lines. */
#include "a.h" // 1

static const char *const text = "/* no comment */"; /* 2 */
int one(void)
{
    return '"'; /* " */
}
EOF
echo 'int a;' | tee "$tree"/minitorch/{core/a_cuda,core/late,text/b,emulator/c,tests/d}.c "$tree"/minitorch/cuda/d.cu "$tree"/solutions/{00-a,08-b}/u.c >/dev/null
(cd "$tree" && git init -q && mkdir -p labs/00-a && touch labs/00-a/lab.json && git add -A) >"$dir/log" 2>&1
"$tree/grader/tools/figures.sh" >"$dir/out" 2>"$dir/log"
check "a small tree is within the limits but for the median" test "$? $(cat "$dir/log")" = "1 figures: a value is above its limit"
said() { grep -qE "^figure $1: $2 of " "$dir/out" && ok || bad "$1 is not $2: $(grep "^figure $1" "$dir/out")"; }
said "stage 05" 7  # 6 of a.c, a unit
said "stage 08" 10 # text/ and its unit, and a file of core/ with a later row
said "stage 15" 12 # cuda/ and a_cuda.c, too; never emulator and tests
said files 7
check "the parts of stage 05" test "$("$tree/grader/tools/figures.sh" parts 05 | head -n 1)" = "all: 7 lines, headers 0, braces and directives 3, refusals 0, others 4"
lines=$(cat "$tree"/grader/tools/{,record/}*.* "$tree"/grader/tools/lint-exceptions | wc -l)
said grader "$lines"
said median 1
said long 0
{ echo 'int f(void)' && echo '{' && printf '    g();\n%.0s' {1..59} && echo '}'; } >"$tree/minitorch/core/long.c"
yes '' | head -401 >"$tree/minitorch/core/file.c"
mkdir -p "$tree/grader"/{checks,worker,mutants} && echo 'int a;' | tee "$tree"/grader/{checks/02-a.c,checks/16-conv.c,worker/calls_16_b.c,mutants/17.txt} >/dev/null
"$tree/grader/tools/figures.sh" >"$dir/out" 2>"$dir/log"
said long 2
said grader $((lines + 1)) # a lab that was added is not counted

# Step 3 begins with the third call of the function whose name is given to the recorder.
cat >"$dir/loop.c" <<'EOF'
int next(int step) { return step; }
int second(void) { return 2; }
int third(void) { return 3; }
int fourth(void) { return 4; }
int main(void)
{
    int (*all[])(void) = { second, second, second, third, fourth, fourth }, sum = 0;
    for (int step = 1; step < 6; step++)
        sum += next(step) + all[step]();
    return sum;
}
EOF
gcc -O0 -finstrument-functions -o "$dir/loop" "$dir/loop.c" &&
    gcc -D_GNU_SOURCE -Wall -Wextra -Werror -shared -fPIC -o "$dir/record.so" "$root/grader/tools/record/record.c"
RECORD_FROM=$(nm "$dir/loop" | awk '$3 == "next" { print $1 }') RECORD_INTO=$dir/ran LD_PRELOAD=$dir/record.so "$dir/loop"
check "the program ends with step 3" test $? -eq 0
check "what ran in it" test "$(addr2line -f -e "$dir/loop" <"$dir/ran" | grep -v : | sort | xargs)" = "next third"

# What README says of this tree.
make -s -j2 -C "$root" figures >"$dir/out" 2>"$dir/log"
check "make figures holds the limits" test $? -eq 0
[ "$(gcc -dumpversion)" = 12 ] || programs= # README has what gcc 12 inlines
for program in ${programs-mnist gpt2}; do
    for what in lines files; do
        value=$(sed -nE "s/^figure $program runs $what: ([0-9]+) of .*/\1/p" "$dir/out")
        said=$(tr '\n' ' ' <"$root/README.md" | grep -oiE "one (step )?of .$program.c. (runs functions of )?about [0-9,]+ lines in [0-9]+" |
            tr -d ',' | grep -oE '[0-9]+' | tail -2 | sed -n "$([ $what = lines ] && echo 1 || echo 2)p")
        check "README: one step of $program runs $said $what, now $value" awk -v now="$value" -v said="$said" \
            'BEGIN { d = now - said; exit !(now > 0 && (d < 0 ? -d : d) <= (now > 300 ? now / 50 : 3)) }'
    done
done
finish figures
