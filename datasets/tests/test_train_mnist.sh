#!/bin/bash
# test_train_mnist.sh -- make_digits and train_mnist from the command line, on a small set of stand-in digits.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${MT_BIN:-$root/build/release/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
export OMP_WAIT_POLICY=passive # other programs may be busy here; waiting threads must not take their cores

ok()
{
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n  exit %s\n%s\n' "$name" "$status" "$(sed 's/^/  | /' "$work/out" "$work/err")"
    fi
}
run()     { (cd "$work" && env -u MT_DATA "$@") >"$work/out" 2>"$work/err"; status=$?; }
said()    { grep -qF -- "$1" "$work/err"; }
last()    { tail -n 1 "$work/out"; }
refused() { [ $status != 0 ] && [ $status -lt 128 ] && said "$1"; } # in words, not by a signal
train()   { run "$bin/train_mnist" --data "$work/digits" --out "$work/run" "$@"; }
results() { cut -d, -f1-4 "$work/run/metrics.csv"; } # without the seconds

[ -x "$bin/train_mnist" ] || { echo "$bin/train_mnist is missing: run make first"; echo '0 passed, 1 failed'; exit 1; }

run "$bin/make_digits" --out "$work/digits" --train 4000 --test 1000
ok 'make_digits draws' [ $status = 0 ]
run "$bin/make_digits" --out "$work/again" --train 4000 --test 1000
ok 'the same seed draws the same' diff -rq "$work/digits" "$work/again"
run env OMP_NUM_THREADS=1 "$bin/make_digits" --out "$work/again" --train 4000 --test 1000
ok '... whatever the threads' diff -rq "$work/digits" "$work/again"
run "$bin/make_digits" --out "$work/again" --train 4000 --test 1000 --seed 2
ok 'another seed draws others' eval '! cmp -s "$work/digits/train-images-idx3-ubyte" "$work/again/train-images-idx3-ubyte"'
run "$bin/make_digits" --out /proc/nonesuch
ok 'make_digits: an unwritable folder' refused 'cannot make the folder'

train --epochs 3 --threads 1
cp "$work/run/metrics.csv" "$work/one.csv"
results >"$work/one"
ok 'trains' [ $status = 0 ]
ok 'better than guessing by far' eval 'awk -F, "END { exit !(\$4 > 0.7) }" "$work/one.csv"'
ok 'a row for every epoch' [ "$(wc -l <"$work/one.csv")" = 4 ]
ok 'the last line is for machines' eval 'grep -qE "^train_mnist: test_accuracy=0\.[0-9]{4} epochs=3 seconds=[0-9.]+ epoch_seconds=[0-9.]+ data=digits$" <<<"$(last)"'
matrix=$(awk 'NF == 11 && $1 ~ /^[0-9]$/ { for (i = 2; i <= NF; i++) n += $i; rows++ } END { print rows, n }' "$work/out")
ok 'the confusion matrix counts every test image' [ "$matrix" = '10 1000' ]
right=$(awk 'NF == 11 && $1 ~ /^[0-9]$/ { n += $($1 + 2) } END { printf "%.4f", n / 1000 }' "$work/out")
ok 'the accuracy is that of the confusion matrix' eval 'grep -q "test_accuracy=$right " <<<"$(last)"'
best=$(awk -F, 'NR > 1 && $4 > most { most = $4; epoch = $1 } END { print epoch, 100 * most }' "$work/one.csv")
ok 'the best weights are those of the best validation' grep -qE "^The best weights are those of epoch ${best% *} \(validation accuracy ${best#* }0* %\), in $work/run/step-$((58 * ${best% *}))$" "$work/out"
ok 'run.json says with what, and how it ended' python3 -c "
import json, sys
run = json.load(open('$work/run/run.json'))
assert run['status'] == 'done' and run['result'] == {'test_accuracy': $right} and run['seconds'] > 0, run
assert run['settings']['seed'] == '1' and run['settings']['program'] == 'train_mnist' and run['values']['step'] == '174', run
assert run['machine']['threads'] == 1 and run['started'].endswith('Z') and run['compiler'], run"
cp -r "$work/run" "$work/one-run"
accuracy=$(last)
run "$bin/evaluate" "$work/run" --data "$work/digits"
ok 'evaluate: the same accuracy and matrix from the checkpoint' eval 'grep -q "^evaluate: step=$((58 * ${best% *})) loss=.* accuracy=$right data=digits$" <<<"$(last)"'
run "$bin/evaluate" "$work/run" --data "$work/digits" --step 58
ok 'evaluate: another checkpoint' eval 'grep -q "^evaluate: step=58 " <<<"$(last)" || refused "checkpoints in $work/run: "'
if command -v gnuplot >/dev/null; then
    ok 'a curve' grep -q '<svg' "$work/run/curve.svg"
