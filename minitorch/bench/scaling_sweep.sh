#!/usr/bin/env bash
# scaling_sweep: recipes of the program sweep (docs/SWEEP.md): the best rate of each batch, warm-up, large batches, and losses at
# equal FLOPs with a law that is fitted to them, and a larger run that the law predicts before it is trained.
#     minitorch/bench/scaling_sweep.sh [RECIPE...]      batch-digits, batch-gpt2, warmup, large, isoflop (default: all of them)
#     minitorch/bench/scaling_sweep.sh fit [FLOPS] <rows   the best sizes and the law of rows FLOPS PARAMETERS TOKENS LOSS
#     minitorch/bench/scaling_sweep.sh law [FLOPS] <rows   loss = E + A FLOPS^-a through rows FLOPS LOSS; at FLOPS
#     minitorch/bench/scaling_sweep.sh best_rates <rows    the best rates of rows BATCH RATE LOSS
# Tables are in build/run/scaling (OUT), one sweep.csv a sweep; a recipe that was killed goes on where it was. Words in capitals below
# are variables of the environment.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
bin=build/release/bin out=${OUT:-build/run/scaling}
batches=${BATCHES:-1|2|4|8|16|32|64} windows=${WINDOWS:-2048} jobs=${JOBS:-2}
model=${MODEL:---layers 2 --heads 4 --width 64 --block 64}
gpt2="$bin/train_gpt2 -q --keep 1" mnist="$bin/train_mnist -q --ema 0 --keep 1"

# grid NAME SPACE COMMAND: a sweep of all settings; its table is $out/NAME/sweep.csv.
grid() {
    $bin/sweep -q --search grid --trials 10000 -j "$jobs" --space "$2" -o "$out/$1" --resume --run "$3" >"$out/$1.log" 2>&1 || { tail -3 "$out/$1.log" >&2 && exit 1; }
}
# rows NAME: A B VALUE of each job of a sweep over two hyperparameters; a job that failed has the value inf.
rows() { awk -F, 'NR > 1 { print $5, $6, $8 == "done" ? $7 : "inf" }' "$out/$1/sweep.csv"; }

# Of rows A RATE LOSS: for each A the best rate, between those of the grid by a parabola through the least loss and its neighbours
# (on logarithmic axes of the rate), its loss, and the exponent by which the best rate grew since the A before: 1 is the linear rule,
# 0.5 the root. `edge`: the best rate is the grid's first or last one.
best_rates() {
    awk -v head="${1:-batch}" '
        { if (!($1 in n)) order[++count] = $1; i = ++n[$1]; rate[$1, i] = $2; loss[$1, i] = $3 + 0 == $3 ? $3 : 1e30 }
        END {
            printf "%-8s %10s %10s %10s %9s\n", head, "best rate", "loss", "of grid", "exponent"
            for (k = 1; k <= count; k++) {
                a = order[k]; b = 1
                for (i = 2; i <= n[a]; i++) if (loss[a, i] < loss[a, b]) b = i
                r = log(rate[a, b]); note = ""
                if (b == 1 || b == n[a] || loss[a, b - 1] > 1e29 || loss[a, b + 1] > 1e29) note = " edge"
                else {
                    d = log(rate[a, b + 1]) - r; bend = loss[a, b - 1] - 2 * loss[a, b] + loss[a, b + 1]
                    if (bend > 0) r += d * (loss[a, b - 1] - loss[a, b + 1]) / 2 / bend
                }
                printf "%-8s %10.3g %10.4f %10.3g %9s%s\n", a, exp(r), loss[a, b], rate[a, b],
                    k == 1 ? "-" : sprintf("%.2f", (r - before) / log(a / order[k - 1])), note
                before = r
            }
        }'
}

