#!/usr/bin/env bash
# test_train_mnist.sh -- make_digits and train_mnist from the command line, on a small set of stand-in digits.
. "$(dirname "$0")/../../.ci/check.bash"
bin=${MT_BIN:-$bin}
export OMP_WAIT_POLICY=passive # other programs may be busy here; waiting threads must not take their cores

run()     { (cd "$dir" && env -u MT_DATA "$@") >"$dir/out" 2>"$dir/log"; status=$?; }
said()    { grep -qF -- "$1" "$dir/log"; }
last()    { tail -n 1 "$dir/out"; }
refused() { [ $status != 0 ] && [ $status -lt 128 ] && said "$1"; } # in words, not by a signal
train()   { run "$bin/train_mnist" --data "$dir/digits" --out "$dir/run" --overwrite "$@"; }
results() { cut -d, -f1-4 "$dir/run/metrics.csv"; } # without the seconds

[ -x "$bin/train_mnist" ] || { echo "$bin/train_mnist is missing: run make first"; echo '0 passed, 1 failed'; exit 1; }

run "$bin/make_digits" --out "$dir/digits" --train 4000 --test 1000
check 'make_digits draws' [ $status = 0 ]
run "$bin/make_digits" --out "$dir/again" --train 4000 --test 1000
check 'the same seed draws the same' diff -rq "$dir/digits" "$dir/again"
run env OMP_NUM_THREADS=1 "$bin/make_digits" --out "$dir/again" --train 4000 --test 1000
check '... whatever the threads' diff -rq "$dir/digits" "$dir/again"
run "$bin/make_digits" --out "$dir/again" --train 4000 --test 1000 --seed 2
check 'another seed draws others' eval '! cmp -s "$dir/digits/train-images-idx3-ubyte" "$dir/again/train-images-idx3-ubyte"'
run "$bin/make_digits" --out /proc/nonesuch
check 'make_digits: an unwritable folder' refused 'cannot make the folder'

train --epochs 3 --threads 1
cp "$dir/run/metrics.csv" "$dir/one.csv"
results >"$dir/one"
check 'trains' [ $status = 0 ]
check 'better than guessing by far' eval 'awk -F, "END { exit !(\$4 > 0.7) }" "$dir/one.csv"'
check 'a row for every epoch, and one before the first' [ "$(wc -l <"$dir/one.csv")" = 5 ]
check 'the last line is for machines' eval 'grep -qE "^train_mnist: test_accuracy=0\.[0-9]{4} epochs=3 seconds=[0-9.]+ epoch_seconds=[0-9.]+ data=digits$" <<<"$(last)"'
matrix=$(awk 'NF == 11 && $1 ~ /^[0-9]$/ { for (i = 2; i <= NF; i++) n += $i; rows++ } END { print rows, n }' "$dir/out")
check 'the confusion matrix counts every test image' [ "$matrix" = '10 1000' ]
right=$(awk 'NF == 11 && $1 ~ /^[0-9]$/ { n += $($1 + 2) } END { printf "%.4f", n / 1000 }' "$dir/out")
check 'the accuracy is that of the confusion matrix' eval 'grep -q "test_accuracy=$right " <<<"$(last)"'
best=$(awk -F, 'NR > 1 && $4 > most { most = $4; epoch = $1 } END { print epoch, 100 * most }' "$dir/one.csv")
check 'the best weights are those of the best validation' grep -qE "^The best weights are those of epoch ${best% *} \(validation accuracy ${best#* }0* %\), in $dir/run/step-$((58 * ${best% *}))$" "$dir/out"
check 'run.json says with what, and how it ended' python3 -c "
import json, sys
run = json.load(open('$dir/run/run.json'))
assert run['status'] == 'done' and run['result'] == {'test_accuracy': $right} and run['seconds'] > 0, run
assert run['settings']['seed'] == '1' and run['settings']['program'] == 'train_mnist' and run['values']['step'] == '174', run
assert run['machine']['threads'] == 1 and run['machine']['denormals_flushed'] and run['started'].endswith('Z') and run['compiler'], run"
check 'the log says so, too' grep -qx 'Numbers below 1.2e-38 count as 0' "$dir/out"
cp -r "$dir/run" "$dir/one-run"
accuracy=$(last)
run "$bin/evaluate" "$dir/run" --data "$dir/digits"
check 'evaluate: the same accuracy and matrix from the checkpoint' eval 'grep -q "^evaluate: step=$((58 * ${best% *})) loss=.* accuracy=$right data=digits$" <<<"$(last)"'
run "$bin/evaluate" "$dir/run" --data "$dir/digits" --step 58
check 'evaluate: another checkpoint' eval 'grep -q "^evaluate: step=58 " <<<"$(last)" || refused "checkpoints in $dir/run: "'
if command -v gnuplot >/dev/null; then
    check 'a curve' grep -q '<svg' "$dir/run/curve.svg"
