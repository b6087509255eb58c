#!/usr/bin/env bash
# cluster.sh [--dry-run] [--down | --run COMMAND] BUILD -- make cluster: four hosts on this machine, and what runs on them.
#
#   hosts    network namespaces mtn0 .. mtn3 with a host name each, joined by a bridge; every link is limited to RATE in each
#            direction (token buckets; Linux delays packets by netem only, which many kernels lack: there is no delay here)
#   mpirun   bench_mpi over the four hosts: our all-reduces beside Open MPI's own; again on two hosts with two ranks each, whose
#            links they share; train_gpt2, the result that of one rank
#   gloo     PyTorch's all-reduce over the same four hosts, if PyTorch is here (TORCH_ROOT, peer.sh)
#   Slurm    slurmctld and a slurmd on two of the hosts, with a configuration, key and ports of their own; train_gpt2 under srun
#
#   RATE=1gbit LARGEST=67108864 STEPS=50    may be set in the environment
#   --run COMMAND   runs only this command of the shell, on the first host, which submits to the Slurm of two: 'make grade-all ENGINE=slurm ...'
#   --dry-run   shows the commands that change the machine, and needs nothing
#   --down      removes what a killed run has left; every run ends with this, and begins with it
#
# Tables and logs are in build/cluster/. Needs root, and packages that are installed if they are missing (.ci/deps).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. minitorch/bench/peer.sh
rate=${RATE:-1gbit} largest=${LARGEST:-67108864} steps=${STEPS:-50}
hosts=(mtn0 mtn1 mtn2 mtn3) bridge=mtnbr net=10.213.77 out=$PWD/build/cluster
dry=0 failed=0 down_only=0 words= dir=

refuse() { echo "cluster: $*" >&2 && exit 1; }
skip() { failed=1 && echo "cluster: $*" >&2; }
# run COMMAND: unless this is a dry run, which shows it.
run() { if [ $dry -eq 1 ]; then echo "    $*"; else "$@"; fi; }
step() { echo "==> $*"; }

while [[ ${1:-} == -* ]]; do
    case $1 in
    --dry-run) dry=1 ;;
    --down) down_only=1 ;;
    --run) words=$2 && shift ;;
    *) refuse "there is no option $1" ;;
    esac
    shift
done
build=$(realpath -m "${1:-build/release}")
[ -x "$build/bin/bench_mpi" ] || refuse "${1:-build/release} has no programs: run make"

# ---- hosts ---------------------------------------------------------------------------------------------------------

# on HOST COMMAND...: in its network, with its name, and a /dev/shm of its own. A signal that comes while COMMAND runs ends this script at once.
on() {
    run ip netns exec "$1" unshare -u -m sh -c 'hostname "$1" && mount -t tmpfs none /dev/shm && shift && exec "$@"' on "$@" &
    wait $!
}

# limit TC-DEVICE...: what leaves through the device.
limit() {
    run tc "${@:1:$#-1}" qdisc add dev "${!#}" root tbf rate "$rate" burst 64kb latency 50ms 2>"$dir/why" ||
        skip "no limit of the rate: $(head -1 "$dir/why") (the kernel's CONFIG_NET_SCH_TBF)"
}

up() {
    local i
    step "four hosts, $rate each way"
    run ip link add $bridge type bridge 2>"$dir/why" || refuse "no bridge: $(cat "$dir/why") (CONFIG_BRIDGE)"
    run ip link set $bridge up
    for i in "${!hosts[@]}"; do
        run ip netns add "${hosts[i]}" 2>"$dir/why" || refuse "no network namespaces: $(cat "$dir/why") (CONFIG_NET_NS)"
        run ip link add "mtnv$i" type veth peer name lan netns "${hosts[i]}" 2>"$dir/why" ||
            refuse "no virtual cable: $(cat "$dir/why") (CONFIG_VETH)"
        run ip link set "mtnv$i" master $bridge up
        run ip -n "${hosts[i]}" addr add $net.1$i/24 dev lan
        run ip -n "${hosts[i]}" link set lo up
        run ip -n "${hosts[i]}" link set lan up
        run ip -n "${hosts[i]}" route change $net.0/24 dev lan congctl cubic # as most machines have it, whatever this one has
        limit -n "${hosts[i]}" lan
        limit "mtnv$i"
    done
}

