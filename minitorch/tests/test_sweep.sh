#!/usr/bin/env bash
# apps/sweep: killed by kill -9 and resumed it ends like an unbroken one, repeats nothing, and leaves no job behind; bad input.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{sweep,train_gpt2} >/dev/null || exit 1
sweep() { timeout 60 "$bin/sweep" -q "$@" >"$dir/log" 2>&1; }
rows() { sed 's/,[^,]*$//' "$1/sweep.csv"; } # without the seconds

cat >"$dir/trial" <<END
#!/bin/sh
echo "\$1 \$2 \$3" >>"$dir/ran"
sleep 0.0\$3
awk -v x="\$1" -v s="\$2" 'BEGIN { printf "step,val_loss\n%d,%.9f\n", s, (x - 0.3) ^ 2 + 1 / s }' >"\$4/metrics.csv"
END
chmod +x "$dir/trial"
flags=(--run "$dir/trial {x} {steps} {b} {dir}" --space 'x=0..1,b=1|9' --trials 12 --steps 9 --asha 3 -j 3)
sweep "${flags[@]}" -o "$dir/whole" && ok || bad "whole"
[ "$(grep -c '<tr' "$dir/whole/sweep.html")" -eq "$(wc -l <"$dir/whole/sweep.csv")" ] && ok || bad "page"
jobs=$(sort "$dir/ran" | uniq -c | wc -l)

: >"$dir/ran"
"$bin/sweep" -q "${flags[@]}" -o "$dir/parts" >"$dir/log" 2>&1 &
await $! '[ "$(cat "$dir/parts/sweep.csv" 2>/dev/null | wc -l)" -ge 6 ]'
kill -9 $! && wait $! 2>/dev/null
cp "$dir/parts/sweep.csv" "$dir/kept"
printf '99,torn' >>"$dir/parts/sweep.csv"
sweep "${flags[@]}" -o "$dir/parts" && bad "without --resume" || ok
sweep "${flags[@]}" -o "$dir/parts" --resume --seed 2 && bad "another seed" || ok
sweep "${flags[@]}" -o "$dir/parts" --resume && ok || bad "resume"
diff <(rows "$dir/whole") <(rows "$dir/parts") >"$dir/log" && ok || bad "another end"
# Only jobs that ran when it was killed may have begun twice.
[ "$(wc -l <"$dir/ran")" -le $((jobs + 3)) ] && [ "$(sort "$dir/ran" | uniq | wc -l)" -eq "$jobs" ] && ok || bad "jobs repeated"

# No job outlives a sweep that is killed.
"$bin/sweep" -q --run 'sleep 77 & echo $! >{dir}/pid; wait; echo {x}' --space 'x=1|2' -o "$dir/orphans" >"$dir/log" 2>&1 &
await $! '[ -s "$dir/orphans/trial-0-rung-0/pid" ]'
pid=$(cat "$dir/orphans/trial-0-rung-0/pid")
kill -9 $! && wait $! 2>/dev/null
# shellcheck disable=SC2016
await $$ '[ ! -d "/proc/$pid" ] || grep -q "^State:.Z" "/proc/$pid/status"' && ok

# If a job is killed, and then the sweep, no row says that the job failed; nor if the job died of kill -TERM.
for signal in KILL TERM; do
    "$bin/sweep" -q --run 'echo $$ >{dir}/pid; sleep 77; : {x}' --space 'x=1|2' -o "$dir/$signal" >"$dir/log" 2>&1 &
    await $! '[ -s "$dir/$signal/trial-0-rung-0/pid" ]'
    kill -$signal "$(cat "$dir/$signal/trial-0-rung-0/pid")" && sleep 0.1 && kill -$signal $! && wait $! 2>/dev/null
    [ "$(wc -l <"$dir/$signal/sweep.csv")" -eq 1 ] && ok || bad "a row of a job that was killed with SIG$signal"
done

# A full disk: jobs that fail for it have no row, and run again when there is room.
full() {
    mount -t tmpfs -o size=400k none "$dir/disk" || exit 9
    run=(--run 'head -c 100000 /dev/zero >{dir}/big && echo val_loss={x}' --space 'x=0..1' --trials 5 -o "$dir/disk/o")
    "$bin/sweep" -q "${run[@]}" >"$dir/log" 2>&1 && exit 1
    grep -q 'no space left .* make room, --resume continues' "$dir/log" && ! grep -q failed "$dir/disk/o/sweep.csv" || exit 1
    rm -r "$dir"/disk/o/trial-[01]*
    "$bin/sweep" -q "${run[@]}" --resume >"$dir/log" 2>&1 && grep -q '5 jobs of 5 trials, 0 failed' "$dir/log"
}
export -f full
export dir bin
mkdir "$dir/disk"
if unshare -Urm true 2>/dev/null; then unshare -Urm bash -c full && ok || bad "a full disk"; else echo "skipped: a full disk, since nothing can be mounted here"; fi

# Values as large as they can be; a table that somebody changed.
huge=(--run 'test {trial} -gt 5 && echo val_loss={x} || echo val_loss=1e308' --space 'x=0..1' --search bayes --trials 9 -o "$dir/huge")
sweep "${huge[@]}" && grep -q '9 jobs of 9 trials, 0 failed' "$dir/log" && ok || bad "huge values"
grep -q '^Best: <b>val_loss 0.[0-9]*</b> with x=0.' <<<"$(grep -o 'Best: .*' "$dir/huge/sweep.html")" && ok || bad "the page's best"
for value in nan inf 1e999 -1e999; do
    sed -i "3s/[^,]*,done/$value,done/" "$dir/huge/sweep.csv"
    sweep "${huge[@]}" --resume && bad "a value of $value" || grep -q 'belongs to another sweep' "$dir/log" && ok || bad "a value of $value, said"
done

# A loss that is not finite ends a job at once; all jobs failing ends with the log of one.
sweep --run 'printf "step,val_loss\n1,nan\n" >{dir}/metrics.csv; echo says so; sleep {x}' --space 'x=60|61' -o "$dir/nan" && bad "nan" || ok
grep -q diverged "$dir/nan/sweep.csv" && grep -q '| says so' "$dir/log" && grep -q 'jobs failed.*a value was not finite' "$dir/log" && ok || bad "nan said"
sweep --run 'no_such_command {x}' --space 'x=1|2' -o "$dir/none" && bad "no such command" || grep -q '| .*no_such_command: not found' "$dir/log" && ok || bad "no such command, said"
sweep --run 'echo {x}; exit 3' --space 'x=1|2' -o "$dir/three" && bad "exit status 3" || ok
sweep --run 'echo {y}' --space 'x=1|2' -o "$dir/bad" && bad "unknown placeholder" || ok
grep -qF '{y} is neither' "$dir/log" && ok || bad "said"

for i in $(seq 200); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
sweep --run "$bin/train_gpt2 --data $dir/text --layers 1 --heads 2 --width 16 --block 8 --batch 4 -q --warmup 2 \
    --eval-every 20 --eval-batches 4 --lr {lr} --steps {steps} -o {dir}" --space lr=log:1e-5..1e-1 --trials 4 --steps 40 -o "$dir/gpt2" && ok || bad "gpt2"
grep -qE '^sweep: val_loss=[0-9.]+ trial=[0-3] steps=40 lr=' "$dir/log" && ok || bad "gpt2 said"
finish sweep
