#!/usr/bin/env bash
# test_capstone.sh -- the program capstone: plans in the simulator against sums made here, training within a budget of
# FLOPs, the leaderboard, results made again from their files, what is refused, and kills in the middle.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
make -s build/release/bin/{capstone,train_gpt2,curve} >/dev/null || exit 1
bin=build/release/bin
# capstone ARGUMENT...: runs it; its output is in $said, its status in $rc.
capstone() {
    rc=0
    said=$("$bin/capstone" --board "$dir/board" --out "$dir/run" --data "$dir/text" --cluster "$dir/cluster.json" "$@" 2>&1) || rc=$?
}
says() { [ "$rc" = "$1" ] && grep -qF -- "$2" <<<"$said" && ok || bad "exit $rc, not $1 \"$2\": $said"; }
# change FILE KEY=VALUE...: of the JSON in FILE; a key is a path, as in pools.a.mtbf_hours; no value: it is removed.
change() {
    python3 - "$@" <<'END'
import json, sys
file = json.load(open(sys.argv[1]))
for word in sys.argv[2:]:
    path, _, value = word.partition("=")
    *way, last = path.split(".")
    at = file
    for key in way:
        at = at[key]
    if value: at[last] = json.loads(value)
    else: at.pop(last)
json.dump(file, open(sys.argv[1], "w"))
END
}
# field ID NAME: a number of the result.
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["result"][sys.argv[2]])' "$dir/board/$1.json" "$2"; }
kept() { sed -nE 's,^kept as .*/([0-9a-f]{16})\.json$,\1,p' <<<"$said"; }

for i in $(seq 400); do echo "$i: a text of which the toy GPT-2 learns $((i * i)) lines"; done >"$dir/text"
cp labs/15-scale/cluster.json "$dir/example.json"
fresh() {
    cp "$dir/example.json" "$dir/cluster.json"
    change "$dir/cluster.json" 'train.toy={"flops": 8e9, "windows": 16}'
    echo '{"name": "Ada", "plan": {"pool": "a100", "dp": 8, "pp": 1, "tp": 1, "micro_batch": 4, "zero": 1, "save_every": 500},
           "train": {"lr": 0.004, "batch": 2, "warmup": 5}}' >"$dir/entry.json"
}
fresh

# The example: kept, listed, the same again, and by other threads.
capstone --cluster labs/15-scale/cluster.json --entry labs/15-scale/entry.json && says 0 'the simulated run is'
id=$(kept)
# the handout shows what it prints
shown=$(sed -n '/^\$ make capstone/,/^```$/p' labs/15-scale/README.md | sed '1d;$d')
[ -n "$shown" ] && [ "$shown" = "$(grep -v '^kept' <<<"$said")" ] && ok || bad "labs/15-scale/README.md shows other lines than $said"
cp "$dir/board/$id.json" "$dir/first"
OMP_NUM_THREADS=1 capstone --cluster labs/15-scale/cluster.json --entry labs/15-scale/entry.json
result() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["result"])' "$1"; }
[ "$(result "$dir/first")" = "$(result "$dir/board/$id.json")" ] && [ "$(ls "$dir/board")" = "$id.json" ] && ok || bad "the same entry has another result"
capstone --verify "$id" && says 0 ": equal"
capstone --verify "$dir/first" && says 0 ": equal"
capstone && says 0 "$id"
[ -z "$(find "$dir/board" -name '*.tmp')" ] && ok || bad "a temporary file is left"
# kept numbers and entries that were changed
cp "$dir/first" "$dir/changed" && change "$dir/changed" result.dollars=1 && capstone --verify "$dir/changed" && says 1 "dollars: kept 1, now"
cp "$dir/first" "$dir/changed" && change "$dir/changed" score=1 && capstone --verify "$dir/changed" && says 1 ": different"
cp "$dir/first" "$dir/changed" && change "$dir/changed" 'entry="{}"' && capstone --verify "$dir/changed" && says 1 "was changed after"
cp "$dir/first" "$dir/changed" && change "$dir/changed" seed=2 && capstone --verify "$dir/changed" && says 1 '"id" is not that of'
cp "$dir/first" "$dir/changed" && change "$dir/changed" 'result.dollars="\u001b[2J"' && capstone --verify "$dir/changed" && says 1 'dollars: kept ?[2J'
[[ $said != *$'\e'* ]] && ok || bad "a kept text reaches the terminal"
cp "$dir/first" "$dir/changed" && change "$dir/changed" result.more=1 && capstone --verify "$dir/changed" && says 1 'kept 11 numbers and texts, now 10'
for bytes in 0 1 100 2000; do
    head -c $bytes "$dir/first" >"$dir/changed" && capstone --verify "$dir/changed" && says 1 'make capstone ENTRY=file makes a result again'