# Least squares: slope and cut of a line, and the squares that are left.
line='function line(n, x, y, i, sx, sy, sxx, sxy) {
    for (i = 1; i <= n; i++) { sx += x[i]; sy += y[i]; sxx += x[i] * x[i]; sxy += x[i] * y[i] }
    slope = (n * sxy - sx * sy) / (n * sxx - sx * sx); cut = (sy - slope * sx) / n; left = 0
    for (i = 1; i <= n; i++) left += (y[i] - cut - slope * x[i]) ^ 2
}'
# Of rows FLOPS LOSS, three or more: loss = E + A FLOPS^-a with the E from 0 on that fits best, and the loss at so many FLOPs.
law() {
    awk -v at="${1:-0}" "$line"'
        { x[++n] = log($1); loss[n] = $2; if (n == 1 || $2 < least) least = $2 }
        END {
            if (n < 3) { print "a law needs three losses"; exit 1 }
            for (k = best = 0; k < 4000; k++) {
                for (i = 1; i <= n; i++) y[i] = log(loss[i] - least * k / 4000)
                line(n, x, y)
                if (k == 0 || left < best) { best = left; E = least * k / 4000; a = slope; A = exp(cut) }
            }
            printf "loss = %.3f + %.3g FLOPs^%.3f\n", E, A, a
            if (at) printf "law: at=%.3g loss=%.4f\n", at, E + A * at ^ a
        }'
}

# Of rows FLOPS PARAMETERS TOKENS LOSS: the best size of each budget by a parabola in log(parameters) (Hoffmann et al. 2022, approach
# 2), where it lies between those that were trained, the power law of the best size, and the law of the least losses.
fit() {
    local laws rc
    laws=$(mktemp) || exit 1
    sort -g -k1,1 -k2,2 | awk -v at="${1:-0}" -v laws="$laws" "$line"'
        function det(a, b, c, d, e, f, g, h, i) { return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) }
        function budget(i, x, m, s0, s1, s2, s3, s4, t0, t1, t2, whole, a, b, c) { # the parabola of the points so far
            for (i = 1; i <= points; i++) m += px[i] / points
            for (i = 1; i <= points; i++) {
                x = px[i] - m; s0++; s1 += x; s2 += x ^ 2; s3 += x ^ 3; s4 += x ^ 4
                t0 += py[i]; t1 += x * py[i]; t2 += x ^ 2 * py[i]
            }
            whole = det(s0, s1, s2, s1, s2, s3, s2, s3, s4)
            if (points > 2) {
                a = det(t0, s1, s2, t1, s2, s3, t2, s3, s4) / whole; b = det(s0, t0, s2, s1, t1, s3, s2, t2, s4) / whole
                c = det(s0, s1, t0, s1, s2, t1, s2, s3, t2) / whole
            }
            x = c > 0 ? -b / 2 / c + m : 0
            if (c <= 0 || x < px[1] || x > px[points]) printf "%10.3g  no least loss between %.0f and %.0f parameters\n", flops, exp(px[1]), exp(px[points])
            else {
                printf "%10.3g %12.0f %12.0f %10.4f\n", flops, exp(x), flops / each(exp(x)), a - b * b / 4 / c
                lc[++budgets] = log(flops); ln[budgets] = x; least[budgets] = a - b * b / 4 / c
            }
            points = 0
        }
        # FLOPs of a token, between those of the sizes that were trained: a line in the parameters.
        function each(N) { line(sizes, sn, sf); return cut + slope * N }
        BEGIN { printf "%10s %12s %12s %10s\n", "FLOPs", "best size", "tokens", "loss" }
        { row[++count] = $0; sn[++sizes] = $2; sf[sizes] = $1 / $3 }
        END {
            for (r = 1; r <= count; r++) {
                split(row[r], f, " ")
                if (r > 1 && f[1] != flops) budget()
                flops = f[1]; px[++points] = log(f[2]); py[points] = f[4]
            }
            budget()
            if (budgets < 3) { print "a law needs three budgets with a least loss"; exit 1 }
            line(budgets, lc, ln); size = exp(cut + slope * log(at))
            printf "best size = %.3g FLOPs^%.3f\n", exp(cut), slope
            if (at) printf "fit: at=%.3g size=%.0f tokens=%.0f\n", at, size, at / each(size)
            for (i = 1; i <= budgets; i++) printf "%.8g %.9f\n", exp(lc[i]), least[i] > laws
        }' && law "${1:-0}" <"$laws"
    rc=$? && rm -f "$laws" && return $rc
}