fi
train --epochs 3 --threads 2
ok 'the same bits with two threads' eval 'results | cmp -s - "$work/one"'
train --epochs 3 --threads 2 --seed 2
ok 'another seed, another run' eval '! results | cmp -s - "$work/one"'
for workers in 1 4; do
    train --epochs 3 --workers $workers --prefetch 3
    ok "the same bits with $workers workers" eval 'results | cmp -s - "$work/one"'
done
ok 'checkpoints of the same bits' diff -r "$work/run/step-174" "$work/one-run/step-174"
(cd "$work" && exec "$bin/train_mnist" --data "$work/digits" --out "$work/broken" --epochs 3 --quiet --save-every 5 --async-save --threads 1) >"$work/out" 2>"$work/err" &
child=$!
until [ "$(cat "$work/broken/metrics.csv" 2>/dev/null | wc -l)" -ge 2 ]; do sleep 0.01; done
kill -9 $child
wait $child 2>/dev/null
ok 'run.json of a run that was killed' grep -q '"status":.*"running"' "$work/broken/run.json"
run "$bin/train_mnist" --data "$work/digits" --out "$work/broken" --epochs 3 --workers 4 --resume
ok 'killed in the middle of a checkpoint or not, it resumes' eval '[ $status = 0 ] && grep -qE "^Continuing from $work/broken/step-[0-9]+$" "$work/out"'
ok '... to the same bits' eval 'diff -r "$work/broken/step-174" "$work/one-run/step-174" && diff "$work/one" <(cut -d, -f1-4 "$work/broken/metrics.csv")'
run "$bin/train_mnist" --data "$work/digits" --out "$work/broken" --epochs 3 --resume
ok '... again, when all is done' eval '[ "${accuracy%% epochs*}" = "$(last | sed "s/ epochs.*//")" ]'
run "$bin/train_mnist" --data "$work/digits" --out "$work/broken" --epochs 3 --hidden 256,64 --resume
ok '... not with another model' refused 'with width 2 128, not 64; --resume needs the flags of the run that it continues'
run "$bin/train_mnist" --data "$work/digits" --out "$work/broken" --epochs 3 --dtype bf16 --resume
ok '... not in another type' refused 'with dtype f32, not bf16'
seq 9999 >"$work/text"
run "$bin/train_gpt2" --data "$work/text" --out "$work/broken" --resume
ok '... not as another program' refused 'with program train_mnist, not train_gpt2'
run "$bin/generate" --run "$work/broken"
ok '... which has no vocabulary' refused 'vocab.bpe'
run "$bin/evaluate" "$work/none"
ok 'evaluate: no folder' refused "$work/none: No such file or directory"
train --epochs 9 --lr 1e-9 --min-delta 0.9 --patience 2 --hidden 16
ok 'ends early, without a better evaluation' eval 'grep -q " epochs=3 " <<<"$(last)" && [ "$(cut -d, -f1 "$work/run/metrics.csv" | paste -sd" ")" = "epoch 1 2 3" ]'
train --epochs 2 --hold-out 0 --hidden 16
ok 'without validation the last weights are tested' eval '[ $status = 0 ] && [ "$(head -1 "$work/run/metrics.csv")" = epoch,loss,seconds,loss_scale ] && ! grep -q "best weights" "$work/out" && [ ! -s "$work/err" ]'
train --hold-out 4000
ok 'no image left to train with' refused '--hold-out: there are 4000 training images'
for optimizer in sgd momentum rmsprop adam adamw lion adafactor; do
    train --epochs 3 --optimizer $optimizer --threads 1
    ok "learns with $optimizer" eval 'last | awk -F"[= ]" "{ exit !(\$3 > 0.7) }"'
done
for schedule in constant cosine step exponential triangular; do
    train --epochs 2 --schedule $schedule --warmup 10 --clip 1 --weight-decay 0.01 --hidden 32
    ok "learns with the schedule $schedule" eval '[ $status = 0 ] && last | awk -F"[= ]" "{ exit !(\$3 > 0.5) }"'
done
train --epochs 3 --eval-every 2 --hidden 16
ok 'tests every two epochs, and at the end' [ "$(cut -d, -f1 "$work/run/metrics.csv" | paste -sd' ')" = 'epoch 2 3' ]
train --epochs 1 --eval-steps 29 --hidden 16 # of 58
ok 'tests within an epoch' [ "$(cut -d, -f1 "$work/run/metrics.csv" | paste -sd' ')" = 'epoch 0.5 1' ]
train --epochs 1 --hidden 16 --trace --workers 2
ok 'a recording, and the command that reads it' grep -qx "The profile is recorded in $work/run/spans.bin; to read it: $bin/profile $work/run" "$work/out"
run "$bin/profile" "$work/run"
ok 'a profile: ops, loader and optimizer, MFU' eval 'for line in "linear backward" "load batch" "next batch" "adam step" "(MFU)"; do
    grep -qF "$line" "$work/run/summary.txt" || return 1; done && grep -q "<svg" "$work/run/timeline.svg"'
