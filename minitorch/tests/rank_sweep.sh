#!/usr/bin/env bash
# rank_sweep.sh losses [RUNS [ENGINE...]] | faults [SAMPLES] -- what make test does a part of: make rank-losses, make rank-faults.
#
# losses: RUNS (default 48) runs on several ranks whose options are drawn, each beside one rank with the same recipe: losses and
# norms of the gradients. SEED=N draws others. A new option is a word in `recipe`, if one rank has it, else in `strategy`.
# faults: in each strategy, over MPI and over NCCL, a rank is killed, stops, ends or sends less, at SAMPLES (default 3) of its
# messages each: all ranks end, with words (ranks.bash).
. "$(dirname "$0")/ranks.bash"
export CUEMU_THREADS=1
RANDOM=${SEED:-1} deadline=3
common=(--data "$dir/text" --layers 4 --heads 2 --width 16 --block 8 --batch 4 --eval-batches 1 --micro-batches 2 -q)

# draw WORD...: one of them, as an option of this run; '' is none.
draw() {
    local word=$((1 + RANDOM % $#))
    [ -z "${!word}" ] || drawn+=("${!word}")
}
recipe() {
    drawn=()
    draw --dtype={f32,f32,bf16,f16}
    draw --micro-batches={1,2,4}
    draw --clip={0.1,1,1e9}
    draw --optimizer={sgd,momentum,nesterov,rmsprop,adam,adamw,lion,adafactor,muon}
}
strategy() {
    drawn=()
    draw --dp={1,2,2,4} # a third of a batch's gradients is rounded in 16 bits otherwise (test_train_ranks.sh has three)
    draw --pp={1,1,2,3}
    draw --tp={1,1,2,3}
    [[ ${drawn[*]} != *--tp=[23]* ]] || draw '' --sp
    draw --pp-schedule={1f1b,gpipe,interleaved}
    draw '' '' --zero={1,1,2,3}
    draw --recompute={none,selective,block}
    draw --all-reduce={ring,tree,doubling,hierarchical:2}
    draw --bucket={1kB,8kB,1MiB}
}
# Rates that suit the rules. Lion moves a weight by the whole rate in the direction of a sign. Where a sum is 0 but for its rounding
# the order of a sum decides: from the first step on for the biases of keys, whose gradient is 0 (a key's bias adds the same to all
# scores of a query), which changes no loss; at 2e-3, with --tp 2, after some 30 steps of the toy for the first other weights (24 of
# 818 thousand at step 34), and then the losses differ by 1 to 5 millionths, and more later. At 1e-5 that is below what is printed.
rate_of() {
    case $1 in *sgd) echo 0.1 ;; *momentum | *nesterov) echo 0.01 ;; *rmsprop) echo 5e-4 ;; *lion) echo 1e-5 ;; *) echo 2e-3 ;; esac
}

# A strategy that the program refuses has trained nothing, and said what to use instead: another is drawn.
losses() {
    local wanted=${1:-48} engine runs refused=0 settings
    shift
    for engine in "${@:-threads}"; do
        for ((runs = 0; runs < wanted && failed < 10; )); do
            recipe && settings=("${drawn[@]}") rate=$(rate_of "${drawn[3]}")
            flags=("${common[@]}" --heads 6 --width 24 --layers 6 --steps 16 --eval-every 4 --warmup 4 --lr "$rate"
                --deadline 60 --threads 2 --log-every 0 "${settings[@]}")
            [ "$engine" != nccl ] || flags+=(--device cuda)
            rows=4
            one_rank
            for _ in {1..8}; do
                strategy
                rm -rf "$dir/many"
                if ! timeout -k 5 300 "$bin/train_gpt2" "${flags[@]}" -o "$dir/many" "${drawn[@]}" --engine "$engine" >"$dir/log" 2>&1 </dev/null; then
                    if [ ! -e "$dir/many/metrics.csv" ] && grep -qE '^train_gpt2: .*: (use|leave) ' "$dir/log"; then refused=$((refused + 1)); else bad "${settings[*]} ${drawn[*]}"; fi
                    continue
                fi
                runs=$((runs + 1))
                near many "${settings[*]} ${drawn[*]}"
                awk -F, 'NR > 2 && !($7 > 0) { wrong = 1 } END { exit wrong }' "$dir/many/metrics.csv" && ok || bad "${settings[*]} ${drawn[*]}: a norm of 0"
                printf '%-10s %s: %s %s: %s, bounds %s\n' "$engine" "$runs" "${settings[*]#--}" "${drawn[*]#--}" "$got" "$(bounds)"
            done
        done
    done
    echo "refused in words: $refused"
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