fi
train --epochs 3 --threads 2
check 'the same bits with two threads' eval 'results | cmp -s - "$dir/one"'
train --epochs 3 --threads 2 --denormals
check 'denormal numbers are kept on request' eval 'grep -q "\"denormals_flushed\":.*false" "$dir/run/run.json" && ! grep -q 1.2e-38 "$dir/out"'
train --epochs 3 --threads 2 --seed 2
check 'another seed, another run' eval '! results | cmp -s - "$dir/one"'
for workers in 1 4; do
    train --epochs 3 --workers $workers --prefetch 3
    check "the same bits with $workers workers" eval 'results | cmp -s - "$dir/one"'
done
check 'checkpoints of the same bits' diff -r "$dir/run/step-174" "$dir/one-run/step-174"
(cd "$dir" && exec "$bin/train_mnist" --data "$dir/digits" --out "$dir/broken" --epochs 3 --quiet --save-every 5 --async-save --threads 1) >"$dir/out" 2>"$dir/log" &
child=$!
await $child '[ "$(cat "$dir/broken/metrics.csv" 2>/dev/null | wc -l)" -ge 3 ]'
kill -9 $child
wait $child 2>/dev/null
check 'run.json of a run that was killed' grep -q '"status":.*"running"' "$dir/broken/run.json"
run "$bin/train_mnist" --data "$dir/digits" --out "$dir/broken" --epochs 3 --workers 4 --resume
check 'killed in the middle of a checkpoint or not, it resumes' eval '[ $status = 0 ] && grep -qE "^Continuing from $dir/broken/step-[0-9]+$" "$dir/out"'
check '... to the same bits' eval 'diff -r "$dir/broken/step-174" "$dir/one-run/step-174" && diff "$dir/one" <(cut -d, -f1-4 "$dir/broken/metrics.csv")'
run "$bin/train_mnist" --data "$dir/digits" --out "$dir/broken" --epochs 3 --resume
check '... again, when all is done' eval '[ "${accuracy%% epochs*}" = "$(last | sed "s/ epochs.*//")" ]'
run "$bin/train_mnist" --data "$dir/digits" --out "$dir/broken" --epochs 3 --hidden 256,64 --resume
check '... not with another model' refused 'with width 2 128, not 64; --resume needs the flags of the run that it continues'
run "$bin/train_mnist" --data "$dir/digits" --out "$dir/broken" --epochs 3 --dtype bf16 --resume
check '... not in another type' refused 'with dtype f32, not bf16'
seq 9999 >"$dir/text"
run "$bin/train_gpt2" --data "$dir/text" --out "$dir/broken" --resume
check '... not as another program' refused 'with program train_mnist, not train_gpt2'
run "$bin/generate" --run "$dir/broken"
check '... which has no vocabulary' refused 'vocab.bpe'
run "$bin/evaluate" "$dir/none"
check 'evaluate: no folder' refused "$dir/none: No such file or directory"
train --epochs 9 --lr 1e-9 --min-delta 0.9 --patience 2 --hidden 16
check 'ends early, without a better evaluation' eval 'grep -q " epochs=3 " <<<"$(last)" && [ "$(cut -d, -f1 "$dir/run/metrics.csv" | paste -sd" ")" = "epoch 0 1 2 3" ]'
train --epochs 2 --hold-out 0 --hidden 16
check 'without validation the last weights are tested' eval '[ $status = 0 ] && [ "$(head -1 "$dir/run/metrics.csv")" = epoch,loss,seconds,step,lr,samples_per_second,loss_scale,grad_norm,memory_peak_bytes,mfu_ratio ] && ! grep -q "best weights" "$dir/out" && [ ! -s "$dir/log" ]'
train --hold-out 4000
check 'no image left to train with' refused '--hold-out: there are 4000 training images'
for optimizer in sgd momentum rmsprop adam adamw lion adafactor muon; do
    train --epochs 3 --optimizer $optimizer --threads 1
    check "learns with $optimizer" eval 'last | awk -F"[= ]" "{ exit !(\$3 > 0.7) }"'
