#!/usr/bin/env bash
# train_config: a file of options does what the command line does, the command line overrides it, and a run's own file repeats the
# run, whatever kind its options are. A line that is wrong is named with its file and number.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,train_mnist,make_digits} >/dev/null || exit 1
seq 3000 >"$dir/text"
run() { "$bin/train_gpt2" "${@:2}" -o "$dir/$1" >"$dir/log" 2>&1; }
same() { cmp "$dir/$1"/step-10/model-00001-of-00001.safetensors "$dir/$2"/step-10/model-00001-of-00001.safetensors; }
flags=(--data "$dir/text" --layers 2 --heads 2 --width 16 --block 8 -b 6 --micro-batches 2 --warmup=2 --steps 10 --eval-every 10 --eval-batches 1 -q)
flags+=(--recompute selective --optimizer lion --schedule wsd --lr 2e-4 --keep 1)
run line "${flags[@]}" && ok || bad "a plain run: $(tail -1 "$dir/log")"
cat >"$dir/mine.conf" <<END
# a run of the test
data = $dir/text
layers=2
heads   2
 width = 16
block = 8$(printf ' \t\r')
batch = 6
micro-batches = 2

warmup = 2
steps = 10
eval-every = 10
eval-batches = 1
quiet
recompute = selective
optimizer = lion
schedule = wsd
lr = 2e-4
keep = 1
END
run file --config "$dir/mine.conf" && same line file && ok || bad "the file: $(tail -1 "$dir/log")"
run over --lr 1e-3 --config "$dir/mine.conf" --seed 2 && run direct "${flags[@]}" --lr 1e-3 --seed 2 && same over direct && ! same line over >/dev/null && ok || bad "the command line does not override the file"
head -c -1 "$dir/mine.conf" >"$dir/no-end.conf" && echo 'lr = 1e-3' >"$dir/more.conf"
run two --config "$dir/no-end.conf" --config "$dir/more.conf" --seed 2 && same over two && ok || bad "two files: $(tail -1 "$dir/log")"

# What a run writes.
run again --config "$dir/over/run.conf" && same over again && ok || bad "run.conf: $(tail -1 "$dir/log")"
diff <(sed "s|$dir/over|$dir/again|" "$dir/over/run.conf") "$dir/again/run.conf" && ok || bad "run.conf of the repeated run"
grep -q '^quiet$' "$dir/over/run.conf" && grep -qx 'lr = 1e-3' "$dir/over/run.conf" && [ "$(grep -c . "$dir/over/run.conf")" -eq 20 ] && ok || bad "$(cat "$dir/over/run.conf")"
run over --config "$dir/over/run.conf" --steps 20 --resume && bad "resumed with other steps" || { grep -q 'the flags of the run' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"; }
"$bin/train_gpt2" --config "$dir/over/run.conf" --resume=auto >"$dir/log" 2>&1 && grep -qE '^(resume|config|overwrite)' "$dir/over/run.conf" && bad "how it began is in run.conf" || ok
"$bin/make_digits" --out "$dir/digits" --train 120 --test 10 >/dev/null
for flag in '--hidden 8' "--config $dir/mnist/run.conf"; do
    # shellcheck disable=SC2086
    "$bin/train_mnist" --data "$dir/digits" --epochs 1 -q --overwrite $flag -o "$dir/mnist" >"$dir/log" 2>&1 && grep -qx 'hidden = 8' "$dir/mnist/run.conf" && ok || bad "train_mnist $flag: $(tail -1 "$dir/log")"
done

# wrong LINE WORDS: the third line of a file.
wrong() {
    printf '# a comment\n\n%s\nlr = 1\n' "$1" >"$dir/wrong.conf"
    expect "$1" 64 "--config: $dir/wrong.conf: line 3: $2" "$bin/train_gpt2" --config "$dir/wrong.conf" --plan
}
wrong 'learning_rate = 6e-4' 'there is no option "learning_rate": --help lists them'
wrong 'lr = fast' "'fast' is not a number from"
wrong 'schedule = cosin' 'there is no schedule "cosin": use one of'
wrong 'quiet = yes' 'quiet takes no value'
wrong 'steps' 'steps needs a value: N'
wrong 'config = other.conf' 'config may stand on a command line only'
wrong 'How to learn:' 'there is no option "How"'
expect "no file" 64 "$dir/none.conf: No such file" "$bin/train_gpt2" --config "$dir/none.conf" --plan
finish train_config