ok '... a trace that programs can read, with the workers in it' eval 'python3 -c "
import json; events = json.load(open(\"$work/run/trace.json\"))[\"traceEvents\"]
names = {str(e.get(\"args\", {}).get(\"name\")) for e in events if e[\"ph\"] == \"M\"}
assert any(n.startswith(\"loader\") for n in names), names"'
train --epochs 1 --hidden 32 --batch 4001
ok 'one hidden layer, and a batch larger than the set' [ $status = 0 ]

run "$bin/converge" --data "$work/digits" --epochs 2 --every 21 --svg "$work/converge.svg"
ok 'converge: parameters and state are 1x, 2x, 2x, 3x' [ "$(awk '/x$/ { print $NF }' "$work/out" | paste -sd' ')" = '1.000x 2.000x 2.000x 3.000x' ]
ok '... every loss falls, and the points are there' eval 'awk -F, "NR == 2 { split(\$0, first) }
    END { for (i = 2; i <= 5; i++) if (\$i >= first[i]) exit 1; exit NR != 7 }" "$work/build/bench/converge.csv"'
rm -rf "$work/build"
run "$bin/converge" --data "$work/digits" --csv /proc/nonesuch/x.csv
ok '... an unwritable file is known before training' refused '/proc/nonesuch/x.csv'

mkdir "$work/tools"
run env PATH="$work/tools" "$bin/train_mnist" --data "$work/digits" --out "$work/run" --epochs 2
ok 'no gnuplot: says how to get it, and goes on' eval '[ $status = 0 ] && grep -q "apt install gnuplot-nox" "$work/out"'

printf '#!/bin/bash\ncat >/dev/null\ncp "$0.run/spans.bin" "$0.spans"\n' >"$work/tools/gnuplot"
chmod +x "$work/tools/gnuplot"
run env PATH="$work/tools:$PATH" "$bin/train_mnist" --data "$work/digits" --out "$work/tools/gnuplot.run" --epochs 2 --hidden 16 --trace
ok 'the time that drawing the curve takes is not in the profile' cmp "$work/tools/gnuplot.spans" "$work/tools/gnuplot.run/spans.bin"

rm -rf "$work/run"
run bash -c 'ulimit -f 64; trap "" XFSZ; exec "$@"' - "$bin/train_mnist" --data "$work/digits" --out "$work/run" --epochs 1
ok 'a full disk: weights that are lost are a failure' refused 'step-58/model-00001-of-00001.safetensors: File too large'
ok '... and nothing half-written is left' [ "$(cd "$work/run" && echo *)" = 'metrics.csv run.json' ]

# A run that would take hours is stopped as soon as its first row is there.
rm -rf "$work/run"
(cd "$work" && exec "$bin/train_mnist" --data "$work/digits" --out "$work/run" --epochs 100000 --hidden 16 --threads 1) >"$work/out" 2>"$work/err" &
child=$!
for _ in $(seq 300); do
    [ "$(cat "$work/run/metrics.csv" 2>/dev/null | wc -l)" -ge 2 ] && break
    sleep 0.1
done
kill -TERM $child # bash lets children in the background ignore INT
wait $child
status=$?
ok 'stopped: 128 + the signal' [ $status = 143 ]
ok '... says where it stopped' said 'stopped after step'
ok '... in run.json too' grep -q '"status":.*"stopped"' "$work/run/run.json"
ok '... names the file' grep -q "$work/run/metrics.csv" "$work/out"
ok '... whose rows are whole' eval 'awk -F, "NF != 6 { exit 1 }" "$work/run/metrics.csv" && [ -z "$(tail -c 1 "$work/run/metrics.csv")" ]'
ok '... and nothing half-written' eval '[ -z "$(find "$work/run" -name "*.tmp")" ]'

train --bogus
ok 'an unknown flag' refused "unrecognized option '--bogus'"
train --epochs 0
ok 'no epochs' refused "--epochs: '0' is not a whole number from 1"
train --hidden 10,x
ok 'hidden layers that are no numbers' refused "--hidden: '10,x' is not one or two widths"
train --hidden 1,2,3
ok 'three hidden layers' refused "--hidden: '1,2,3' is not one or two widths"
train --optimizer sgd --lr 1e3
ok 'a rate that blows up' refused '--lr 1000 is too large'
ok '... says in which step' said 'the loss is'
run bash -c '"$@" 2>&1' - "$bin/train_mnist" --data "$work/digits" --out "$work/run" --optimizer sgd --lr 1e3
ok '... below the head of the table, in a log too' eval 'grep -q "is too large" <<<"$(last)"'
make -s -C "$root" FLAVOUR=asan build/asan/bin/train_mnist >"$work/out" 2>"$work/err"
run "$root/build/asan/bin/train_mnist" --data "$work/digits" --out "$work/run" --optimizer sgd --lr 1e3
ok 'the debug flavour names the first op that was not finite' refused 'the first result that was not finite: '
train --optimizer sgdd
ok 'an unknown optimizer' refused '--optimizer: there is no optimizer "sgdd": use one of sgd,'
train --schedule cosin
ok 'an unknown schedule' refused '--schedule: there is no schedule "cosin": use one of constant,'
train --workers 1000
ok 'too many workers' refused "--workers: '1000'"
train here
ok 'a stray word' refused "unexpected argument 'here'"
rm -rf "$work/run"
run "$bin/train_mnist" --out "$work/run"
ok 'no data: says what to run, makes nothing' eval 'refused "run datasets/fetch mnist" && [ ! -e "$work/run" ]'
: >"$work/file"
run "$bin/train_mnist" --data "$work/digits" --out "$work/file"
ok 'an output folder that is a file' refused 'a file has that name'

mkdir -p "$work/cache/mnist" && cp -r "$work/digits" "$work/cache/standin"
run env MT_DATA="$work/cache" "$bin/train_mnist" --out "$work/run" --epochs 1
ok 'stand-in digits serve when there is no MNIST, and it says so' \
    eval '[ $status = 0 ] && grep -q "^MNIST is not here (datasets/fetch mnist)" "$work/out" && grep -q "data=standin$" <<<"$(last)"'

cp -r "$work/digits" "$work/bad"
gzip "$work/bad/train-images-idx3-ubyte"
run "$bin/train_mnist" --data "$work/bad"
ok 'gzipped files' refused 'run gunzip on it'
mv "$work/bad/train-images-idx3-ubyte.gz" "$work/bad/train-images-idx3-ubyte"
run "$bin/train_mnist" --data "$work/bad"
ok '... under the plain name' refused 'offset 0: this is a gzip file'
head -c 1000000 "$work/digits/train-images-idx3-ubyte" >"$work/bad/train-images-idx3-ubyte"
run "$bin/train_mnist" --data "$work/bad"
ok 'a truncated file' refused 'train-images-idx3-ubyte: offset 1000000: the file ends'
cp "$work/digits/t10k-images-idx3-ubyte" "$work/bad/train-images-idx3-ubyte"
run "$bin/train_mnist" --data "$work/bad"
ok 'images and labels that do not belong together' refused '4000 labels, but'
by_hand() { run "$bin/mnist_by_hand" --data "$work/$1" --hidden 16 --epochs 1 "${@:2}"; }
by_hand digits
ok 'by hand: learns' eval '[ $status = 0 ] && last | awk -F"[= ]" "{ exit !(\$3 > 0.3) }"'
by_hand digits --lr 1000 --hidden 256,128
ok '... a rate that blows up' refused 'epoch 1: the loss is'
by_hand digits --epochs 0
ok '... no epochs' refused "--epochs: '0' is not a whole number"
run env MT_DATA="$work/cache" "$bin/mnist_by_hand" --epochs 1 --hidden 16
ok '... on what datasets/fetch brought, and says which' eval '[ $status = 0 ] && grep -q " data=standin$" <<<"$(last)"'
for hidden in 256x128 256, '256 128' 256,0 256,128,64; do
    by_hand digits --hidden "$hidden"
    ok "... no hidden layers: $hidden" refused "--hidden: '$hidden' is not one or two widths"
done
by_hand nonesuch
ok '... no data: says what to run' refused 'run datasets/fetch mnist'
cp "$work/digits/train-images-idx3-ubyte" "$work/bad/"
(printf '\0\0\10\3\0\0\3\350\0\0\0\50\0\0\0\50' && head -c $((1000 * 40 * 40)) /dev/zero) >"$work/bad/t10k-images-idx3-ubyte"
cp "$work/digits/t10k-labels-idx1-ubyte" "$work/bad/"
by_hand bad
ok '... test images of another size than those it trains on' refused 'test images of 1600 pixels, training images of 784'
run "$bin/train_mnist" --data "$work/bad"
ok '... train_mnist says so too' refused 'test images of 1600 pixels, training images of 784'

ok 'no run was begun with bad data' [ ! -e "$work/build" ]

echo "$passed passed, $failed failed"
[ $failed = 0 ]
