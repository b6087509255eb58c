#!/usr/bin/env bash
# bench/scaling_sweep.sh: its laws from rows that were made by known ones, and its recipes on models that train at once.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
script=minitorch/bench/scaling_sweep.sh
says() { grep -qE -- "$1" "$dir/log" && ok || bad "not said: $1"; }

# The best size is 0.05 C^0.55, its loss 1.5 + 300 C^-0.25; around it the loss is a parabola in the logarithm of the size. A token
# takes 6 N + 5000 FLOPs.
made() { # BUDGETS BEND
    awk -v most="$1" -v bend="$2" 'BEGIN { for (C = 1e10; most-- > 0; C *= 4) for (N = 12288; N < 1e5; N *= 2)
        printf "%g %d %.2f %.9f\n", C, N, C / (6 * N + 5000), 1.5 + 300 * C ^ -0.25 + bend * (log(N) - log(0.05 * C ^ 0.55)) ^ 2 }'
}
made 3 0.07 | "$script" fit 1e12 >"$dir/log" && says '^best size = 0.05 FLOPs\^0.550$' && says '^loss = 1.500 \+ 300 FLOPs\^-0.250$' || bad "fit"
want=$(awk 'BEGIN { N = 0.05 * 1e12 ^ 0.55; printf "fit: at=1e.12 size=%.0f tokens=%.0f", N, 1e12 / (6 * N + 5000) }')
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0.998 * b && a < 1.002 * b) }'; }
field() { sed -nE "s/^fit: .*$1=([0-9.]+).*/\1/p" <<<"$2"; }
line=$(grep ^fit: "$dir/log")
says '^law: at=1e.12 loss=1.80[01][0-9]$'
for of in size tokens; do near "$(field $of "$line")" "$(field $of "$want")" && ok || bad "$of: $line, not $want"; done
made 3 0.07 | sort -R --random-source="$script" | "$script" fit 1e12 | grep -xF -- "$line" >"$dir/log" && ok || bad "in another order"
made 3 -0.07 | "$script" fit 1e12 >"$dir/log" && bad "a law of rows without a least loss" || says 'no least loss between 12288 and 98304 parameters'
made 2 0.07 | "$script" fit 1e12 >"$dir/log" && bad "a law of two budgets" || says 'a law needs three budgets'

# Losses without a bottom: a power law; two losses are none.
printf '1e10 4\n1e12 2\n1e14 1\n' | "$script" law 1e16 >"$dir/log" && says '^loss = 0.000 \+ [0-9]+ FLOPs\^-0.151$' && says '^law: at=1e.16 loss=0.5000$' || bad "a power law"
printf '1e10 4\n1e12 2\n' | "$script" law >"$dir/log" && bad "a law of two losses" || says 'a law needs three losses'

# The best rate is 0.001 B^0.5 up to a batch of 16, and the same for 64, where it is the grid's last one and the next failed.
awk 'BEGIN { for (B = 1; B <= 64; B *= 4) for (r = 0.0005; r < 0.006; r *= 2) {
    best = 0.001 * (B < 16 ? B : 16) ^ 0.5
    print B, r, (r > 0.003 && B == 64 ? "inf" : 2 + (log(r) - log(best)) ^ 2) } }' | "$script" best_rates >"$dir/log" || bad "best rates"
says '^1 +0.001 +2.0000 +0.001 +-$' && says '^4 +0.002 .* 0.50$' && says '^16 +0.004 .* 0.50 edge$' && says '^64 +0.002 .* -0.50 edge$'
echo '1 0.001 3 1 0.002 2.5 1 0.004 2.6' | xargs -n 3 | "$script" best_rates >"$dir/log" && says '^1 +0.00252 +2.5000 +0.002 ' || bad "between"

# All recipes, small. What they print is a table of all their settings.
export OUT=$dir/out BATCHES='1|2' WINDOWS=64 MODEL='--layers 1 --heads 1 --width 8 --block 8' SGD_RATES=0.01..0.02:2 ADAM_RATES=1e-3..2e-3:2
export RATES=1e-3..2e-3:2 WARMUPS='0|1' LARGE_RATES=0.01..0.02:2 SMALL=512 BIG=1024 EPOCHS=1
export WIDTH=8 LAYERS='1|2|3' BUDGETS='1e8 2e8 3e8' EQUAL_RATES=1e-2..2e-2:2 TARGET=1e9 JOBS=1
BATCHES='256|512' "$script" batch-digits >"$dir/log" 2>&1 && [ "$(grep -cE '^(256|512) +0.0' "$dir/log")" = 4 ] && ok || bad "batch-digits"
"$script" batch-gpt2 warmup >"$dir/log" 2>&1 && says '^2 +0.00' && says '^ +0.001 +0.002$' && says '^ +1 +[0-9.]+ +[0-9.]+$' || bad "batch-gpt2, warmup"
before=$(cat "$dir/log") && "$script" batch-gpt2 warmup >"$dir/log" 2>&1 && [ "$before" = "$(cat "$dir/log")" ] && ok || bad "again, from the tables"
"$script" large >"$dir/log" 2>&1 && [ "$(grep -cE '^batch +(512|1024|4096) +epochs +[12] .* test 0\.[0-9]+$' "$dir/log")" = 4 ] && ok || bad "large"
# So small a model may have no least loss; the runs have the FLOPs that they should have all the same. A token takes, of L layers of
# width 8, 6 FLOPs a weight, of the token table's rows too, and 6 (T + 1) 8 L for attention.
"$script" isoflop >"$dir/log" 2>&1
says '^isoflop: layers=[1-3] predicted=[0-9.]+ trained=[0-9.]+ off=-?[0-9.]+%$' && says '^law: at=1e.09 loss='
[ "$(wc -l <"$OUT/isoflop.txt")" = 9 ] && awk '{ L = $5; least = L * (6 * 12 * 64 + 6 * 65 * 8); each = $1 / $3; if ($2 != 768 * L || each < least || each > least + 8000) exit 1 }' \
    "$OUT/isoflop.txt" && ok || bad "equal FLOPs: $(cat "$OUT/isoflop.txt")"
expect "no recipe" 1 "use batch-digits, batch-gpt2, warmup, large or isoflop" "$script" magic
finish scaling
