#!/usr/bin/env bash
# train_gpt2 --device cuda: the losses of a short run are the CPU's. Skipped in a build without CUDA.
. "$(dirname "$0")/../../.ci/check.bash"
train=$bin/train_gpt2
make -s -C "$root" build/release/bin/train_gpt2 >/dev/null || exit 1
export OMP_WAIT_POLICY=passive

for i in $(seq 400); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
flags=(--data "$dir/text" --layers 2 --heads 2 --width 32 --block 16 --batch 4 --micro-batches 2 --warmup 2 -q)
flags+=(--steps 4 --eval-every 2 --eval-batches 2)
if grep -q off "$bin/../cuda-choice"; then
    "$train" "${flags[@]}" --device cuda -o "$dir/there" >"$dir/log" 2>&1 && bad "trained on a device that is not there" || ok
else
    "$train" "${flags[@]}" -o "$dir/here" >"$dir/log" 2>&1 && ok || bad "on the cpu: $(tail -1 "$dir/log")"
    "$train" "${flags[@]}" --device cuda -o "$dir/there" >"$dir/log" 2>&1 && ok || bad "on cuda: $(tail -1 "$dir/log")"
    # The longest path has 2 (11 * 32 + 2 * 16 + 16) + 90 < 1000 roundings, 2^-24 of a loss below 4 each, on both devices
    # and in each of 4 steps: 0.002. In these steps the loss falls by a hundred times as much.
    paste -d, "$dir/here/metrics.csv" "$dir/there/metrics.csv" | awk -F, 'function off(a, b) { return a > b + 0.002 || b > a + 0.002 }
        NR > 1 { wrong += off($2, $11) || off($3, $12) || $4 != $13 }
        NR == 3 { first = $11 }
        END { exit wrong > 0 || NR != 4 || $11 >= first - 0.1 }' &&
        ok || bad "$(tail -n +2 "$dir/here/metrics.csv" "$dir/there/metrics.csv")"
    grep -q '^planned peak .* MB, measured in the first step [0-9.]*[1-9]' "$dir/log" && ok || bad "no memory was counted: $(cat "$dir/log")"
    "$train" "${flags[@]}" --device cuda --allocator caching -o "$dir/cached" >"$dir/log" 2>&1 && ok || bad "caching: $(tail -1 "$dir/log")"
    diff -r "$dir"/{there,cached}/step-4 && ok || bad "other bits with --allocator caching"
    grep -qE '^[0-9]{3,} allocations, for which the system was asked [0-9] times' "$dir/log" && ok || bad "said: $(cat "$dir/log")"
    if grep -q emu "$bin/../cuda-choice"; then
        grep -qE '^No GPU: the emulator of CUDA computes on the CPU, .* slower' "$dir/log" && ok || bad "it does not say that it emulates: $(cat "$dir/log")"
        # Attention on tensor cores needs 112 KiB of shared memory in heads of 128 columns: sm_86 has 99 for a block.
        for arch in sm_80/128/bf16 sm_86/128/tiled sm_86/96/bf16 sm_75/32/tiled; do
            IFS=/ read -r device width which <<<"$arch"
            CUEMU_ARCH=$device "$train" --data "$dir/text" --layers 1 --heads 1 --width "$width" --block 8 --batch 1 --steps 1 --eval-batches 1 \
                --dtype bf16 --device cuda --overwrite -o "$dir/arch" >"$dir/log" 2>&1 && grep -q "^Attention: $which$" "$dir/log" &&
                ok || bad "$arch: $(cat "$dir/log")"
        done
        for allocator in system caching; do
            CUEMU_MEMORY=6 "$train" "${flags[@]}" --batch 100 --micro-batches 1 --device cuda --allocator $allocator --overwrite -o "$dir/full" >"$dir/log" 2>&1 &&
                bad "$allocator: 6 MB were enough" || ok
            grep -q 'out of memory on cuda' "$dir/log" && grep -q '^By the plan a step fits into the ' "$dir/log" &&
                [ "$(grep -c '^large blocks ' "$dir/log")" = "$([ $allocator = caching ] && echo 1 || echo 0)" ] && ok || bad "$allocator: $(cat "$dir/log")"
            [ $allocator = system ] || continue # a pool's segments are not in the plan: here they are as large as the device
            with=$(sed -n 's/^By the plan .* with .*, or with//p' "$dir/log")
            CUEMU_MEMORY=6 "$train" "${flags[@]}" --batch 100 $with --steps 1 --device cuda -o "$dir/full" >"$dir/log" 2>&1 &&
                [ -n "$with" ] && ok || bad "with $with: $(tail -1 "$dir/log")"
        done
    fi
fi
"$train" --device gpu >"$dir/log" 2>&1 && bad "a device that does not exist" || ok
grep -qF -- '--device:' "$dir/log" && ok || bad "said: $(cat "$dir/log")"
finish "train_gpt2 on cuda"