batch_digits() {
    echo "Digits, one epoch, 784-64-10, each batch with its best rate"
    for rule in sgd adam; do
        grid "digits-$rule" "batch=$batches,lr=log:$([ $rule = sgd ] && echo "${SGD_RATES:-0.002..2.048:11}" || echo "${ADAM_RATES:-1e-4..5.12e-2:10}")" \
            "$mnist --optimizer $rule --schedule cosine --lr-min 0 --weight-decay 0 --hidden 64 --epochs ${EPOCHS:-1} --hold-out 5000 --batch {batch} --lr {lr} -o {dir}"
        echo "$rule" && rows "digits-$rule" | best_rates
    done
}

batch_gpt2() {
    echo "Toy GPT-2 ($model), $windows windows in all, AdamW, each batch with its best rate"
    grid gpt2-batch "batch=$batches,lr=log:${RATES:-2.5e-4..3.2e-2:8}" "$gpt2 $model --batch {batch} --steps \$(($windows / {batch})) \
        --warmup \$(($windows / {batch} / 16)) --eval-every $windows --eval-batches \$((256 / {batch})) --lr-min 0 --lr {lr} -o {dir}"
    rows gpt2-batch | best_rates
}

warmup() {
    local steps=$((windows / 16))
    echo "Toy GPT-2 ($model), $steps steps of 16 windows: loss by steps of warm-up (rows) and rate (columns)"
    grid warmup "warmup=${WARMUPS:-0|8|32|64},lr=log:${RATES:-1e-3..6.4e-2:7}" "$gpt2 $model --batch 16 --steps $steps --warmup {warmup} \
        --eval-every $steps --eval-batches 16 --lr-min 0 --lr {lr} -o {dir}"
    rows warmup | awk '!($1 in seen) { seen[$1]; a[++n] = $1 } !($2 in had) { had[$2]; r[++m] = $2 } { v[$1, $2] = $3 }
        END { printf "%8s", ""; for (j = 1; j <= m; j++) printf " %8.3g", r[j]; print ""
              for (i = 1; i <= n; i++) { printf "%8s", a[i]; for (j = 1; j <= m; j++) printf " %8.4f", v[a[i], r[j]]; print "" } }'
}

large() {
    echo "Digits, SGD with momentum, each batch with its best rate: loss of the last epoch's training, of validation; test accuracy"
    local big=${BIG:-1024} small=${SMALL:-16} epochs=${EPOCHS:-2}
    for run in "$small $epochs" "$((small * 8)) $epochs" "$big $epochs" "$big $((epochs * big / small))"; do
        read -r batch of <<<"$run"
        grid "large-$batch-$of" "lr=log:${LARGE_RATES:-0.00125..0.64:10},batch=$batch" "$mnist --optimizer momentum --schedule cosine \
            --lr-min 0 --weight-decay 0 --hidden 64 --epochs $of --eval-every $of --hold-out 5000 --batch {batch} --lr {lr} -o {dir}"
        read -r trial rate < <(awk -F, '$8 == "done" && (!n++ || $7 < v) { t = $2; r = $5; v = $7 } END { print t, r }' "$out/large-$batch-$of/sweep.csv")
        awk -F, -v batch="$batch" -v epochs="$of" -v rate="$rate" -v accuracy="$(grep -oP 'test_accuracy=\K[0-9.]+' "$out/large-$batch-$of/trial-$trial-rung-0.log")" '
            END { printf "batch %5d  epochs %4d  rate %8.3g  train %.4f  validation %.4f  test %.4f\n", batch, epochs, rate, $2, $3, accuracy }' \
            "$out/large-$batch-$of/trial-$trial-rung-0/metrics.csv"
    done
}

