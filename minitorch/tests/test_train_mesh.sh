#!/usr/bin/env bash
# train_gpt2 --dp --pp --tp: a model that is divided among ranks sends the same on threads and on processes; its losses are those of
# one rank (in all strategies: test_rank_losses.sh); its checkpoints are those of one rank, and continue on another mesh; what cannot be
# divided is refused in words.
. "$(dirname "$0")/ranks.bash"
common=(--data "$dir/text" --layers 4 --heads 6 --width 24 --block 16 --batch 6 --warmup 10 --steps 50 --eval-batches 2 -q)

# Processes send the bits that threads do; each collective waits for another process.
flags=("${common[@]}" --steps 10 --eval-every 5 --save-every 10)
for how in '--pp 2' '--tp 2' '--tp 2 --sp'; do
    [[ $(ldd "$bin/train_gpt2") == *libmpi* ]] || continue
    # shellcheck disable=SC2086
    run threads $how && run mpi $how --engine mpi && cmp "$dir"/{threads,mpi}/step-10/manifest.json >"$dir/log" 2>&1 && ok || bad "mpi $how: other values"
done

# A checkpoint is that of one rank: its files, and it continues on any mesh.
flags=("${common[@]}" --eval-every 10 --save-every 10 --keep 0 --micro-batches 2 --ema 0.9)
one_rank
files() { (cd "$dir/$1/step-20" && ls -l -- *.safetensors | awk '{ print $5, $9 }' && tr ',' '\n' <manifest.json | grep -oE '^ *"[^"]*"'); }
run all --pp 2 --tp 3 && diff <(files all) <(files one) >"$dir/log" && ok || bad "other files"
rm -r "$dir"/all/step-{30,40,50}
run all --dp 3 --pp 4 --resume && said "Continuing from $dir/all/step-20" && rm -r "$dir"/all/step-{40,50}
run all --tp 2 --sp --resume --async-save && said "Continuing from $dir/all/step-30" && rm -r "$dir"/all/step-{40,50}
run all --dp 3 --tp 3 --pp 2 --zero 1 --bucket 1kB --resume && said "Continuing from $dir/all/step-30" && rm -r "$dir"/all/step-50
run all --ranks 2 --zero 1 --resume && near all && rm -r "$dir"/all/step-50
run all --resume && near all

# A sum of two has one order, so that dividing the optimizer's state changes no bit where clipping changes nothing.
flags=("${common[@]}" --eval-every 25 --save-every 25 --keep 0 --micro-batches 2 --clip 1e9)
for how in '--pp 2' '--tp 2' '--pp 2 --tp 3 --pp-schedule interleaved:1'; do
    # shellcheck disable=SC2086
    run plain --dp 2 $how && run zero1 --dp 2 $how --zero 1 --bucket 1kB && diff -r "$dir"/{plain,zero1}/step-50 >"$dir/log" && ok || bad "other bits with $how --zero 1"
    # shellcheck disable=SC2086
    run zero1 --dp 2 $how --zero 1 --resume 25 && diff -r "$dir"/{plain,zero1}/step-50 >"$dir/log" && ok || bad "other bits after resuming with $how --zero 1"
done
flags=("${common[@]}" --eval-every 10 --micro-batches 2)
one_rank
run tokens --dp 2 --pp 2 --tp 2 --sp --zero 1 && near tokens && said '^Model parallel: 8 ranks \(threads\): data 2 x pipeline 2 \(1f1b\) x tensor 2, tokens divided, ZeRO stage 1, buckets'

# Samples of text are of the whole model: with a rate of almost 0 they are those of one rank.
flags=("${common[@]}" --steps 2 --eval-every 1 --lr 1e-9 --lr-min 0)
sample() { sed -n '/^---- sample/,/^-----*$/p' "$dir/log"; }
run one && sample >"$dir/sample"
run pp2 --pp 2 --tp 2 && [ "$(grep -c '^---- sample' "$dir/sample")" -eq 2 ] && sample | cmp - "$dir/sample" && ok || bad "another sample"

# Settings of a run, and where the time went: a row for each rank and each of its communication threads.
flags=("${common[@]}" --eval-every 50 --micro-batches 2)
run traced --dp 2 --pp 2 --trace && said '^Model parallel: 4 ranks \(threads\): data 2 x pipeline 2 \(1f1b\) x tensor 1, buckets of 1.05 MB; of each replica:'
grep -q '"strategy":.*"4 ranks (threads): data 2 x pipeline 2 (1f1b) x tensor 1, buckets of 1.05 MB"' "$dir/traced/run.json" && ok || bad "run.json"
"$bin/profile" "$dir/traced" >"$dir/log" 2>&1 && said '^exposed communication: ranks waited [0-9.]+ s in [0-9.]+ s of training steps, [0-9.]+ %$'
for row in 'rank 0' 'rank 3' 'rank 3 sends'; do grep -q "\"name\":\"$row\"" "$dir/traced/trace.json" && ok || bad "no row $row"; done

refused '--dp 1 x --pp 2 x --tp 1 are not 3 ranks, but 2' --ranks 3 --pp 2
refused '--dp 2 x --pp 2 x --tp 3 are not 4 ranks, but 12' --ranks 4 --dp 2 --pp 2 --tp 3
refused '--dp 4: a micro-batch of 6 cannot be divided equally: use a --batch that is a multiple of 4' --dp 4 --pp 2
refused '6 heads cannot be divided equally among 4 ranks' --tp 4
refused '--sp: 16 tokens of a sample cannot be divided equally among 3 ranks: use a --block that is a multiple' --tp 3 --sp
refused '--sp divides tokens among the ranks of --tp 2 and more' --sp --dp 2
refused '5 stages for 4 layers: each stage needs one' --pp 5
refused '6 stages for 4 layers' --pp 3 --pp-schedule interleaved
refused 'groups of 4 micro-batches, one a stage, and 2 are not a multiple: use 4, or 1f1b' --pp 4 --pp-schedule interleaved:1
refused 'there is no schedule "zigzag": use one of 1f1b, gpipe, interleaved' --pp 2 --pp-schedule zigzag
refused 'pp-schedule.*from 1 to 1024' --pp 2 --pp-schedule interleaved:0
refused 'interleaved is of several stages: use --pp' --pp-schedule interleaved
refused 'stages 2 and 3 of ZeRO are for ranks that have the whole model each: use --zero 1' --pp 2 --zero 2
refused '--compress is for ranks that have the whole model each: use --dp' --tp 2 --compress 1bit
refused 'adafactor, muon and the loss scale of f16 need the whole gradients' --pp 2 --optimizer adafactor
refused 'muon and the loss scale of f16 need the whole gradients' --tp 2 --optimizer muon
refused '--state 8 has blocks of whole parameters: use --dp' --tp 2 --state 8
refused 'with micro-batches 2, not 4; --resume needs the flags' --pp 2 -o "$dir/all" --resume --ema 0.9 --micro-batches 4

stopped --pp 2 --tp 2
finish train_mesh
