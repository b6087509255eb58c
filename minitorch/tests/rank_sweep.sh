#!/usr/bin/env bash
# rank_sweep.sh losses | faults [SAMPLES] -- what takes too long for make test: make nccl-losses, make rank-faults.
#
# losses: 50 steps in each strategy over the emulated NCCL, beside one rank. faults: in each strategy, over MPI and over NCCL, a
# rank is killed, stops, ends or sends less, at SAMPLES (default 3) of its messages each: all ranks end, with words (ranks.bash).
. "$(dirname "$0")/ranks.bash"
export CUEMU_THREADS=1
RANDOM=${SEED:-1} samples=${2:-3} deadline=3
common=(--data "$dir/text" --layers 4 --heads 2 --width 16 --block 8 --batch 4 --eval-batches 1 --micro-batches 2 -q)

losses() {
    local dtype name
    for dtype in f32 bf16; do
        flags=("${common[@]}" --device cuda --steps 50 --eval-every 10 --warmup 10 --deadline 60 --dtype $dtype)
        one_rank
        echo "$dtype: one rank: val_loss $(tail -1 "$dir/one/metrics.csv" | cut -d, -f3); bound $((4 * moved + 2)) millionths"
        while read -r name how; do
            # shellcheck disable=SC2086
            run "$name" $how && near "$name"
            printf '%s: %-46s %s millionths from one rank\n' $dtype "$how" "$(drift one "$name")"
        done <<<'dp2 --dp 2
zero1 --ranks 2 --zero 1
zero2 --ranks 2 --zero 2
zero3 --ranks 2 --zero 3
tp2 --tp 2
pp2 --pp 2
inter --pp 2 --pp-schedule interleaved
dp2tp2 --dp 2 --tp 2
dp2pp2 --dp 2 --pp 2'
    done
}

faults() {
    local engine how words strategy rank number messages sample
    for engine in mpi nccl; do
        for strategy in '--ranks 2' '--ranks 2 --zero 3' '--tp 2' '--pp 2'; do
            flags=("${common[@]}" --layers 2 --steps 3 --eval-every 3 --engine $engine)
            [ $engine = mpi ] || flags+=(--device cuda)
            # shellcheck disable=SC2086
            (fault_at 0:0:count "$bin/train_gpt2" "${flags[@]}" -o "$dir/broken" $strategy) >"$dir/count" 2>&1 && ok || bad "$strategy"
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
"${1:-}" && finish "${1}"