down() {
    local i tries
    for i in "${!hosts[@]}"; do
        if [ $dry -eq 0 ] && [ -e "/run/netns/${hosts[i]}" ]; then
            ip netns pids "${hosts[i]}" | xargs -r kill -TERM
            for ((tries = 0; tries < 30; tries++)); do [ -n "$(ip netns pids "${hosts[i]}")" ] && sleep 0.1; done
            ip netns pids "${hosts[i]}" | xargs -r kill -KILL
        fi
        run ip link del "mtnv$i" 2>/dev/null
        run ip netns del "${hosts[i]}" 2>/dev/null
    done
    run ip link del $bridge 2>/dev/null
    [ -z "$dir" ] || rm -rf "$dir"
}

# ---- Open MPI ------------------------------------------------------------------------------------------------------

# mpirun's way to another host is ssh; here it is this.
agent() {
    cat <<'EOF'
#!/bin/sh
host=$1; shift
exec ip netns exec "$host" unshare -u sh -c "hostname $host; $*"
EOF
}

# mpi SECONDS COMMAND...: a rank on each host, or as PLACES says.
mpi() {
    on "${hosts[0]}" timeout -k 5 "$1" mpirun --allow-run-as-root --bind-to none --mca plm_rsh_agent "$dir/agent" \
        --mca btl tcp,self --mca btl_tcp_if_include lan --mca oob_tcp_if_include lan --mca mpi_yield_when_idle 1 \
        -H "${PLACES:-$(IFS=,; echo "${hosts[*]/%/:1}")}" "${@:2}"
}

# ---- gloo ----------------------------------------------------------------------------------------------------------

# A rank on each host, in a run of its own; its GB/s become a column of all_reduce.csv.
gloo() {
    local rank
    for rank in 3 2 1 0; do
        on "${hosts[rank]}" timeout -k 5 900 chrt -r 1 "${root_prefix[@]}" env USE_LIBUV=0 RANK=$rank WORLD_SIZE=4 MASTER_ADDR=$net.10 \
            MASTER_PORT=29500 GLOO_SOCKET_IFNAME=lan "${PYTHON:-/usr/bin/python3}" minitorch/bench/peers/all_reduce_torch.py \
            --largest "$largest" >"$dir/gloo$rank" 2>"$dir/gloo$rank.log" &
    done
    wait $! || skip "gloo: $(tail -1 "$dir/gloo0.log")"
    wait # for the others
    [ -s "$dir/gloo0" ] || return
    [ $dry -eq 0 ] || { cat "$dir/gloo0"; return; }
    awk -F, 'BEGIN { printf "%10s %12s\n", "bytes", "gloo, ms" } { printf "%10d %12.4f\n", $1, $2 }' "$dir/gloo0"
    awk -F, 'NR == FNR { ms[$1] = $2; next } { print $0 "," (FNR == 1 ? "gloo" : sprintf("%.6g", $1 / ms[$1] * 1e-6)) }' \
        "$dir/gloo0" "$out/all_reduce.csv" >"$dir/csv" && cp "$dir/csv" "$out/all_reduce.csv"
}

# ---- training ------------------------------------------------------------------------------------------------------

gpt2=(train_gpt2 --steps "$steps" --eval-every "$steps" --eval-batches 8 --threads 1 -q -o)
result() { grep -oE '^train_gpt2: val_loss=[0-9.]+ steps=[0-9]+' "$1"; }
# same NAME: the result of $out/NAME.log is that of one rank; the last digit may differ, sums have another order.
same() {
    [ $dry -eq 0 ] || return
    local one got
    one=$(result "$out/one.log") got=$(result "$out/$1.log")
    echo "$1: $got; one rank: ${one#train_gpt2: }"
    awk -F'[= ]' -v a="$one" -v b="$got" 'BEGIN { n = split(a, x); m = split(b, y); d = x[3] - y[3];
        exit !(n == 5 && m == 5 && x[5] == y[5] && d < 1.5e-4 && -d < 1.5e-4) }' ||
        skip "$1: not the result of one rank; see $out/$1.log"
}
# train NAME COMMAND...: with COMMAND before the program.
train() {
    step "${gpt2[0]}, $1"
    if [ $dry -eq 1 ]; then "${@:2}" "$build/bin/${gpt2[0]}"; return; fi
    "${@:2}" "$build/bin/${gpt2[0]}" "${gpt2[@]:1}" "$dir/$1" >"$out/$1.log" 2>&1 || tail -3 "$out/$1.log"
}

# ---- Slurm ---------------------------------------------------------------------------------------------------------

configuration() {
    cat <<EOF
ClusterName=minitorch
SlurmctldHost=${hosts[0]}($net.10)
SlurmUser=root
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/ctld
SlurmdSpoolDir=$dir/%n
SlurmctldPidFile=$dir/ctld.pid
SlurmdPidFile=$dir/%n.pid
SlurmctldLogFile=$dir/ctld.log
SlurmdLogFile=$dir/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
ReturnToService=2
SlurmdTimeout=30
NodeName=${hosts[0]} NodeAddr=$net.10 CPUs=1
NodeName=${hosts[1]} NodeAddr=$net.11 CPUs=1
PartitionName=all Nodes=ALL Default=YES State=UP
EOF
}

