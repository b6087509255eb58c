#!/usr/bin/env bash
# Ranks that are processes (dist/mpi.h): collectives give the bits of those between threads; a rank that is killed, is stopped,
# or calls something else ends all ranks within a minute (the deadline is $deadline s), with words; and nothing stays in /dev/shm.
. "$(dirname "$0")/ranks.bash"
deadline=1
each_rank check_mpi ' bytes as with threads'

fault check_mpi kill 'rank 1 .*signal 9|(receive from|send to) rank [12]: rank [12] did not take part' # mpirun, or a rank before it
fault check_mpi stop 'all_reduce: (receive from|send to) rank [12]: rank [12] did not take part within [18] s' # rank 2 waits for 1, rank 0 for 2
fault check_mpi late 'rank [02]: the end \(MPI_Finalize\): another rank did not take part within [18] s'
# Ranks 1 and 2 both see that rank 1's length differs; what is printed is of the one that ends first.
fault check_mpi count 'rank 2 calls all_reduce of 8 f32 \(call 3\), root 0, and rank 1 calls all_reduce of 7 f32|rank 1 calls all_reduce of 7 f32 \(call 3\), root 0, and rank 0 calls all_reduce of 8 f32'
fault check_mpi count 'rank [0-2] (expects|did not)' --unchecked
fault check_mpi size 'rank 0 expects 32 bytes, and rank 1 sends 28'

# Training: the losses and the weights of two ranks that are threads (those of one rank: test_train_ranks.sh), whoever starts them.
flags=(--data "$dir/text" --layers 1 --heads 2 --width 16 --block 16 --batch 4 --warmup 5 --steps 20 --eval-every 10
    --eval-batches 2 --save-every 20 -q)
same() {
    cut -d, -f1-4,6 "$dir/$1/metrics.csv" | cmp -s - <(cut -d, -f1-4,6 "$dir/threads/metrics.csv") &&
        cmp -s "$dir"/{$1,threads}/step-20/manifest.json && ok || bad "$1: other losses or weights"
}
run threads --ranks 2
ranks 2 "$bin/train_gpt2" "${flags[@]}" -o "$dir/mpirun" && same mpirun
[ "$(grep -c '^train_gpt2: val_loss' "$dir/log")" -eq 1 ] && said '2 ranks \(mpi\)' || bad "not one result"
run own --ranks 2 --engine mpi --zero 2
cut -d, -f2 "$dir/own/metrics.csv" | cmp -s - <(cut -d, -f2 "$dir/threads/metrics.csv") && ok || bad "ZeRO: other losses"

# A report of memory is that of rank 0's process: its parameters once, and the peak that the table of all ranks has.
run report --ranks 2 --engine mpi --memory-report
awk '/^ +0 / { table = $3 } /^memory on cpu: at most/ { reports++; off = $6 - table } /^  parameters .*%$/ { whole = $2 }
    END { exit !(reports == 1 && whole == 0.018 && table > 0 && off * off < 4e-5) }' "$dir/log" && ok || bad "not rank 0's memory"
"$bin/memory" "$dir/report" >"$dir/log" 2>&1 && said '^memory on cpu: at most' || bad "memory.bin: $(tail -1 "$dir/log")"

# What is wrong is said before there are ranks, once; and what only ranks can know, by one of them.
once() { refused "$@" && [ "$(grep -c '^train_gpt2: ' "$dir/log")" -eq 1 ] && ! grep -q mpirun "$dir/log" && ok || bad "said by ranks, too: ${*:2}"; }
once '2 heads cannot be divided equally among 3 ranks' --engine mpi --tp 3
once '2 stages for 1 layers: each stage needs one' --engine mpi --pp 2
once 'groups of 2 micro-batches, one a stage, and 3 are not a multiple' --engine mpi --pp 2 --layers 4 --micro-batches 3 --pp-schedule interleaved
once '--dp 1 x --pp 2 x --tp 1 are not 3 ranks, but 2' --engine mpi --ranks 3 --pp 2
once '--ranks 8: a micro-batch of 4 cannot be divided equally' --engine mpi --ranks 8
ranks 2 "$bin/train_gpt2" "${flags[@]}" --ranks 3 -o "$dir/none" && bad "ran 3 of 2" || said '--ranks 3: mpirun started 2'
ranks 2 "$bin/train_gpt2" "${flags[@]}" --dp 2 --tp 2 -o "$dir/none" && bad "ran 4 of 2" || said '--dp 2 x --pp 1 x --tp 2 are not 2 ranks, but 4'
two=("$bin/train_gpt2" "${flags[@]}" -o "$dir/none")
# Each rank chooses by its number: mpirun of Debian 13 crashes where ":" divides two programs (github.com/open-mpi/ompi/issues/13303).
ranks 2 bash -c 'exec "$@" --lr "1e-$OMPI_COMM_WORLD_RANK"' sh "${two[@]}" && bad "another rate on one rank" ||
    said 'rank 1 was started with other flags than rank 0'
cp "$bin/train_gpt2" "$dir/program0" && cp "$bin/train_gpt2" "$dir/program1" && printf x >>"$dir/program1"
ranks 2 bash -c 'exec "$0$OMPI_COMM_WORLD_RANK" "$@"' "$dir/program" "${two[@]:1}" && bad "another program on one rank" ||
    said 'rank 1 runs another program than rank 0'

# At one of its messages a rank is killed, stops, or sends less (more of them: make rank-faults).
deadline=3
flags+=(--layers 2 --steps 3 --save-every 3 --engine mpi)
broken 1:50:kill --ranks 2
broken 0:77:stop --ranks 2 --zero 3
broken 1:120:short --tp 2
broken 1:90:stop --pp 2
nothing_left
finish mpi