# shellcheck disable=SC2046
shape() { echo "--heads 4 --width ${WIDTH:-32} --block 64 --batch 1 --layers $1"; }
# FLOPs of a step of so many layers, by the plan of a batch that is a thousand times as large. A step has one window: at equal FLOPs
# more steps of fewer tokens reach lower losses (batch-gpt2).
step_flops() { $gpt2 $(shape "$1") --batch 1000 --plan | awk '/arithmetic of a step/ { printf "%.0f\n", $5 * 1e6 }'; }
equal() { # FLOPS LAYERS RATE DIR: a run of so many FLOPs
    local steps
    steps=$(awk "BEGIN { printf \"%.0f\", $1 / $(step_flops "$2") }")
    $gpt2 $(shape "$2") --steps "$steps" --warmup $((steps / 16)) --eval-every "$steps" --eval-batches 256 --lr-min 0 --lr "$3" -o "$4"
}
equal_rows() { # FLOPS: FLOPS PARAMETERS TOKENS LOSS LAYERS RATE of each number of layers with its best rate
    while read -r layers loss rate; do
        awk -v C="$1" -v L="$layers" -v W="${WIDTH:-32}" -v f="$(step_flops "$layers")" -v loss="$loss" -v rate="$rate" \
            'BEGIN { printf "%g %d %.0f %s %d %g\n", C, 12 * L * W * W, sprintf("%.0f", C / f) * 64, loss, L, rate }'
    done < <(rows "isoflop-$1" | awk '!($1 in v) || $3 < v[$1] { v[$1] = $3; r[$1] = $2 } END { for (l in v) print l, v[l], r[l] }' | sort -n)
}
isoflop() {
    local target=${TARGET:-6.4e11} layers rate
    : >"$out/isoflop.txt"
    for flops in ${BUDGETS:-1e10 4e10 1.6e11}; do
        grid "isoflop-$flops" "layers=${LAYERS:-1|2|3|4},lr=log:${EQUAL_RATES:-2e-3..8e-3:3}" "minitorch/bench/scaling_sweep.sh equal $flops {layers} {lr} {dir}"
        equal_rows "$flops" >>"$out/isoflop.txt"
    done
    echo "Toy GPT-2 of width ${WIDTH:-32}: FLOPs, parameters of the layers, tokens, loss, layers, best rate" && cat "$out/isoflop.txt"
    fit "$target" <"$out/isoflop.txt"
    # The least loss of each budget; the larger run has as many layers as the last of them, and its rate.
    sort -g -k1,1 -k4,4 "$out/isoflop.txt" | awk '!($1 in had) { had[$1]; print $1, $4, $5, $6 }' >"$out/isoflop.least"
    law "$target" <"$out/isoflop.least" | tee "$out/isoflop.law" || exit 1
    read -r layers rate < <(awk 'END { print $3, $4 }' "$out/isoflop.least")
    grid isoflop-target "layers=$layers,lr=${TARGET_RATES:-$rate}" "minitorch/bench/scaling_sweep.sh equal $target {layers} {lr} {dir}"
    rows isoflop-target | awk -v layers="$layers" -v fit="$(grep ^law: "$out/isoflop.law")" 'NR == 1 || $3 < v { v = $3 }
        END { sub(/.*loss=/, "", fit); printf "isoflop: layers=%d predicted=%.4f trained=%.4f off=%.2f%%\n", layers, fit, v, 100 * (fit / v - 1) }'
}

case ${1:-} in
fit | law | best_rates | equal) "$@"; exit ;;
esac
make -s $bin/{sweep,train_gpt2,train_mnist,curve} >/dev/null || exit 1
for set in shakespeare mnist; do datasets/fetch --or-standin $set >/dev/null 2>&1 || exit 1; done
mkdir -p "$out" && export MT_MAKE_DIGITS=$bin/make_digits
[ $# -gt 0 ] || set -- batch-digits batch-gpt2 warmup large isoflop
for recipe; do
    case $recipe in
    batch-digits | batch-gpt2 | warmup | large | isoflop) "${recipe/-/_}" ;;
    *) echo "scaling_sweep: no recipe '$recipe': use batch-digits, batch-gpt2, warmup, large or isoflop" >&2 && exit 1 ;;
    esac
done