done
for schedule in constant cosine step exponential triangular; do
    train --epochs 2 --schedule $schedule --warmup 10 --clip 1 --weight-decay 0.01 --hidden 32
    check "learns with the schedule $schedule" eval '[ $status = 0 ] && last | awk -F"[= ]" "{ exit !(\$3 > 0.5) }"'
done
train --epochs 3 --eval-every 2 --hidden 16
check 'tests every two epochs, and at the end' [ "$(cut -d, -f1 "$dir/run/metrics.csv" | paste -sd' ')" = 'epoch 0 2 3' ]
train --epochs 1 --eval-steps 29 --hidden 16 # of 58
check 'tests within an epoch' [ "$(cut -d, -f1 "$dir/run/metrics.csv" | paste -sd' ')" = 'epoch 0 0.5 1' ]
train --epochs 1 --hidden 16 --trace --workers 2
check 'a recording, and the command that reads it' grep -qx "The profile is recorded in $dir/run/spans.bin; to read it: $bin/profile $dir/run" "$dir/out"
run "$bin/profile" "$dir/run"
check 'a profile: ops, loader and optimizer, MFU' eval 'for line in "linear backward" "load batch" "next batch" "adam step" "(MFU)"; do
    grep -qF "$line" "$dir/run/summary.txt" || return 1; done && grep -q "<svg" "$dir/run/timeline.svg"'
