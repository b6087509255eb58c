#!/usr/bin/env bash
# test_threads.sh -- the threads of a training program: as many as affinity and quota allow. On a machine with other work they
# take at most four times the processor time of threads that sleep at once when they wait; with libgomp's default they
# take ten times as much.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
unset OMP_WAIT_POLICY GOMP_SPINCOUNT OMP_NUM_THREADS
make -s build/release/bin/train_gpt2 || exit 1
datasets/fetch --or-standin shakespeare >"$dir/log" 2>&1 || { cat "$dir/log" && exit 1; }

# train NAME [COMMAND...]: some steps below a command, into a folder of this name.
train() {
    "${@:2}" build/release/bin/train_gpt2 --steps 30 --block 64 --batch 4 --eval-batches 1 --quiet --overwrite \
        --out "$dir/$1" >"$dir/log" 2>&1 || bad "$1: $(cat "$dir/log")"
}
threads() { grep -oE '"threads":\s*[0-9]+' "$dir/$1/run.json" | grep -oE '[0-9]+'; }
has() { # NAME THREADS
    if [ "$(threads "$1")" = "$2" ]; then ok; else bad "$1: $(threads "$1") threads, not $2"; fi
}

train affinity taskset -c "$(taskset -cp $$ | grep -oE '[0-9]+$')"
has affinity 1
train chosen env OMP_NUM_THREADS=3
has chosen 3

# A group with half a processor, where this user may make one.
for cpu in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
    group=$cpu/minitorch-test.$$
    mkdir "$group" 2>/dev/null || continue
    if { echo 50000 >"$group/cpu.cfs_quota_us" || echo '50000 100000' >"$group/cpu.max"; } 2>/dev/null; then
        # shellcheck disable=SC2016
        train quota bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group"
        has quota 1
    fi
    rmdir "$group"
    break
done

# seconds COMMAND...: the processor time of a run.
seconds() {
    local TIMEFORMAT='%U %S'
    { time train busy "$@"; } 2>&1 | awk '{ print $1 + $2 }'
}
others=()
for _ in 1 2 3 4; do
    sh -c 'while :; do :; done' &
    others+=($!)
done
trap 'kill "${others[@]}"; rm -rf "$dir"' EXIT
ours=$(seconds env) asleep=$(seconds env OMP_WAIT_POLICY=passive)
if awk "BEGIN { exit !($ours < 4 * $asleep) }"; then ok; else bad "beside four busy processes: $ours s of processor time, asleep $asleep"; fi
finish test_threads
