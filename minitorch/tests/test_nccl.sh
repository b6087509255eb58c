#!/usr/bin/env bash
# Ranks with a GPU each (dist/nccl.h), in the emulator: values of all collectives and messages; a missing mt_wait shows; a rank
# that is killed, is stopped, leaves or calls something else ends all ranks, with words; every strategy has one rank's losses.
. "$(dirname "$0")/ranks.bash"
export CUEMU_THREADS=1
deadline=1
if ! grep -q emu "$bin/../cuda-choice"; then # off, or GPUs: how many there are is not known here
    "$bin/train_gpt2" --device cuda --ranks 2 -o "$dir/none" --steps 1 >"$dir/log" 2>&1 && ok || said 'NCCL|no cuda device|mpirun|GPUs|built'
    echo "no emulator in this build: its NCCL is not tested" && finish nccl
fi
each_rank check_nccl ': all values are right'
"$bin/check_nccl" >"$dir/log" 2>&1 && said 'rank 0 of 1: all values are right' || bad "one rank, without MPI"
ranks 2 "$bin/check_nccl" --fault unwaited
[ "$(grep -c 'read 1 without waiting, 2 after it$' "$dir/log")" -eq 2 ] && ok || bad "a result that nobody waited for"
said 'cudaMemcpyAsync reads what ncclAllReduce .* is still to write'

# Traced: no two streams use the same memory without waiting for each other.
traced=$(dirname "$bin")/tests-traced/check_nccl
make -s -C "$root" build/release/tests-traced/check_nccl >"$dir/log" 2>&1 || bad "no traced program"
ranks 2 "$traced" && [ "$(grep -c ': all values are right$' "$dir/log")" -eq 2 ] && ok || bad "traced"
ranks 2 "$traced" --fault none && ok || bad "traced, sums after a fill"

fault check_nccl kill 'rank 1 .*signal 9|rank 1 has (ended|not called)'
fault check_nccl stop 'rank [02]: all_reduce of 8 f32 \(call 3\): .*rank 1 (has not called it|did not take part) within [18] s'
fault check_nccl leave 'rank [02]: all_reduce of 8 f32 \(call 3\): .*rank 1 has (destroyed|aborted) its communicator'
fault check_nccl count 'rank 1(, | calls )ncclAllReduce of 7 f32, sum \(call 4\)'
fault check_nccl kind 'rank 1(, | calls )ncclBroadcast of 8 f32 from 0 \(call 4\)'
fault check_nccl size 'rank 1(, | calls )ncclSend of 28 u8 to 0 \(call 4\)'

# Training: one device's losses, up to the order of the sums (other strategies: make rank-losses ENGINES=nccl).
flags=(--device cuda --data "$dir/text" --layers 2 --heads 2 --width 16 --block 8 --batch 4 --warmup 2 --eval-batches 1 --steps 4
    --eval-every 2 --micro-batches 2 --deadline 30 -q)
rows=2
one_rank
run two --ranks 2 --bucket 4kB && near two && run two --ranks 2 --bucket 4kB --plan && said '^Data parallel: 2 ranks \(nccl\), buckets of 0.004 MB'
first=$(sed -n 3p "$dir/one/metrics.csv" | cut -d, -f2) last=$(tail -1 "$dir/one/metrics.csv" | cut -d, -f2)
awk "BEGIN { exit !($last < $first - 0.02) }" && ok || bad "it does not learn: $first, $last"
run zero2 --ranks 2 --zero 2 --bucket 2kB && near zero2
run tp2 --tp 2 && near tp2
run sp2 --tp 2 --sp && near sp2 && run mesh --dp 2 --tp 2 --sp --zero 1 && near mesh && run stages --pp 2 --tp 2 --sp && near stages
python3 -c 'import json, sys
took = json.load(open(sys.argv[1]))["ranks"]   # a whole token table on each rank; without it 0.93
assert len(took) == 2 and all(0.97 < r["planned_peak"] / r["peak"] <= 1.03 for r in took), took' "$dir/tp2/run.json" >"$dir/log" 2>&1 && ok || bad "memory of tp2"
run dp2pp2 --dp 2 --pp 2 --pp-schedule interleaved:1 && near dp2pp2
run topk --ranks 2 --compress topk && run cpu --device cpu --ranks 2 --compress topk
within "$(drift topk cpu)" "$(bounds)" && ok || bad "topk: $(drift topk cpu) millionths from the CPU, the bounds are $(bounds)"

# Saved by two ranks, continued by two of another kind, and then by one.
saved=(--save-every 2 --keep 0)
run part --pp 2 "${saved[@]}" && rm -r "$dir/part/step-4" && run part --ranks 2 --zero 3 "${saved[@]}" --resume && near part
rm -r "$dir/part/step-4" && run part "${saved[@]}" --resume && near part

refused '--engine nccl connects ranks with a GPU each' --ranks 2 --engine threads
refused '--engine nccl connects ranks with a GPU each' --ranks 2 --device cpu --engine nccl
refused '2 heads cannot be divided equally among 4 ranks' --tp 4

# At one of its messages a rank is killed, stops, or sends less (more of them: make rank-faults).
deadline=3
broken 1:50:kill --pp 2
broken 0:47:stop --ranks 2
broken 1:45:short --tp 2
broken 1:70:stop --ranks 2 --zero 3
nothing_left
finish nccl
