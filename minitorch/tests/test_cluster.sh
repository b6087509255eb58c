#!/usr/bin/env bash
# make cluster: what it would do, and what it refuses, in words. The hosts themselves are tested by running it, as root.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
said() { grep -qE -- "$*" "$dir/log" && ok || bad "not \"$*\""; }
count() { [ "$(grep -cE -- "$2" "$dir/log")" -eq "$1" ] && ok || bad "not $1 times \"$2\""; }
mine() { find /tmp /run/netns /sys/class/net -maxdepth 1 \( -name "minitorch-cluster.*" -o -name "mtn*" \) 2>/dev/null | sort; true; }

mine >"$dir/before"
RATE=200mbit minitorch/bench/cluster.sh --dry-run build/release >"$dir/log" 2>&1 && ok || bad "a dry run"
count 4 '^    ip netns add mtn[0-3]$'
count 4 '^    tc -n mtn[0-3] qdisc add dev lan root tbf rate 200mbit '
count 4 '^    tc qdisc add dev mtnv[0-3] root tbf rate 200mbit '
said 'mpirun .* -H mtn0:1,mtn1:1,mtn2:1,mtn3:1 .*bench_mpi'
said 'mpirun .* -H mtn0:2,mtn1:2 .*bench_mpi .*--node 2$'
said 'mpirun .*/bin/train_gpt2$'
count 2 '^NodeName=mtn[01] NodeAddr=10\.213\.77\.1[01] '
count 2 ' slurmd -N mtn[01]$'
said 'srun --mpi=pmix -N 2 -n 2 .*/bin/train_gpt2$'
said 'cluster: nothing was changed'
minitorch/bench/cluster.sh --dry-run --run 'make grade-all ENGINE=slurm' build/release >"$dir/log" 2>&1 && ok || bad "a dry run of a command"
said '^    ip netns exec mtn0 .* bash -c make grade-all ENGINE=slurm$'
count 2 ' slurmd -N mtn[01]$'
count 0 bench_mpi
TORCH_ROOT='' PYTHON=true minitorch/bench/cluster.sh --dry-run build/release >"$dir/log" 2>&1 && ok || bad "a dry run with PyTorch"
said '^    ip netns exec mtn0 .* RANK=0 WORLD_SIZE=4 MASTER_ADDR=10\.213\.77\.10 .*all_reduce_torch\.py'
TORCH_ROOT='' PYTHON=false minitorch/bench/cluster.sh --dry-run build/release >"$dir/log" 2>&1 && said '^no gloo: PyTorch is not here' || bad "a dry run without PyTorch"

if [ "$(id -u)" -eq 0 ]; then nobody=(setpriv --reuid 65534 --clear-groups); else nobody=(); fi
if "${nobody[@]}" test -x "$root/minitorch/bench/cluster.sh" -a -x "$bin/bench_mpi"; then
    "${nobody[@]}" minitorch/bench/cluster.sh build/release >"$dir/log" 2>&1 && bad "ran without root" ||
        said 'only root can make: sudo make cluster'
fi # else the folder is closed to other users
minitorch/bench/cluster.sh --tea >"$dir/log" 2>&1 && bad "knows --tea" || said 'there is no option --tea'
minitorch/bench/cluster.sh --dry-run build/none >"$dir/log" 2>&1 && bad "knows build/none" || said 'build/none has no programs: run make'
mine | diff "$dir/before" - >"$dir/log" && ok || bad "left behind"
finish cluster
