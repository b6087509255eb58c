#!/usr/bin/env bash
# train_gpt2 --ranks N: the losses of one rank (in all strategies: test_rank_losses.sh); the same checkpoints, which continue on another number of
# ranks; what does not go together is refused in words; a profile says what communication was not hidden.
. "$(dirname "$0")/ranks.bash"
common=(--data "$dir/text" --layers 2 --heads 2 --width 32 --block 16 --batch 12 --warmup 10 --steps 50 --eval-batches 2 -q)

for dtype in f32 bf16; do
    flags=("${common[@]}" --eval-every 10 --save-every 50 --micro-batches 2 --dtype $dtype)
    one_rank
    run three --ranks 3 --zero 2 --recompute block --workers 1 && near three
done

# Two ranks: a sum of two has one order, so that all strategies give the same bits where clipping changes nothing.
flags=("${common[@]}" --eval-every 25 --save-every 20 --keep 0 --clip 1e9)
run plain --ranks 2
run zero1 --ranks 2 --zero 1 && diff -r "$dir"/{plain,zero1}/step-50 >"$dir/log" && ok || bad "other bits with --zero 1"
run zero2 --ranks 2 --zero 2 --bucket 1kB && diff -r "$dir"/{plain,zero2}/step-50 >"$dir/log" && ok || bad "other bits with --zero 2"
run zero3 --ranks 2 --zero 3 --bucket 1kB && diff -r "$dir"/{plain,zero3}/step-50 >"$dir/log" && ok || bad "other bits with --zero 3"
run zero3 --ranks 2 --zero 3 --resume 20 --bucket 20kB --recompute block --async-save && diff -r "$dir"/{plain,zero3}/step-50 >"$dir/log" && ok || bad "other bits after resuming with --zero 3"
run zero2 --ranks 2 --zero 2 --resume 20 && diff -r "$dir"/{plain,zero2}/step-50 >"$dir/log" && ok || bad "other bits after resuming"
run eight --ranks 2 --state 8 && cp -r "$dir/eight" "$dir/again8" && run again8 --ranks 2 --state 8 --resume 20 && diff -r "$dir"/{eight,again8}/step-50 >"$dir/log" && ok || bad "other bits after resuming with --state 8"
run alone && diff <(tr ',' '\n' <"$dir/alone/step-20/manifest.json" | grep -oE '^ *"[^"]*"') <(tr ',' '\n' <"$dir/plain/step-20/manifest.json" | grep -oE '^ *"[^"]*"') >"$dir/log" && ok || bad "another list of values"
cmp <(ls -l "$dir/alone/step-20" | awk '{ print $5, $9 }' | grep safetensors) <(ls -l "$dir/zero1/step-20" | awk '{ print $5, $9 }' | grep safetensors) && ok || bad "other files"

# A checkpoint is that of one rank: 4 ranks, then 2, then 3, then one.
flags=("${common[@]}" --eval-every 10 --save-every 10)
one_rank
run all --ranks 4 --zero 3 --save-every 20 --keep 0 && rm -r "$dir/all/step-40" "$dir"/all/step-50
run all --ranks 2 --zero 1 --save-every 15 --keep 0 --resume 20 && rm -r "$dir"/all/step-{45,50}
run all --ranks 3 --save-every 20 --keep 0 --resume 30 && said "Continuing from $dir/all/step-30" && rm -r "$dir"/all/step-50
run all --resume 40 && near all

# However they add up; a choice that was measured is said.
run doubling --ranks 3 --all-reduce doubling && near doubling && said '^Data parallel: 3 ranks \(threads\), all-reduce doubling, buckets'
run tree --ranks 4 --all-reduce tree && near tree
run nodes --ranks 4 --all-reduce hierarchical:2 && near nodes && said '^Data parallel: 4 ranks \(threads\), all-reduce hierarchical:2, buckets'
run trial --ranks 4 --all-reduce measured && near trial && said '^all-reduce measured: (ring|tree|doubling)(, from [0-9.]+ KiB on (ring|tree|doubling))*$'
run again --ranks 4 --all-reduce tree && diff -r "$dir"/{tree,again}/step-50 >"$dir/log" && ok || bad "other bits"

# Compressed gradients are others, and train too.
flags=("${common[@]}" --eval-every 50)
for how in 1bit topk; do
    run $how --ranks 2 --compress $how && said "^Data parallel: 2 ranks \(threads\), gradients in $how, buckets of 1.05 MB"
    awk -F, 'END { exit !($3 < 3.2) }' "$dir/$how/metrics.csv" && ok || bad "$how: $(tail -1 "$dir/$how/metrics.csv")"
    run plain --ranks 3 --compress $how --clip 1e9 && run zero1 --ranks 3 --compress $how --clip 1e9 --zero 1 --bucket 1MiB
    diff -r "$dir"/{plain,zero1}/step-50 >"$dir/log" && ok || bad "other bits with --compress $how --zero 1"
done
grep -q '"strategy":.*"2 ranks (threads), gradients in topk, buckets of 1.05 MB"' "$dir/topk/run.json" && ok || bad "run.json"

# Where the time went: a row for each rank and each communication thread.
run traced --ranks 2 --trace
"$bin/profile" "$dir/traced" >"$dir/log" 2>&1 && said '^exposed communication: ranks waited [0-9.]+ s in [0-9.]+ s of training steps, [0-9.]+ %$'
for row in 'rank 0' 'rank 0 sends' 'rank 1' 'rank 1 sends'; do grep -q "\"name\":\"$row\"" "$dir/traced/trace.json" && ok || bad "no row $row"; done

refused '--ranks 5: a micro-batch of 12 cannot be divided equally: use a --batch that is a multiple of 5' --ranks 5
refused '--ranks 24: a micro-batch of 12 cannot be divided' --ranks 24
refused 'ranks.*from 1 to 1024' --ranks 0
refused '--compress packs whole gradients, which stages 2 and 3 of ZeRO do not keep: use --zero 1' --ranks 2 --compress 1bit --zero 2
refused '--ema averages whole parameters: use --zero 2' --ranks 2 --zero 3 --ema 0.9
refused 'there is no compress "gzip": use one of none, 1bit, topk' --ranks 2 --compress gzip
refused 'there is no all-reduce "star": use one of ring, tree, doubling, hierarchical, measured' --ranks 2 --all-reduce star
refused '--ranks 4: say how many ranks a node has, in nodes of equally many: use --all-reduce hierarchical:2' --ranks 4 --all-reduce hierarchical
refused '--ranks 4: say how many ranks a node has, in nodes of equally many' --ranks 4 --all-reduce hierarchical:3
refused 'nodes are known of all ranks, and not of those that have a part of the model' --tp 2 --dp 2 --all-reduce hierarchical:2
refused 'adafactor, muon and the loss scale of f16 need whole gradients: use --zero 0' --ranks 2 --zero 1 --dtype f16
refused 'muon and the loss scale of f16 need whole gradients: use --zero 0' --ranks 2 --zero 1 --optimizer muon
refused '--state 8 has blocks of whole parameters: use --zero 0' --ranks 2 --zero 1 --state 8
refused 'the caching allocator serves one rank' --ranks 2 --allocator caching
refused 'there is no engine "smoke": use one of threads' --ranks 2 --engine smoke
refused 'with batch 12, not 24; --resume needs the flags' --ranks 2 -o "$dir/all" --resume --steps 50 --batch 24
refused '--engine nccl connects ranks with a GPU each' --ranks 2 --device cuda --engine threads

stopped --ranks 3
finish train_ranks
