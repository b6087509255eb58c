#!/usr/bin/env bash
# Ranks with a GPU each (dist/nccl.h), in the emulator: values of all collectives and messages; a missing mt_wait shows; a rank
# that is killed, is stopped, leaves or calls something else ends all ranks, with words; training gives one rank's losses.
set -uo pipefail
bin=$(cd "$(dirname "$0")/../.." && pwd)/build/release/bin
make -s -C "$bin/../../.." build/release/bin/{check_nccl,train_gpt2} >/dev/null || exit 1
dir=$(mktemp -d) passed=0 failed=0 deadline=1
trap 'rm -rf "$dir"' EXIT
export OMP_WAIT_POLICY=passive CUEMU_THREADS=1
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)) && echo "FAIL $*: $(grep -m1 . "$dir/log")"; }
said() { grep -qE -- "$*" "$dir/log" && ok || bad "not \"$*\""; }
finish() { echo "nccl: $passed passed, $failed failed" && exit $((failed > 0)); }

if ! grep -q emu "$bin/../cuda-choice"; then # off, or GPUs: how many there are is not known here
    "$bin/train_gpt2" --device cuda --ranks 2 --plan >"$dir/log" 2>&1 && ok || said 'NCCL|no cuda device|mpirun|GPUs'
    echo "no emulator in this build: its NCCL is not tested" && finish
fi
if [[ $(ldd "$bin/check_nccl") != *libmpi* ]]; then
    "$bin/check_nccl" >"$dir/log" 2>&1 && bad "ran without MPI" || said 'install the packages libopenmpi-dev and openmpi-bin'
    echo "Open MPI is not installed: ranks with a GPU each are not tested" && finish
fi
mpirun=(mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca odls_base_sigkill_timeout 0 -n)
ranks() { timeout -k 5 100 "${mpirun[@]}" "$@" >"$dir/log" 2>&1; }
shared() { find /dev/shm -type f ! -name 'bxfi_*' 2>/dev/null | sort; } # not Criterion's, whose tests run beside this one
shared >"$dir/before"

for n in 1 2 3; do
    ranks $n "$bin/check_nccl" && [ "$(grep -c ': all values are right$' "$dir/log")" -eq $n ] && ok || bad "$n ranks"
done
ranks 2 "$bin/check_nccl" --fault unwaited
[ "$(grep -c 'read 1 without waiting, 2 after it$' "$dir/log")" -eq 2 ] && ok || bad "a result that nobody waited for"
said 'cudaMemcpyAsync reads what ncclAllReduce .* is still to write'

# Traced: no two streams use the same memory without waiting for each other.
traced=$(dirname "$bin")/tests-traced/check_nccl
make -s -C "$bin/../../.." build/release/tests-traced/check_nccl >"$dir/log" 2>&1 || bad "no traced program"
ranks 2 "$traced" && [ "$(grep -c ': all values are right$' "$dir/log")" -eq 2 ] && ok || bad "traced"
ranks 2 "$traced" --fault none && ok || bad "traced, sums after a fill"

# fault NAME WORDS: every rank ends, and what was said; mpirun itself is ended 2 s later (see test_mpi.sh).
ranks_run() { grep -qv '^Z' <(ps -o stat= --ppid $job); }
fault() {
    local tries=0 seen=0
    "${mpirun[@]}" 3 "$bin/check_nccl" --fault "$1" --deadline $deadline >"$dir/log" 2>&1 &
    local job=$!
    while kill -0 $job 2>/dev/null && [ $((tries += 1)) -lt 200 ]; do
        if ranks_run; then seen=1; elif [ $seen -eq 1 ]; then break; fi
        sleep 0.1
    done
    ranks_run && bad "$1: a rank has not ended" || ok
    for ((tries = 0; tries < 20; tries++)); do kill -0 $job 2>/dev/null || break; sleep 0.1; done
    kill -KILL $job 2>/dev/null
    wait $job 2>/dev/null && bad "$1: status 0" || ok
    said "$2"
}
fault kill 'rank 1 .*signal 9|rank 1 has ended'
fault stop 'rank [02]: all_reduce of 8 f32 \(call 3\): .*rank 1 (has not called it|did not take part) within 1 s'
fault leave 'rank [02]: all_reduce of 8 f32 \(call 3\): .*rank 1 has (destroyed|aborted) its communicator'
fault count 'rank 1(, | calls )ncclAllReduce of 7 f32, sum \(call 4\)'
fault kind 'rank 1(, | calls )ncclBroadcast of 8 f32 from 0 \(call 4\)'
fault size 'rank 1(, | calls )ncclSend of 28 u8 to 0 \(call 4\)'

