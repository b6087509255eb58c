#!/usr/bin/env bash
# sweep_killed: a Bayesian sweep over the toy GPT-2 that is killed twice by kill -9 ends like an unbroken one.
#     minitorch/tests/sweep_killed.sh [TRIALS [STEPS]]     30 trials of 30 steps: a minute of processor time
# At a third of the jobs all its processes are killed, those of the jobs first; at two thirds the sweep alone.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
trials=${1:-30} steps=${2:-30} out=$PWD/build/run/sweep-killed
make -s build/release/bin/{sweep,train_gpt2} >/dev/null || exit 1
datasets/fetch --or-standin shakespeare >/dev/null 2>&1 || exit 1
rm -rf "$out"
mkdir -p "$out"
flags=(-q --search bayes --trials "$trials" --steps "$steps" -j 2 --space 'lr=log:1e-4..1e-1,batch=2|4|8,warmup=int:0..10,decay=0..0.3'
    --run 'build/release/bin/train_gpt2 -q --lr {lr} --batch {batch} --warmup {warmup} --weight-decay {decay} --steps {steps} \
--eval-every {steps} --eval-batches 6 -o {dir}')
below() { for child in $(pgrep -P "$1"); do below "$child" && echo "$child"; done; }
rows() { [ -e "$out/parts/sweep.csv" ] && echo $(($(wc -l <"$out/parts/sweep.csv") - 1)) || echo 0; }
begin() { # until $1 jobs have ended
    build/release/bin/sweep "${flags[@]}" -o "$out/parts" "${@:2}" &
    local end=$((SECONDS + 1200))
    while [ "$(rows)" -lt "$1" ] && [ $SECONDS -lt $end ] && kill -0 $! 2>/dev/null; do sleep 0.05; done
}

build/release/bin/sweep "${flags[@]}" -o "$out/whole" | grep ^sweep:
begin $((trials / 3))
kill -9 $(below $!) $! && wait $! 2>/dev/null
echo "killed with its jobs, these first, after $(rows) rows"
begin $((2 * trials / 3)) --resume
kill -9 $! && wait $! 2>/dev/null
echo "killed alone after $(rows) rows"
build/release/bin/sweep "${flags[@]}" -o "$out/parts" --resume | grep -E '^sweep:|before'
left=$(pgrep -fc -- "-o $out/parts/trial")
diff <(sed 's/,[^,]*$//' "$out/whole/sweep.csv") <(sed 's/,[^,]*$//' "$out/parts/sweep.csv") &&
    cmp "$out"/{whole,parts}/sweep.html && [ "$left" -eq 0 ] && echo "sweep_killed: 1 passed, 0 failed" && exit
echo "sweep_killed: 0 passed, 1 failed" && exit 1