done
# what is not a result does not hide the others
echo '{' >"$dir/board/broken.json" && mkdir "$dir/board/folder.json" && mkfifo "$dir/board/pipe.json" && printf 'a\0b' >"$dir/board/zero.json"
capstone && says 0 "$id" && [ "$(grep -c 'left out' <<<"$said")" = 4 ] && says 0 'remove such files'  || bad "the others: $said"
rm -r "$dir"/board/{broken,folder,pipe,zero}.json
capstone --verify 0123456789abcdef && says 1 'make leaderboard shows the ids'

# Predictions: said before the run, compared after it; the largest miss is kept and shown, and those of another kind do not count.
fresh && capstone --entry "$dir/entry.json" && says 0 'Nothing is predicted: "predict": { "days": 2, "dollars": 3000, "gb": 30 }' && plain=$(kept)
python3 -c 'import json, sys; assert "off_percent" not in json.load(open(sys.argv[1]))["result"]' "$dir/board/$plain.json" && ok || bad "nothing was predicted"
days=$(field "$plain" days) dollars=$(field "$plain" dollars)
change "$dir/entry.json" "predict={\"days\": $(python3 -c "print($days * 1.25)"), \"dollars\": $(python3 -c "print($dollars * 0.9)"), \"val_loss\": 1}"
capstone --entry "$dir/entry.json" && says 0 ': 25.0 % too high' && says 0 ': 10.0 % too low' && id=$(kept)
[ "$(head -1 <<<"$said" | cut -d' ' -f1,2)" = "Predicted: days" ] && [[ $said != *val_loss* ]] && [ "$(grep -c '^  predicted' <<<"$said")" = 2 ] && ok || bad "predicted: $said"
[ "$(field "$id" days)" = "$days" ] && [ "$(printf %.6f "$(field "$id" off_percent)")" = 25.000000 ] && ok || bad "off: $(field "$id" off_percent)"
capstone --verify "$id" && says 0 ': equal'
capstone && grep -E "^ .* 25  Ada .* $id" <<<"$said" >/dev/null && grep -E "^ .* -  Ada .* $plain" <<<"$said" >/dev/null && ok || bad "the board: $said"

# Nothing fails, nothing is slow: sums of steps and saves, by hand. One device, so no messages.
fresh && change "$dir/cluster.json" pools.a100.mtbf_hours pools.a100.slow_every_hours run.tokens=1e9 storage_gb_s=4
change "$dir/entry.json" plan.dp=1 plan.zero=0 plan.save_every=100
capstone --entry "$dir/entry.json" && id=$(kept)
python3 - "$(field "$id" days)" "$(field "$id" step)" "$(field "$id" saving_hours)" "$(field "$id" dollars)" <<'END' && ok || bad "sums: $said"
import math, sys
days, step, saving, dollars = map(float, sys.argv[1:])
L, C, V, T = 48, 1600, 50304, 1024
params = V * C + T * C + L * (12 * C * C + 13 * C) + 2 * C
steps = math.ceil(1e9 / (512 * T))
save = 12 * params / 4e9
near = lambda a, b: abs(a - b) <= 1e-9 * abs(b)
assert near(saving * 3600, math.ceil(steps / 100) * save), (saving, save)
assert near(days * 86400, steps * step + saving * 3600), days
assert near(dollars, days * 24 * 8 * 4.1), dollars   # a machine of 8 is rented
# matrices alone, 6 FLOPs a parameter and token: less than the step, and not much
least = 6 * (L * 12 * C * C + V * C) * 512 * T / (312e12 * 0.45)
assert least < step < 1.15 * least, (least, step)
END
# Failures are as frequent as the file says: 8 futures of 32 devices, within 5 standard deviations.
fresh && change "$dir/entry.json" 'plan.pool="spot"' plan.dp=32 plan.save_every=100
capstone --entry "$dir/entry.json" && id=$(kept)
python3 -c 'import sys
failures, days, share = map(float, sys.argv[1:])
want = days * 24 * 32 / 50 - failures * 600 / 3600 * 32 / 50   # nothing fails during a restart
assert abs(8 * failures - 8 * want) < 5 * (8 * want) ** 0.5, (failures, want)
assert 0.5 < share < 0.95' "$(field "$id" failures)" "$(field "$id" days)" "$(field "$id" goodput)" && ok || bad "failures: $said"
capstone --entry "$dir/entry.json" --seed 2 && [ "$(kept)" != "$id" ] && ok || bad "another seed has the same id"
# A budget that is not kept is listed last, without a place.
change "$dir/cluster.json" budget.dollars=1 && capstone --entry "$dir/entry.json" && says 0 'the simulated run is OVER it' && capstone && says 0 '  over'

