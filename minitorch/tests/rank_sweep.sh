#!/usr/bin/env bash
# rank_sweep.sh losses [ENGINE...] | faults [SAMPLES] -- what takes too long for make test: make rank-losses, make rank-faults.
#
# losses: 50 steps in each strategy on threads, over MPI and over the emulated NCCL, beside one rank. faults: in each strategy, over
# MPI and over NCCL, a rank is killed, stops, ends or sends less, at SAMPLES (default 3) of its messages each: all ranks end, with
# words (ranks.bash).
. "$(dirname "$0")/ranks.bash"
export CUEMU_THREADS=1
RANDOM=${SEED:-1} deadline=3
common=(--data "$dir/text" --layers 4 --heads 2 --width 16 --block 8 --batch 4 --eval-batches 1 --micro-batches 2 -q)

losses() {
    local engine dtype name how
    [ $# -gt 0 ] || set -- threads mpi nccl
    for engine; do
        for dtype in f32 bf16; do
            flags=("${common[@]}" --steps 50 --eval-every 10 --warmup 10 --deadline 60 --dtype $dtype)
            [ "$engine" != nccl ] || flags+=(--device cuda)
            one_rank
            echo "$engine $dtype: one rank: val_loss $(tail -1 "$dir/one/metrics.csv" | cut -d, -f3); bound $((4 * moved + 2)) millionths"
            while read -r how; do
                name=${how// /}
                # shellcheck disable=SC2086
                run "$name" $how --engine "$engine" </dev/null && near "$name"
                printf '%s %s: %-36s %s millionths from one rank\n' "$engine" $dtype "$how" "$(drift one "$name")"
            done <<<'--dp 2
--ranks 2 --zero 1
--ranks 2 --zero 2
--ranks 2 --zero 3
--tp 2
--pp 2
--pp 2 --pp-schedule interleaved
--dp 2 --tp 2
--dp 2 --pp 2'
        done
    done
}

faults() {
    local samples=${1:-3} engine how words strategy rank number messages sample
    for engine in mpi nccl; do
        for strategy in '--ranks 2' '--ranks 2 --zero 3' '--tp 2' '--pp 2'; do
            flags=("${common[@]}" --layers 2 --steps 3 --eval-every 3 --engine $engine)
            [ $engine = mpi ] || flags+=(--device cuda)
            # shellcheck disable=SC2086
            (fault_at 0:0:count "$bin/train_gpt2" "${flags[@]}" -o "$dir/broken" --overwrite $strategy) >"$dir/count" 2>&1 && ok || bad "$strategy"
            for how in kill stop exit short; do
                for ((sample = 0; sample < samples; sample++)); do
                    rank=$((RANDOM % 2))
                    messages=$(sed -nE "s/^rank $rank: ([0-9]+) messages$/\1/p" "$dir/count")
                    number=$((1 + (RANDOM * 32768 + RANDOM) % messages))
                    [ $how != short ] || number=$(((number + 1) / 2)) # a message of MPI has to follow
                    # shellcheck disable=SC2086
                    broken $rank:$number:$how $strategy
                    printf '%s %-18s rank %d of 2, message %3d of %d: %-5s  %s\n' $engine "$strategy" $rank $number "$messages" $how \
                        "$(grep -oEm1 "$words" "$dir/log" | cut -c1-110)"
                done
            done
        done
    done
    nothing_left
    echo "mpirun did not end by itself $killed times"
}
"$@" && finish "$1"