check '... a trace that programs can read, with the workers in it' eval 'python3 -c "
import json; events = json.load(open(\"$dir/run/trace.json\"))[\"traceEvents\"]
names = {str(e.get(\"args\", {}).get(\"name\")) for e in events if e[\"ph\"] == \"M\"}
assert any(n.startswith(\"loader\") for n in names), names"'
train --epochs 1 --hidden 32 --batch 4001
check 'one hidden layer, and a batch larger than the set' [ $status = 0 ]

run "$bin/converge" --data "$dir/digits" --epochs 2 --every 21 --svg "$dir/converge.svg"
check 'converge: parameters and state are 1x, 2x, 2x, 3x' [ "$(awk '/x$/ { print $NF }' "$dir/out" | paste -sd' ')" = '1.000x 2.000x 2.000x 3.000x' ]
check '... every loss falls, and the points are there' eval 'awk -F, "NR == 2 { split(\$0, first) }
    END { for (i = 2; i <= 5; i++) if (\$i >= first[i]) exit 1; exit NR != 7 }" "$dir/build/bench/converge.csv"'
rm -rf "$dir/build"
run "$bin/converge" --data "$dir/digits" --csv /proc/nonesuch/x.csv
check '... an unwritable file is known before training' refused '/proc/nonesuch/x.csv'

mkdir "$dir/tools"
run env PATH="$dir/tools" "$bin/train_mnist" --data "$dir/digits" --out "$dir/run" --overwrite --epochs 2
check 'no gnuplot: says how to get it, and goes on' eval '[ $status = 0 ] && grep -q "apt install gnuplot-nox" "$dir/out"'

printf '#!/bin/bash\ncat >/dev/null\ncp "$0.run/spans.bin" "$0.spans"\n' >"$dir/tools/gnuplot"
chmod +x "$dir/tools/gnuplot"
run env PATH="$dir/tools:$PATH" "$bin/train_mnist" --data "$dir/digits" --out "$dir/tools/gnuplot.run" --epochs 2 --hidden 16 --trace
check 'the time that drawing the curve takes is not in the profile' cmp "$dir/tools/gnuplot.spans" "$dir/tools/gnuplot.run/spans.bin"

rm -rf "$dir/run"
run bash -c 'ulimit -f 64; trap "" XFSZ; exec "$@"' - "$bin/train_mnist" --data "$dir/digits" --out "$dir/run" --epochs 1
check 'a full disk: weights that are lost are a failure' refused 'step-58/model-00001-of-00001.safetensors: File too large'
check '... and nothing half-written is left' [ "$(cd "$dir/run" && echo *)" = 'metrics.csv run.conf run.json' ]

# A run that would take hours is stopped as soon as the row of its first epoch is there.
rm -rf "$dir/run"
(cd "$dir" && exec "$bin/train_mnist" --data "$dir/digits" --out "$dir/run" --epochs 100000 --hidden 16 --threads 1) >"$dir/out" 2>"$dir/log" &
child=$!
for _ in $(seq 300); do
    [ "$(cat "$dir/run/metrics.csv" 2>/dev/null | wc -l)" -ge 3 ] && break
    sleep 0.1
done
kill -TERM $child # bash lets children in the background ignore INT
wait $child
status=$?
check 'stopped: 128 + the signal' [ $status = 143 ]
check '... says where it stopped' said 'stopped after step'
check '... in run.json too' grep -q '"status":.*"stopped"' "$dir/run/run.json"
check '... names the file' grep -q "$dir/run/metrics.csv" "$dir/out"
check '... whose rows are whole' eval 'awk -F, "NF != 12 { exit 1 }" "$dir/run/metrics.csv" && [ -z "$(tail -c 1 "$dir/run/metrics.csv")" ]'
check '... and nothing half-written' eval '[ -z "$(find "$dir/run" -name "*.tmp")" ]'

train --bogus
check 'an unknown flag' refused "unrecognized option '--bogus'"
train --epochs 0
check 'no epochs' refused "--epochs: '0' is not a whole number from 1"
train --hidden 10,x
check 'hidden layers that are not numbers' refused "--hidden: '10,x' is not one or two widths"
train --hidden 1,2,3
check 'three hidden layers' refused "--hidden: '1,2,3' is not one or two widths"
train --optimizer sgd --lr 1e3
check 'a rate that blows up' refused '--lr 1000 is too large'
check '... says in which step' said 'the loss is'
run bash -c '"$@" 2>&1' - "$bin/train_mnist" --data "$dir/digits" --out "$dir/run" --overwrite --optimizer sgd --lr 1e3
check '... below the head of the table, in a log too' eval 'grep -q "is too large" <<<"$(last)"'
make -s -C "$root" FLAVOUR=asan build/asan/bin/train_mnist >"$dir/out" 2>"$dir/log"
run "$root/build/asan/bin/train_mnist" --data "$dir/digits" --out "$dir/run" --overwrite --optimizer sgd --lr 1e3
check 'the debug flavour names the first op that was not finite' refused 'the first result that was not finite: '
train --optimizer sgdd
check 'an unknown optimizer' refused '--optimizer: there is no optimizer "sgdd": use one of sgd,'
train --schedule cosin
check 'an unknown schedule' refused '--schedule: there is no schedule "cosin": use one of constant,'
train --workers 1000
check 'too many workers' refused "--workers: '1000'"
train here
check 'a stray word' refused "unexpected argument 'here'"
rm -rf "$dir/run"
run env MT_DATA="$dir/nothing" "$bin/train_mnist" --out "$dir/run"
check 'no data: says what to run, makes nothing' eval 'refused "run datasets/fetch mnist" && [ ! -e "$dir/run" ]'
: >"$dir/file"
run "$bin/train_mnist" --data "$dir/digits" --out "$dir/file"
check 'an output folder that is a file' refused 'a file has that name'

mkdir -p "$dir/cache/mnist" && cp -r "$dir/digits" "$dir/cache/standin"
run env MT_DATA="$dir/cache" "$bin/train_mnist" --out "$dir/run" --epochs 1
check 'stand-in digits serve when there is no MNIST, and it says so' \
    eval '[ $status = 0 ] && grep -q "^MNIST is not here (datasets/fetch mnist)" "$dir/out" && grep -q "data=standin$" <<<"$(last)"'

cp -r "$dir/digits" "$dir/dots"
for file in "$dir"/dots/*-idx*; do mv "$file" "${file/-idx/.idx}"; done
run "$bin/train_mnist" --data "$dir/dots" --out "$dir/dotted" --epochs 1 --hidden 8 -q
check 'files named train-images.idx3-ubyte' [ $status = 0 ]
gzip "$dir"/dots/train-labels.idx1-ubyte
run "$bin/train_mnist" --data "$dir/dots" --out "$dir/dotted" --epochs 1 --hidden 8 -q --overwrite
check '... gzipped' refused 'train-labels.idx1-ubyte.gz exists: run gunzip on it'
cp -r "$dir/digits" "$dir/page"
echo '<!DOCTYPE html><html><body>404</body></html>' >"$dir/page/train-images-idx3-ubyte"
run "$bin/train_mnist" --data "$dir/page"
check 'a page in the place of a file' refused 'train-images-idx3-ubyte: offset 0: this is an HTML page'
cp -r "$dir/digits" "$dir/bad"
gzip "$dir/bad/train-images-idx3-ubyte"
run "$bin/train_mnist" --data "$dir/bad"
check 'gzipped files' refused 'run gunzip on it'
mv "$dir/bad/train-images-idx3-ubyte.gz" "$dir/bad/train-images-idx3-ubyte"
run "$bin/train_mnist" --data "$dir/bad"
check '... under the plain name' refused 'offset 0: this is a gzip file'
head -c 1000000 "$dir/digits/train-images-idx3-ubyte" >"$dir/bad/train-images-idx3-ubyte"
run "$bin/train_mnist" --data "$dir/bad"
check 'a truncated file' refused 'train-images-idx3-ubyte: offset 1000000: the file ends'
cp "$dir/digits/t10k-images-idx3-ubyte" "$dir/bad/train-images-idx3-ubyte"
run "$bin/train_mnist" --data "$dir/bad"
check 'images and labels that do not belong together' refused '4000 labels, but'
by_hand() { run "$bin/mnist_by_hand" --data "$dir/$1" --hidden 16 --epochs 1 "${@:2}"; }
by_hand digits
check 'by hand: learns' eval '[ $status = 0 ] && last | awk -F"[= ]" "{ exit !(\$3 > 0.3) }"'
by_hand digits --lr 1000 --hidden 256,128
check '... a rate that blows up' refused 'epoch 1: the loss is'
by_hand digits --epochs 0
check '... no epochs' refused "--epochs: '0' is not a whole number"
run env MT_DATA="$dir/cache" "$bin/mnist_by_hand" --epochs 1 --hidden 16
check '... on what datasets/fetch brought, and says which' eval '[ $status = 0 ] && grep -q " data=standin$" <<<"$(last)"'
for hidden in 256x128 256, '256 128' 256,0 256,128,64; do
    by_hand digits --hidden "$hidden"
    check "... no hidden layers: $hidden" refused "--hidden: '$hidden' is not one or two widths"
done
by_hand nonesuch
check '... no data: says what to run' refused 'run datasets/fetch mnist'
cp "$dir/digits/train-images-idx3-ubyte" "$dir/bad/"
(printf '\0\0\10\3\0\0\3\350\0\0\0\50\0\0\0\50' && head -c $((1000 * 40 * 40)) /dev/zero) >"$dir/bad/t10k-images-idx3-ubyte"
cp "$dir/digits/t10k-labels-idx1-ubyte" "$dir/bad/"
by_hand bad
check '... test images of another size than those it trains on' refused 'test images of 1600 pixels, training images of 784'
run "$bin/train_mnist" --data "$dir/bad"
check '... train_mnist says so too' refused 'test images of 1600 pixels, training images of 784'

check 'no run was begun with bad data' [ ! -e "$dir/build" ]

finish train_mnist
