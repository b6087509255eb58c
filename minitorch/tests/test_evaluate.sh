#!/usr/bin/env bash
# evaluate: it finds the data of a run from any folder, covers the whole validation part, and says when the data are not those of the
# run any more; multiple choice.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,train_mnist,tokenize,evaluate,make_digits} >/dev/null || exit 1
said() { grep -qF -- "$*" "$dir/log" && ok || bad "not \"$*\""; }
evaluate() { (cd / && "$bin/evaluate" "$@") >"$dir/log" 2>&1; }
refused() { evaluate "${@:2}" && bad "evaluated: ${*:2}" || { [ "$(grep -c . "$dir/log")" = 1 ] && said "$1"; }; }
value() { grep -oE "$1=[0-9.]+" "$dir/log" | cut -d= -f2; }

cd "$dir" || exit 1
seq 3000 >text
flags=(--layers 1 --heads 1 --width 8 --block 8 --batch 4 --warmup 5 --eval-batches 4 --steps 20 --eval-every 10 -q)
"$bin/train_gpt2" --data text "${flags[@]}" -o run >log 2>&1 && ok || bad "a run"
python3 - <<END && ok || bad "run.json: $(grep -A3 '"data"' run/run.json)"
import json, os
run = json.load(open("run/run.json"))
assert run["data"]["path"] == os.path.realpath("text") and len(run["data"]["checksum"]) == 8, run["data"]
assert run["data"]["checksum"] == run["settings"]["text checksum"] and len(run["vocabulary"]["checksum"]) == 8, run["vocabulary"]
END
# All characters of the last tenth but its first, of a byte each; perplexity and bits follow from the loss.
evaluate "$dir/run" && ok || bad "evaluate"
all=$(wc -c <text)
[ "$(value tokens)" = $((all - all * 9 / 10 - 1)) ] && said " data=$(realpath text)"
awk -v loss="$(value loss)" -v p="$(value perplexity)" -v bits="$(value bits_per_byte)" 'function off(a, b) { return a - b > 1e-4 || b - a > 1e-4 }
    BEGIN { exit !(loss > 0 && !off(p / exp(loss), 1) && !off(bits, loss / log(2))) }' && ok || bad "perplexity or bits"
loss=$(value loss)
for batch in 1 5 100; do evaluate "$dir/run" -b $batch && [ "$(value loss)" = "$loss" ] && ok || bad "-b $batch: not $loss"; done
evaluate "$dir/run" --windows 16 && [ "$(value tokens)" = 128 ] && [ "$(value loss)" != "$loss" ] && ok || bad "--windows"

# A token file needs no --vocab; another one is refused.
"$bin/tokenize" -q --train 270 --save words -o text.tokens text && "$bin/train_gpt2" --data text.tokens --vocab words "${flags[@]}" -o tokens >log 2>&1 && ok || bad "a run on tokens"
evaluate "$dir/tokens" && ok || bad "tokens"
loss=$(value loss)
evaluate "$dir/tokens" --data "$dir/text.tokens" --vocab "$dir/words" && [ "$(value loss)" = "$loss" ] && ok || bad "named data"
refused "its tokens are not those of the vocabulary in $dir/tokens: encode the text with it (tokenize -v $dir/tokens -o FILE TEXT)" "$dir/tokens" --data "$dir/text"

# Multiple choice: a model that learned one sentence knows how it goes on, and so finds the opposite endings wrong.
for _ in $(seq 400); do echo 'a cat sits on the mat; a dog lies in the hut'; done >animals
"$bin/train_gpt2" --data animals --layers 1 --heads 2 --width 32 --block 32 --batch 8 --warmup 5 --eval-batches 1 --steps 200 --eval-every 200 -q -o animals.run >log 2>&1 && ok || bad "animals"
choices() { printf '{"question": "a cat sits on the", "endings": [" mat", " hut"], "label": %d}\n{"question": "a dog lies in the", "endings": [" mat", " hut"], "label": %d}\n' "$1" "$2" >"$dir/questions"; }
choices 0 1 && evaluate "$dir/animals.run" --choices "$dir/questions" && said "questions=2 accuracy=1.0000 accuracy_per_byte=1.0000 chance=0.5000 data=$dir/questions"
choices 1 0 && evaluate "$dir/animals.run" --choices "$dir/questions" && said 'accuracy=0.0000 '
choices 1 2 && refused "$dir/questions: line 2: \"label\" must be the number of an ending" "$dir/animals.run" --choices "$dir/questions"
refused "$dir/none: No such file" "$dir/animals.run" --choices "$dir/none"

# What was changed since.
seq 3001 >text
refused "$(realpath text) has changed since the run; --data $(realpath text) takes it as it is now" "$dir/run"
evaluate "$dir/run" --data "$dir/text" && ok || bad "a longer text"
rm text
refused 'text, the data of the run, is not there any more; --data names other data' "$dir/run"
printf '\n' >>tokens/vocab.bpe
refused 'tokens/vocab.bpe is not the vocabulary of the run any more' "$dir/tokens"
seq 3000 >text
echo '{' >run/run.json
refused 'run/run.json: no JSON' "$dir/run"
rm run/run.json
evaluate "$dir/run" --data "$dir/text" && ok || bad "without run.json"

"$bin/make_digits" -o digits --train 400 --test 50 >log 2>&1
"$bin/train_mnist" --data digits --hidden 8 --epochs 1 -q -o mnist >log 2>&1 && ok || bad "digits"
evaluate "$dir/mnist" && said ' data=digits'
truncate -s +1 digits/t10k-images-idx3-ubyte
refused 'digits/t10k-images-idx3-ubyte has changed since the run; --data' "$dir/mnist"
refused 'is a run of train_mnist: --choices asks a model of train_gpt2' "$dir/mnist" --choices "$dir/questions"
finish evaluate
