#!/usr/bin/env bash
# Ranks that are processes (dist/mpi.h): collectives give the bits of those between threads; a rank that is killed, is stopped,
# or calls something else ends all ranks within about 15 s (the deadline is $deadline), with words; and nothing stays in /dev/shm.
set -uo pipefail
bin=$(cd "$(dirname "$0")/../.." && pwd)/build/release/bin
make -s -C "$bin/../../.." build/release/bin/{check_mpi,train_gpt2} >/dev/null || exit 1
dir=$(mktemp -d) passed=0 failed=0 deadline=1
trap 'rm -rf "$dir"' EXIT
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)) && echo "FAIL $*: $(grep -m1 . "$dir/log")"; }
said() { grep -qE -- "$*" "$dir/log" && ok || bad "not \"$*\""; }
finish() { echo "mpi: $passed passed, $failed failed" && exit $((failed > 0)); }

if [[ $(ldd "$bin/check_mpi") != *libmpi* ]]; then
    "$bin/check_mpi" >"$dir/log" 2>&1 && bad "ran without MPI" || said 'install the packages libopenmpi-dev and openmpi-bin'
    echo "Open MPI is not installed: its engine is not tested" && finish
fi
mpirun=(mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca odls_base_sigkill_timeout 0 -n)
ranks() { timeout -k 5 40 "${mpirun[@]}" "$@" >"$dir/log" 2>&1; }
segments() { find /dev/shm -name 'vader_segment.*' 2>/dev/null | sort; }
segments >"$dir/before"

for n in 1 2 3; do
    ranks $n "$bin/check_mpi" && [ "$(grep -c ' bytes as with threads$' "$dir/log")" -eq $n ] && ok || bad "$n ranks"
done

# fault NAME WORDS [FLAG...]: every rank ends, and what was said. mpirun of Open MPI 4.1.4 itself now and then does not end, or
# crashes, once it has ended all ranks: so it is killed after 2 s, and its status only shows that the job did not succeed.
ranks_run() { grep -qv '^Z' <(ps -o stat= --ppid $job); }
fault() {
    local tries=0 seen=0
    "${mpirun[@]}" 3 "$bin/check_mpi" --fault "$1" --deadline $deadline "${@:3}" >"$dir/log" 2>&1 &
    local job=$!
    while kill -0 $job 2>/dev/null && [ $((tries += 1)) -lt 150 ]; do
        if ranks_run; then seen=1; elif [ $seen -eq 1 ]; then break; fi
        sleep 0.1
    done
    ranks_run && bad "$1: a rank has not ended" || ok
    for ((tries = 0; tries < 20; tries++)); do kill -0 $job 2>/dev/null || break; sleep 0.1; done
    kill -KILL $job 2>/dev/null
    wait $job 2>/dev/null && bad "$1: status 0" || ok
    said "$2"
}
fault kill 'rank 1 .*signal 9'
fault stop 'all_reduce: receive from rank [12]: rank [12] did not take part within 1 s' # rank 2 waits for rank 1, and rank 0 for 2
fault late 'rank [02]: the end \(MPI_Finalize\): another rank did not take part within 1 s'
fault count 'rank 2 calls all_reduce of 8 f32 \(call 3\), root 0, and rank 1 calls all_reduce of 7 f32'
fault count 'rank [0-2] (expects|did not)' --unchecked
fault size 'rank 0 expects 32 bytes, and rank 1 sends 28'

# Training: the losses and the weights of two ranks that are threads (those of one rank: test_train_ranks.sh), whoever starts them.
for i in $(seq 400); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
flags=(--data "$dir/text" --layers 1 --heads 2 --width 16 --block 16 --batch 4 --warmup 5 --steps 20 --eval-every 10
    --eval-batches 2 --save-every 20 -q)
same() {
    cut -d, -f1-4,6 "$dir/$1/metrics.csv" | cmp -s - <(cut -d, -f1-4,6 "$dir/threads/metrics.csv") &&
        cmp -s "$dir"/{$1,threads}/step-20/manifest.json && ok || bad "$1: other losses or weights"
}
"$bin/train_gpt2" "${flags[@]}" --ranks 2 -o "$dir/threads" >"$dir/log" 2>&1 && ok || bad "threads"
ranks 2 "$bin/train_gpt2" "${flags[@]}" -o "$dir/mpirun" && same mpirun
[ "$(grep -c '^train_gpt2: val_loss' "$dir/log")" -eq 1 ] && said '2 ranks \(mpi\)' || bad "not one result"
timeout -k 5 40 "$bin/train_gpt2" "${flags[@]}" --ranks 2 --engine mpi --zero 2 -o "$dir/own" >"$dir/log" 2>&1 && ok || bad "own"
cut -d, -f2 "$dir/own/metrics.csv" | cmp -s - <(cut -d, -f2 "$dir/threads/metrics.csv") && ok || bad "ZeRO: other losses"
ranks 2 "$bin/train_gpt2" "${flags[@]}" --ranks 3 -o "$dir/none" && bad "ran 3 of 2" || said '--ranks 3: mpirun started 2'
segments | diff "$dir/before" - >"$dir/log" && ok || bad "left in /dev/shm"
finish