# refused FILE WORDS CHANGE...: the file with these changes is refused by these words, and nothing is kept.
refused() {
    local file=$1 words=$2 before
    shift 2
    fresh && change "$dir/$file.json" "$@"
    before=$(ls "$dir/board")
    capstone --entry "$dir/entry.json" && says 1 "$words"
    [ "$before" = "$(ls "$dir/board")" ] || bad "something was kept: $*"
}
refused cluster 'link "rack": "gb_s": write a number above 0' links.rack.gb_s=0
refused cluster '"up": leave one "up" out' 'links.hall.up="rack"'
refused cluster 'there is no link "attic"' 'links.hall.up="attic"'
refused cluster 'there is no link "attic"' 'pools.old.network="attic"'
refused cluster 'pool "old": "dollars_hour": write a number from 0' pools.old.cluster.dollars_hour=-1
refused cluster 'there is no device "B9": use one of V100' 'pools.old.cluster.device="B9"'
refused cluster 'pool "old": "devices": write a whole number' pools.old.cluster.devices=0
refused cluster 'write at most 4096' pools.old.cluster.devices=5000
refused cluster '"storage_gb_s": write a number above 0' storage_gb_s=0
refused cluster '"pools": write an object of 1 to 16 pools' 'pools={}'
refused cluster '"model" fits no pool' model.width=51200
refused cluster 'heads do not divide' model.heads=27
refused cluster 'are too many' pools.spot.mtbf_hours=0.001
refused cluster '"slow_factor": write a number from 1' pools.a100.slow_factor=0.5
refused cluster '"budget": "days": write a number above 0' budget.days=-2
refused cluster '"budget" is missing' budget
refused cluster 'there is no key "prize"' prize=1
refused cluster '"seed": write a whole number' seed=1.5
refused cluster 'this is not a JSON object' 'links={"rack": 3}'
refused entry 'there is no pool "cloud": use one of a100, h100, spot, old' 'plan.pool="cloud"'
refused entry 'pool "a100" has 64' plan.dp=128
refused entry 'divides the batch' plan.micro_batch=3
refused entry 'would fit' plan.micro_batch=64
refused entry 'stage 1 only with pp or tp above 1: write 0 or 1' plan.pp=2 plan.zero=2
refused entry 'nothing to share' plan.dp=1
refused entry 'tp does not divide the heads' plan.tp=2 plan.zero=0
refused entry '"plan": there is no key "gpu"' plan.gpu=1
refused entry '"dp": write a whole number' 'plan.dp="8"'
refused entry '"save_every" is missing' plan.save_every
refused entry 'printable' 'name="\u001b[2J"'
refused entry '"plan" is missing' plan
refused entry '"predict": "days": write a number above 0' 'predict={"days": -1}'
refused entry '"predict": there is no key "hours"' 'predict={"hours": 1}'
refused entry '"predict": this is not a JSON object' predict=3
fresh && change "$dir/cluster.json" run.batch=65536 && change "$dir/entry.json" plan.pp=48 plan.dp=1 plan.zero=0 plan.micro_batch=1
capstone --entry "$dir/entry.json" && says 1 'write a larger "micro_batch"'
fresh && echo '{"name": "Ada", "plan": {"dp": 1, "dp": 2}}' >"$dir/entry.json" && capstone --entry "$dir/entry.json" && says 1 '"dp" stands there twice'
printf '{"name": "Ada",\n "plan": }' >"$dir/entry.json" && capstone --entry "$dir/entry.json" && says 1 'entry.json:2: this is not JSON'
head -c 200000 /dev/zero | tr '\0' ' ' >"$dir/entry.json" && echo '{}' >>"$dir/entry.json" && capstone --entry "$dir/entry.json" && says 1 'at most 65536 are kept'
capstone --entry "$dir" && says 1 "$dir"
# No room: nothing is kept, nothing is left.
fresh && before=$(ls -A "$dir/board") && change "$dir/entry.json" plan.save_every=77
said=$(trap '' XFSZ && ulimit -f 1 && "$bin/capstone" --board "$dir/board" --cluster "$dir/cluster.json" --entry "$dir/entry.json" 2>&1) && rc=0 || rc=$?
says 1 'capstone: ' && [ "$before" = "$(ls -A "$dir/board")" ] && ok || bad "a full disk: $(ls -A "$dir/board")"

# kill -9 at any moment: whole results, and no other file.
for ((i = 0; i < 10; i++)); do
    change "$dir/entry.json" plan.save_every=$((100 + i))
    "$bin/capstone" --board "$dir/killed-board" --cluster "$dir/cluster.json" --entry "$dir/entry.json" >/dev/null 2>&1 &
    sleep "0.$((i * 3 / 10))$((i * 3 % 10))" && kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