# Training: one device's losses, up to the order of the sums; ranks.bash explains the bound.
for i in $(seq 400); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
flags=(--device cuda --data "$dir/text" --layers 1 --heads 2 --width 16 --block 8 --batch 4 --warmup 2 --eval-batches 2 --steps 6 -q)
run() { timeout -k 5 100 "$bin/train_gpt2" "${flags[@]}" "${@:2}" -o "$dir/$1" >"$dir/log" 2>&1 && ok || bad "$*"; }
drift() { paste -d, "$dir/$1/metrics.csv" "$dir/$2/metrics.csv" | awk -F, 'function far(a) { return a < 0 ? -a : a }
    NR > 1 { d = $1 == $7 ? far($2 - $8) : 1e6; e = far($3 - $9); m = d > m ? d : m; m = e > m ? e : m }
    END { printf "%.0f", NR == 3 ? 1e6 * m : 1e12 }'; }
flags+=(--eval-every 3 --micro-batches 2)
run one
run more --lr 2.0000019e-3
run less --lr 1.9999981e-3
moved=$(printf '%s\n' "$(drift one more)" "$(drift one less)" | sort -n | tail -1)
run two --ranks 2 --bucket 4kB && said '^Data parallel: 2 ranks \(nccl\), buckets of 0.004 MB'
got=$(drift one two)
[ "$got" -le $((4 * moved + 2)) ] && ok || bad "$got millionths from one rank, the bound is $((4 * moved + 2))"
first=$(sed -n 2p "$dir/one/metrics.csv" | cut -d, -f2) last=$(tail -1 "$dir/one/metrics.csv" | cut -d, -f2)
awk "BEGIN { exit !($last < $first - 0.05) }" && ok || bad "it does not learn: $first, $last"
run part --ranks 2 --save-every 3 --keep 0 && rm -r "$dir/part/step-6" && run part --resume --save-every 3 --keep 0 && [ "$(drift one part)" -le $((4 * moved + 2)) ] &&
    ok || bad "saved by two ranks, continued by one"

# refused WORDS FLAG...
refused() { "$bin/train_gpt2" "${flags[@]}" -o "$dir/none" "${@:2}" >"$dir/log" 2>&1 && bad "ran with ${*:2}" || said "$1"; }
refused '--zero 0 and --compress none with a GPU' --ranks 2 --zero 1
refused '--zero 0 and --compress none with a GPU' --ranks 2 --compress 1bit
refused '--engine nccl connects ranks with a GPU each' --ranks 2 --engine threads
refused '--engine nccl connects ranks with a GPU each' --ranks 2 --device cpu --engine nccl

# A rank that is killed, or stops, ends the others.
hurt() { # SIGNAL WORDS
    local tries
    "$bin/train_gpt2" "${flags[@]}" --steps 100000 --ranks 2 --deadline 2 -o "$dir/$1" >"$dir/log" 2>&1 &
    local job=$!
    for ((tries = 0; tries < 300; tries++)); do [ -e "$dir/$1/metrics.csv" ] && [ "$(wc -l <"$dir/$1/metrics.csv")" -ge 2 ] && break; sleep 0.1; done
    kill -"$1" "$(pgrep -P $job | tail -1)"
    for ((tries = 0; tries < 150; tries++)); do grep -qv '^Z' <(ps -o stat= --ppid $job) || break; sleep 0.1; done
    grep -qv '^Z' <(ps -o stat= --ppid $job) && bad "$1: a rank has not ended" || ok
    sleep 0.5
    kill -KILL $job 2>/dev/null
    wait $job 2>/dev/null && bad "$1: status 0" || ok
    said "$2"
}
hurt KILL 'rank [01] .*signal 9|rank [01] has ended'
hurt STOP 'rank [01].*: rank [01] (did not take part|has not called it) within 2 s'
shared | diff "$dir/before" - >"$dir/log" && ok || bad "left in /dev/shm"
finish
