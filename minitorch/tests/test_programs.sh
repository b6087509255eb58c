#!/usr/bin/env bash
# apps/mnist.c and apps/gpt2.c, the programs to read first: short, complete with mt.h alone, and they learn.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
make -s build/release/bin/mnist build/release/bin/make_digits >"$dir/log" 2>&1 || { cat "$dir/log" && exit 1; }
for program in mnist gpt2; do
    source=minitorch/apps/$program.c
    check "$program: at most 70 lines" test "$(wc -l <"$source")" -le 70
    check "$program: names the tour" grep -qF docs/TOUR.md "$source"
    check "$program: includes mt.h and no other header of ours" test "$(grep '^#include "' "$source")" = '#include "mt.h"'
    check "$program: denormal numbers are 0" grep -qF 'mt_flush_denormals(true)' "$source"
    check "$program: no options" grep -q '^int main(void)$' "$source"
    check "$program: train_$program.c says that it is the same loop" grep -q "the loop of $program.c" <(head -1 "minitorch/apps/train_$program.c")
    # No option, environment variable or build flag changes them: a test with fewer steps compiles a copy.
    sed 's/STEPS = 1000, REPORT = 100/STEPS = 100, REPORT = 50/' "$source" >"$dir/$program.c"
    check "$program: it compiles" gcc -std=gnu11 -O1 -Wall -Wextra -Werror -fopenmp -Iminitorch "$dir/$program.c" \
        build/release/units/*/*.o build/release/libgiven.a -lcjson -lm -ldl -o "$dir/$program"
done

# A data set that is not there: what to do, and no other line.
export MT_DATA=$dir/data
expect "mnist: no data" 1 "run datasets/fetch mnist" "$dir/mnist"
expect "gpt2: no data" 1 "run datasets/fetch shakespeare" "$dir/gpt2"
check "... in two lines" test "$("$dir/mnist" 2>&1 | wc -l) $("$dir/gpt2" 2>&1 | wc -l)" = "2 2"

# MNIST, or its stand-in. A linear classifier of the pixels is wrong on about 8 % of MNIST's test images (LeCun et al. 1998,
# Table I: 12.0 %, with pairs of classes 7.6 %): half of that needs the hidden layer.
# The stand-in digits need three epochs for that.
epoch=3
[ -e datasets/cache/mnist/t10k-labels-idx1-ubyte ] && MT_DATA=datasets/cache epoch=1 ||
    MT_MAKE_DIGITS=build/release/bin/make_digits datasets/fetch --offline --or-standin mnist >"$dir/log" 2>&1
"$dir/mnist" >"$dir/out" 2>"$dir/log"
check "mnist: ends well" test $? -eq 0
check "mnist: a line an epoch" grep -qzP '^(epoch \d+  loss \d\.\d{4}  test accuracy \d\d\.\d\d %\n){3}$' "$dir/out"
check "mnist: at least 96 % after epoch $epoch" awk -v epoch=$epoch 'NR == epoch { accuracy = $7 } END { exit !(accuracy >= 96) }' "$dir/out"
check "mnist: the loss falls" awk '$4 >= last && NR > 1 { worse = 1 } { last = $4 } END { exit worse || NR < 2 }' "$dir/out"

# A text of our own pages. A model without context can do no better than the entropy of a single character, in nats: -sum p ln p.
export MT_DATA=$dir/data
datasets/fetch --offline --or-standin shakespeare >"$dir/log" 2>&1
entropy=$(LC_ALL=C.UTF-8 awk '{ n += length + 1; many["\n"]++; for (i = 1; i <= length; i++) many[substr($0, i, 1)]++ }
    END { for (c in many) h -= many[c] / n * log(many[c] / n); print h }' "$dir/data/standin-text/tinyshakespeare.txt")
"$dir/gpt2" >"$dir/out" 2>"$dir/log"
check "gpt2: ends well" test $? -eq 0
check "gpt2: the loss falls below $entropy, which needs context" \
    awk -v most="$entropy" '/^step/ { loss = $4; n++ } END { exit !(n == 2 && most > 3 && loss > 0 && loss < most) }' "$dir/out"
check "gpt2: a sample of 401 characters" test "$(sed '1,/^$/d' "$dir/out" | wc -m)" -eq 402
finish programs