capstone --board "$dir/killed-board"
[ $rc -eq 0 ] && ! grep -q 'left out' <<<"$said" && ok || bad "killed: $said"
# A board where nothing can be kept is known before hours of training.
capstone --quiet --train toy --entry "$dir/entry.json" --board /proc/self/fd && says 1 '/proc/self/fd' && [[ $said != *loss* ]] && ok || bad "trained for nothing: $said"

# Training: the budget is kept, one more step would be too much; the same bits again.
fresh && capstone --quiet --train toy --entry "$dir/entry.json" && says 0 'validation loss' && id=$(kept)
python3 -c 'import sys
flops, steps, loss = map(float, sys.argv[1:])
assert flops <= 8e9 < flops + flops / steps and steps == int(steps) and 0 < loss < 4, sys.argv
L, C, T, V = 4, 128, 64, 44   # matrices and attention, forward and backward; V: characters, not counted exactly here
least = 6 * 2 * T * L * 12 * C * C
assert least < flops / steps < 1.3 * least, (least, flops / steps)' "$(field "$id" flops)" "$(field "$id" steps)" "$(field "$id" val_loss)" && ok || bad "training: $said"
capstone --quiet --verify "$id" && says 0 ': equal'
capstone && says 0 'GPT-2 trained, toy'
steps=$(field "$id" steps) && change "$dir/entry.json" "predict={\"steps\": $((2 * ${steps%.*})), \"days\": 3}"
capstone --quiet --forget --train toy --entry "$dir/entry.json" && says 0 "came $(printf %12d "${steps%.*}"): 100.0 % too high" && [[ $said != *days* ]] && ok || bad "predicted steps: $said"
echo 'and more' >>"$dir/text" && capstone --quiet --verify "$id" && says 1 'data_crc32c: kept'
refused_training() { fresh && change "$dir/$1.json" "${@:3}" && capstone --quiet --train toy --entry "$dir/entry.json" && says 1 "$2"; }
refused_training cluster 'write a smaller "batch"' train.toy.flops=1000
refused_training cluster 'there is no budget to train toy' train.toy
refused_training cluster 'write a multiple of 4' train.toy.windows=18
refused_training entry '"optimizer": write one of "sgd"' 'train.optimizer="magic; rm -rf /"'
refused_training entry 'there is no key "steps"' train.steps=1000000
refused_training entry '"lr": write a number above 0' train.lr=0
fresh && said=$(cd "$dir" && "$OLDPWD/$bin/capstone" --train gpt2 --cluster "$dir/cluster.json" --entry "$dir/entry.json" --board "$dir/board" 2>&1) && rc=0 || rc=$?
says 1 'SIZE=gpt2 ENTRY=file makes it'
fresh && capstone --train huge --entry "$dir/entry.json" && says 1 'use toy or gpt2'
# Killed (-9) while it trains: nothing is kept, and train_gpt2 has gone too.
fresh && change "$dir/cluster.json" train.toy.flops=1e15 && before=$(ls -A "$dir/board")
"$bin/capstone" --quiet --train toy --board "$dir/board" --out "$dir/killed" --data "$dir/text" --cluster "$dir/cluster.json" --entry "$dir/entry.json" >"$dir/log" 2>&1 &
victim=$!
trains() { child=$(tr -d ' ' <"/proc/$victim/task/$victim/children") && [ -n "$child" ] && compgen -G "$dir/killed/*/metrics.csv" >/dev/null; }
await $victim trains
kill -9 $victim
wait $victim 2>/dev/null
# shellcheck disable=SC2016
await $$ '[ ! -d "/proc/${child:-none}" ]' && [ -n "$child" ] && [ "$before" = "$(ls -A "$dir/board")" ] && ok || bad "killed: child ${child:-none}; $(ls -A "$dir/board"); $(cat "$dir/log")"

# make: names as they are.
cp labs/15-scale/entry.json "$dir/it's mine.json"
make -s capstone ENTRY="$dir/it's mine.json" BOARD="$dir/b o" >"$dir/log" 2>&1 && make -s leaderboard BOARD="$dir/b o" >>"$dir/log" 2>&1 && grep -q '^     1' "$dir/log" && ok || bad "make: $(cat "$dir/log")"
[ ! -e solutions/15-scale/cluster-hidden.json ] || { "$bin/capstone" --forget --cluster solutions/15-scale/cluster-hidden.json --entry labs/15-scale/entry.json >"$dir/log" 2>&1 && ok || bad "hidden: $(cat "$dir/log")"; }
finish capstone