slurm() {
    local tries i
    step "Slurm, two nodes"
    if [ $dry -eq 1 ]; then configuration; else
        mkdir -p "$dir"/munge "$dir"/ctld "$dir"/{mtn0,mtn1} && configuration >"$dir/slurm.conf"
        echo PMIxCliTmpDirBase=/dev/shm >"$dir/mpi.conf" # each node's own, see `on`
        echo CgroupPlugin=cgroup/v1 >"$dir/cgroup.conf" # which is not used, but looked for
        head -c 64 /dev/urandom >"$dir/munge/key" && chmod 400 "$dir/munge/key" && chown -R munge "$dir/munge"
    fi
    export SLURM_CONF=$dir/slurm.conf
    on "${hosts[0]}" runuser -u munge -- munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
        --pid-file="$dir/munge/pid" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" 2>"$dir/munged.log" || return
    on "${hosts[0]}" slurmctld || return
    for i in 0 1; do on "${hosts[i]}" taskset -c $((i % $(nproc))) slurmd -N "${hosts[i]}" || return; done # CPUs=1
    [ $dry -eq 0 ] || return 0
    for ((tries = 0; tries < 100; tries++)); do
        [ "$(on "${hosts[0]}" sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && break
        sleep 0.2
    done
    on "${hosts[0]}" sinfo
    [ $tries -lt 100 ]
}

srun_on() {
    on "${hosts[0]}" env OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lan timeout -k 5 "$1" \
        srun --mpi=pmix -N 2 -n 2 --kill-on-bad-exit=1 "${@:2}"
}

# ---- all of it -----------------------------------------------------------------------------------------------------

if [ $dry -eq 0 ]; then
    [ "$(id -u)" -eq 0 ] || refuse "hosts are network namespaces, which only root can make: sudo make cluster"
    exec 9>/run/minitorch-cluster.lock
    flock -n 9 || refuse "another make cluster is running on this machine"
    down
    [ $down_only -eq 0 ] || exit 0
    mkdir -p "$out"
    .ci/deps iproute2 openmpi-bin libopenmpi-dev || exit 1
    datasets/fetch --or-standin shakespeare >"$out/fetch.log" 2>&1 || refuse "no text: $(tail -1 "$out/fetch.log")"
    [[ $(ldd "$build/bin/train_gpt2") == *libmpi* ]] || refuse "$build was built without MPI: run make again"
    trap down EXIT
    trap 'exit 130' INT TERM HUP
fi
dir=$(mktemp -d /tmp/minitorch-cluster.XXXXXX)
[ $dry -eq 0 ] || trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir OMP_WAIT_POLICY=passive # Open MPI's files, too
chmod 755 "$dir" && agent >"$dir/agent" && chmod +x "$dir/agent"

up
if [ -n "$words" ]; then
    [ $dry -eq 1 ] || .ci/deps slurm-wlm munge || exit 1
    slurm && on "${hosts[0]}" bash -c "$words"
    exit
fi
step "all-reduces" # at real-time priority: all hosts share this machine's processors
mpi 900 chrt -r 1 "$build/bin/bench_mpi" --largest "$largest" --csv "$out/all_reduce.csv" --svg "$out/all_reduce.svg" ||
    skip "bench_mpi has not ended well"
step "all-reduces, two hosts of two ranks"
PLACES=mtn0:2,mtn1:2 mpi 900 chrt -r 1 "$build/bin/bench_mpi" --largest "$largest" --node 2 ||
    skip "bench_mpi --node 2 has not ended well"
if name=$(peer_name); then step "all-reduces of gloo, $name" && gloo; else echo "no gloo: PyTorch is not here, see minitorch/bench/peer.sh"; fi
train one run
train mpirun mpi 600
same mpirun
if [ $dry -eq 1 ] || .ci/deps slurm-wlm munge; then
    if slurm; then train srun srun_on 600 && same srun; else
        skip "Slurm has not begun: $(cat "$dir"/*.log "$dir/munge/log" 2>/dev/null | grep -iE 'error|fatal' | head -3)"
    fi
else
    skip "no Slurm: its packages are not here"
fi
if [ $dry -eq 1 ]; then echo "cluster: nothing was changed"; elif [ $failed -eq 0 ]; then echo "cluster: PASS"; else echo "cluster: FAIL"; fi
exit $failed
