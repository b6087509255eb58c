#!/usr/bin/env bash
# train_log: rows of metrics.csv every --log-every steps say what the steps did, as the figures of each step do; a run that was stopped
# between two rows, or whose disk was full, ends with the rows of an unbroken one; on several ranks, too.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,train_mnist,follow,curve,make_digits} >/dev/null || exit 1
seq 3000 >"$dir/text"
flags=(--data "$dir/text" --layers 1 --heads 1 --width 8 --block 8 --batch 4 --warmup 5 --eval-batches 1 --threads 2 -q)
short=("${flags[@]}" --steps 40 --eval-every 20 --log-every 5)
run() { "$bin/train_gpt2" "${@:2}" -o "$dir/$1" >"$dir/log" 2>"$dir/errors"; }
steps() { cut -d, -f1 "$dir/$1/metrics.csv" | tail -n +2 | paste -sd' '; }
# values NAME: the columns that do not depend on time.
values() { cut -d, -f1-4,6,7 "$dir/$1/metrics.csv"; }
same() { diff <(values "$1") <(values "$2") >"$dir/log" && ok || bad "other rows: $1, $2"; }

for port in $(shuf -i 20000-29999 -n 20); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
done
run whole "${short[@]}" --metrics-port "$port" --tensorboard && ok || bad "a run: $(cat "$dir/errors")"
[ "$(head -1 "$dir/whole/metrics.csv")" = step,loss,val_loss,lr,tokens_per_second,loss_scale,grad_norm,memory_peak_bytes,mfu_ratio ] && ok || bad "names: $(head -1 "$dir/whole/metrics.csv")"
[ "$(steps whole)" = '0 5 10 15 20 25 30 35 40' ] && ok || bad "rows: $(steps whole)"
# Each row's loss is the mean of its steps, rate and norm are those of the last; only evaluations have a validation loss.
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    FILENAME ~ /steps.csv$/ { sum += $at["loss"]; if ($1 % 5 == 0) { loss[$1] = sum / 5; sum = 0; lr[$1] = $at["lr"]; norm[$1] = $at["grad_norm"] } next }
    $1 == 0 { first = $2 == "" && $4 == 0.0004 && $5 $7 $9 == "" && $3 > 2 && $3 < 4; next } # no steps yet, but a rate and the loss of the first weights
    function off(a, b) { return a - b > 2e-6 || b - a > 2e-6 }
    { rows++; wrong += off($2, loss[$1]) || off($4, lr[$1]) || off($7, norm[$1]) || ($3 == "") != ($1 % 20 > 0) || $5 <= 0 || $8 < 1000 || $9 <= 0 || $9 > 1 }
    END { exit !(first && rows == 8 && wrong == 0) }' "$dir"/whole/{steps,metrics}.csv && ok || bad "values: $(cat "$dir/whole/metrics.csv")"
for name in loss val_loss lr tokens_per_second grad_norm memory_peak_bytes mfu_ratio; do
    grep -qaF "$name" "$dir"/whole/events.out.tfevents.* && ok || bad "TensorBoard has no $name"
done

run rare "${short[@]}" --log-every 0 && [ "$(steps rare)" = '0 20 40' ] && cmp "$dir"/{whole,rare}/step-40/state-00001-of-00001.safetensors && ok || bad "--log-every 0: $(steps rare)"
# Stopped between two rows, and where a row was due.
for step in 7 15 20; do
    run parts "${short[@]}" --overwrite --keep 0 --save-every $step && run parts "${short[@]}" --keep 0 --save-every $step --resume $step && ok || bad "resumed at $step: $(cat "$dir/errors")"
    same whole parts
    diff -r "$dir"/{whole,parts}/step-40 >"$dir/log" && ok || bad "other bits after step $step"
done
run ranks "${short[@]}" --ranks 2 && [ "$(steps ranks)" = "$(steps whole)" ] && ok || bad "ranks: $(steps ranks)"

# A disk that fills during a log: one line, and no step and no row is lost.
long=("${flags[@]}" --steps 600 --eval-every 300 --log-every 1)
full() { # NAME FLAG...
    (ulimit -f 28 && run "$1" "${long[@]}" "${@:2}") && bad "$1: no room, and it says nothing" || ok # KiB
    [ "$(grep -c . "$dir/errors")" = 1 ] && grep -qE "^train_gpt2: .*$1/metrics.csv: (File too large|No space left on device); step [0-9]+ is saved, --resume continues there$" "$dir/errors" && ok || bad "$1 said: $(cat "$dir/errors")"
    local step
    step=$(sed -nE 's/.*; step ([0-9]+) is saved.*/\1/p' "$dir/errors")
    [ "$(tail -1 "$dir/$1/metrics.csv" | cut -d, -f1)" = $((step - 1)) ] && [ -z "$(tail -c 1 "$dir/$1/metrics.csv")" ] && [ -e "$dir/$1/step-$step/manifest.json" ] && ok || bad "$1: step $step, $(tail -1 "$dir/$1/metrics.csv")"
    run "$1" "${long[@]}" "${@:2}" --resume && ok || bad "$1 resumed: $(cat "$dir/errors")"
    run "$1-whole" "${long[@]}" "${@:2}" && same "$1" "$1-whole" && diff -r "$dir/$1"{,-whole}/step-600 >"$dir/log" && ok || bad "$1: other bits"
}
full alone
full team --ranks 2
full stages --layers 2 --pp 2
# Figures of each step are no part of the run: without room it goes on.
(ulimit -f 24 && run figures "${flags[@]}" --steps 600 --eval-every 600 --metrics-port "$port") && ok || bad "steps.csv: $(cat "$dir/errors")"
[ "$(grep -c 'steps.csv: .*: --metrics-port shows no step after' "$dir/errors")" = 1 ] && ok || bad "steps.csv said: $(cat "$dir/errors")"

# train_mnist: rows within an epoch, by its column of steps.
"$bin/make_digits" --out "$dir/digits" --train 400 --test 50 >/dev/null
"$bin/train_mnist" --data "$dir/digits" --hidden 8 --epochs 2 --batch 40 --hold-out 40 --log-every 2 --clip 1 -q -o "$dir/mnist" >"$dir/log" 2>&1 && ok || bad "train_mnist"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["step"] == 0 { first = $at["loss"] == "" && $at["val_loss"] > 1; next }
    { rows = rows " " $at["step"]; wrong += ($at["val_loss"] == "") == ($at["step"] % 9 == 0) || $at["grad_norm"] <= 0 || $at["samples_per_second"] <= 0 || $at["loss"] <= 0 || $at["mfu_ratio"] == "" }
    END { exit !(first && rows == " 2 4 6 8 9 10 12 14 16 18" && wrong == 0) }' "$dir/mnist/metrics.csv" && ok || bad "train_mnist: $(cat "$dir/mnist/metrics.csv")"
finish train_log
