#!/usr/bin/env bash
# lost_runs: nothing that a training program has saved is lost by the next run in its folder, by going back to an earlier
# checkpoint, or by a signal that announces the end.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,train_mnist,evaluate,generate,make_digits} >/dev/null || exit 1
export OMP_NUM_THREADS=2
for i in $(seq 300); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
gpt2=("$bin/train_gpt2" --data "$dir/text" --layers 2 --heads 2 --width 16 --block 8 --batch 4 --warmup 5 -q)
gpt2+=(--steps 40 --eval-every 10 --eval-batches 1)
"$bin/make_digits" --out "$dir/digits" --train 400 --test 50 >/dev/null
mnist=("$bin/train_mnist" --data "$dir/digits" --hidden 8 --epochs 3 -q)
said() { grep -qF -- "$1" "$dir/log" && ok || bad "it does not say: $1"; }
steps() { (cd "$1" && echo step-*); }

# A new run in the folder of another is refused, and changes nothing there.
once() { # NAME COMMAND...
    "${@:2}" -o "$dir/$1" >"$dir/log" 2>&1 && ok || bad "$1: a run"
    cp -r "$dir/$1" "$dir/$1.before"
    "${@:2}" -o "$dir/$1" --seed 2 >"$dir/log" 2>&1 && bad "$1: a second run in its folder" || ok
    said "$dir/$1 holds checkpoints of a run (steps "
    said "--resume continues it, --overwrite removes them"
    diff -r "$dir/$1" "$dir/$1.before" && ok || bad "$1: a run that was refused changed files"
    "${@:2}" -o "$dir/$1" --resume --overwrite >"$dir/log" 2>&1 && bad "$1: --resume --overwrite" || said 'leave one of them out'
    diff -r "$dir/$1" "$dir/$1.before" && ok || bad "$1: both flags changed files"
    "${@:2}" -o "$dir/$1" --seed 2 --overwrite >"$dir/log" 2>&1 && ok || bad "$1: --overwrite"
    diff -rq "$dir/$1" "$dir/$1.before" >/dev/null && bad "$1: --overwrite changed nothing" || ok
}
once alone "${gpt2[@]}"
once ranks "${gpt2[@]}" --ranks 2
once stages "${gpt2[@]}" --pp 2
once digits "${mnist[@]}"

# Going back deletes nothing: what lies after the step is moved aside, as a run that can be continued.
"${gpt2[@]}" -o "$dir/back" --keep 0 >"$dir/log" 2>&1 || bad "a run"
cp -r "$dir/back" "$dir/whole"
"${gpt2[@]}" -o "$dir/back" --keep 0 --resume=20 >"$dir/log" 2>&1 && ok || bad "--resume=20"
said "What comes after step 20 was moved to $dir/back/aside-1"
[ "$(steps "$dir/back")" = 'step-10 step-20 step-30 step-40' ] && ok || bad "after going back: $(steps "$dir/back")"
for step in 10 20 30 40; do diff -r "$dir"/{whole,back}/step-$step && ok || bad "step $step"; done
[ "$(steps "$dir/back/aside-1")" = 'step-30 step-40' ] && ok || bad "aside: $(steps "$dir/back/aside-1")"
for file in step-30 step-40 metrics.csv run.json vocab.bpe; do diff -r "$dir"/{whole,back/aside-1}/$file && ok || bad "aside: $file"; done
"${gpt2[@]}" -o "$dir/back/aside-1" --keep 0 --resume=30 >"$dir/log" 2>&1 && diff -r "$dir"/{whole,back/aside-1}/step-40 && ok || bad "the run that is aside"
"${gpt2[@]}" -o "$dir/back" --keep 0 --resume=30 --ranks 2 >"$dir/log" 2>&1 && ok || bad "--resume=30 on two ranks"
[ "$(steps "$dir/back/aside-2")" = step-40 ] && ok || bad "a second time: $(ls "$dir/back")"
"${gpt2[@]}" -o "$dir/back" --keep 0 --resume >"$dir/log" 2>&1 && [ ! -e "$dir/back/aside-3" ] && ok || bad "--resume moved something"
# A damaged newest checkpoint is kept, too.
truncate -s 100 "$dir"/back/step-40/model-00001-of-00001.safetensors
"${gpt2[@]}" -o "$dir/back" --keep 0 --resume >"$dir/log" 2>&1 && [ "$(stat -c %s "$dir"/back/aside-3/step-40/model-00001-of-00001.safetensors)" = 100 ] && ok || bad "a damaged one"

# A signal that announces the end: the run saves, and ends with 128 + its number; a second one changes nothing.
long=("${gpt2[@]}" --steps 1000000 --eval-every 1000000)
signals() { # COMMAND...
    for signal in HUP:129 USR1:138 TERM:143; do
        rm -rf "$dir/signal"
        env --default-signal=HUP "$@" -o "$dir/signal" >"$dir/log" 2>&1 &
        child=$!
        await $child '[ -s "$dir/signal/run.json" ]'
        kill -${signal%:*} $child && kill -${signal%:*} $child 2>/dev/null
        wait $child
        [ $? = ${signal#*:} ] && compgen -G "$dir/signal/step-*/manifest.json" >/dev/null && ok || bad "$signal: $(ls "$dir/signal")"
        grep -q '"status":.*"stopped"' "$dir/signal/run.json" && ok || bad "$signal: run.json"
    done
}
signals "${long[@]}"
signals "${long[@]}" --ranks 2
signals "${mnist[@]}" --epochs 100000
(trap '' HUP; exec "${long[@]}" -o "$dir/nohup") >"$dir/log" 2>&1 &
child=$!
await $child '[ -s "$dir/nohup/run.json" ]'
kill -HUP $child && kill -TERM $child
wait $child
[ $? = 143 ] && ok || bad "nohup: SIGHUP ended it"

# The reader of its output is gone: the run goes on to its end, and says so.
"${gpt2[@]}" -o "$dir/pipe" 2>"$dir/log" | true
[ -e "$dir/pipe/step-40/manifest.json" ] && ok || bad "a closed pipe ended the run"
said 'standard output: '
finish lost_runs
