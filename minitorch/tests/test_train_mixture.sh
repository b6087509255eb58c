#!/usr/bin/env bash
# train_mixture: train_gpt2 on several files, with weights and with a file for validation: resumed with the same bits, on ranks too, and
# not with another share.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,generate,evaluate} >/dev/null || exit 1
seq 3000 >"$dir/up" && seq 3000 -1 1 >"$dir/down" && seq 5000 5400 >"$dir/other"
flags=(--layers 2 --heads 2 --width 16 --block 8 --batch 6 --warmup 2 --steps 20 --eval-every 10 --eval-batches 2 --keep 0 -q)
run() { "$bin/train_gpt2" "${flags[@]}" "${@:2}" -o "$dir/$1" >"$dir/log" 2>&1; }
same() { cmp "$dir/$1/step-20/model-00001-of-00001.safetensors" "$dir/$2/step-20/model-00001-of-00001.safetensors"; }
said() { grep -qF -- "$1" "$dir/log" && ok || bad "not \"$1\": $(tail -1 "$dir/log")"; }
size=$(($(wc -c <"$dir/up") + $(wc -c <"$dir/down")))
mix=(--data "$dir/up=3,$dir/down=1" --valid "$dir/other")
run whole "${mix[@]}" && said "$dir/up=3,$dir/down=1: $((size + $(wc -c <"$dir/other"))) tokens, $size of them to learn from"
run lengths --data "$dir/up,$dir/down" --valid "$dir/other" && ! same whole lengths >/dev/null && ok || bad "weights change nothing"
cp -r "$dir/whole" "$dir/broken" && rm -r "$dir/broken/step-20" && run broken "${mix[@]}" --resume && same whole broken && ok || bad "resumed: $(tail -1 "$dir/log")"
run broken --data "$dir/up=2,$dir/down=1" --valid "$dir/other" --resume && bad "resumed with another share" || said 'text weight 1'
run broken --data "$dir/up=3,$dir/other=1" --valid "$dir/down" --resume && bad "resumed with other files" || said 'checksum'
run ranks "${mix[@]}" --ranks 2 && cmp <(cut -d, -f1-2 "$dir/whole/metrics.csv" | tail -n +2 | cut -c1-7) <(cut -d, -f1-2 "$dir/ranks/metrics.csv" | tail -n +2 | cut -c1-7) && ok || bad "two ranks: $(tail -1 "$dir/log")"
"$bin/generate" -r "$dir/whole" -n 20 >"$dir/log" 2>&1 && ok || bad "generate: $(tail -1 "$dir/log")"
# evaluate reads what the run has not learned from: the file for validation, or the end of each file.
"$bin/evaluate" "$dir/whole" >"$dir/log" 2>&1 && said " tokens=$(($(wc -c <"$dir/other") - 1)) data=$dir/other"
run ends --data "$dir/up,$dir/down" && "$bin/evaluate" "$dir/ends" >"$dir/log" 2>&1 && said " tokens=$((2 * (size / 2 - size / 2 * 9 / 10 - 1))) "
run wrong --data "$dir/up=3,$dir/none" && bad "a file that is not there" || said "$dir/none: No such file"
run wrong --data "$dir/up" --valid "$dir/none" && bad "a file that is not there" || said "$dir/none: No such file"
finish train_mixture
