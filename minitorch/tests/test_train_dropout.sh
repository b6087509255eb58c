#!/usr/bin/env bash
# train_dropout: a run with --dropout continues with the masks of an unbroken one, has them where blocks are computed again, and ends
# in a checkpoint that other programs read; several ranks are refused.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,train_mnist,make_digits,generate} >/dev/null || exit 1
seq 3000 >"$dir/text"
flags=(--data "$dir/text" --layers 2 --heads 2 --width 16 --block 8 --batch 6 --micro-batches 2 --warmup 2 --steps 20 --eval-every 10 --eval-batches 1 --keep 0 -q)
run() { "$bin/train_gpt2" "${flags[@]}" "${@:2}" -o "$dir/$1" >"$dir/log" 2>&1; }
same() { cmp "$dir/$1/step-20/model-00001-of-00001.safetensors" "$dir/$2/step-20/model-00001-of-00001.safetensors"; }
run none && run zero --dropout 0 && same none zero && ok || bad "--dropout 0: $(tail -1 "$dir/log")"
run some --dropout 0.2 && ! same none some >/dev/null && ok || bad "--dropout 0.2: $(tail -1 "$dir/log")"
for how in block selective; do run $how --dropout 0.2 --recompute $how && same some $how && ok || bad "--recompute $how: $(tail -1 "$dir/log")"; done
cp -r "$dir/some" "$dir/broken" && rm -r "$dir/broken/step-20" && run broken --dropout 0.2 --resume && same some broken && ok || bad "resumed: $(tail -1 "$dir/log")"
cmp <(cut -d, -f1-4 "$dir/some/metrics.csv") <(cut -d, -f1-4 "$dir/broken/metrics.csv") && ok || bad "another curve after resuming"
run broken --dropout 0.1 --resume && bad "resumed with other dropout" || { grep -q dropout "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
"$bin/generate" -r "$dir/some" -n 20 >"$dir/log" 2>&1 && ok || bad "generate: $(tail -1 "$dir/log")"
run ranks --dropout 0.2 --ranks 2 && bad "two ranks" || { grep -q 'dropout draws a mask for the whole batch: use one rank' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
"$bin/make_digits" --out "$dir/digits" --train 240 --test 20 >/dev/null
digits() { "$bin/train_mnist" --data "$dir/digits" --hidden 16,8 --keep 0 -q "${@:2}" -o "$dir/$1" >"$dir/log" 2>&1; }
digits plain --epochs 2 && digits dropped --epochs 2 --dropout 0.5 && ! cmp -s "$dir"/{plain,dropped}/step-8/model-00001-of-00001.safetensors && ok || bad "train_mnist: $(tail -1 "$dir/log")"
cp -r "$dir/dropped" "$dir/again" && rm -r "$dir/again/step-8" && digits again --epochs 2 --dropout 0.5 --resume &&
    cmp "$dir"/{dropped,again}/step-8/model-00001-of-00001.safetensors && ok || bad "train_mnist resumed: $(ls "$dir/dropped") $(tail -1 "$dir/log")"
finish train_dropout
