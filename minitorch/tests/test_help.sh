#!/usr/bin/env bash
# help: the defaults in --help are those of a run without options, as its run.json says, and the page of all options agrees with --help.
. "$(dirname "$0")/../../.ci/check.bash"
programs=$(cd "$root/minitorch/apps" && grep -l argp\\\|mt_option -- *.c | sed 's/\.c$//') # those that have options
make -s -C "$root" $(printf 'build/release/bin/%s ' $programs) >/dev/null || exit 1
# default PROGRAM OPTION: what --help says, an option a line.
help() { ARGP_HELP_FMT=rmargin=1000 "$bin/$1" --help; }
default() { help "$1" | sed -nE "s/^ *(-., )?--$2=.*\(default: ([^()]*)\)$/\2/p"; }
for program in $programs; do
    help "$program" >"$dir/log" 2>&1 || bad "$program --help"
    grep -qE 'default.*default|; default' "$dir/log" && bad "$program: $(grep -m1 -E 'default.*default|; default' "$dir/log")" || ok
done
# same PROGRAM RUN_JSON FLAG...: each setting and number of the run that has an option's name has its default, but for these flags.
same() {
    local name value said compared=0
    while IFS=$'\t' read -r name value; do
        [[ " ${*:3} " == *" --$name "* ]] && continue
        said=$(default "$1" "$name")
        [[ $said =~ ^[0-9.e-]+$ ]] || [ "$said" = "$value" ] || continue # words
        awk -v a="$said" -v b="$value" 'BEGIN { exit !(a == b) }' && ok || bad "$1 --$name: --help says $said, the run has $value"
        compared=$((compared + 1))
    done < <(python3 -c 'import json, sys; run = json.load(open(sys.argv[1]))
for part in ("settings", "values"):
    for name, value in run[part].items(): print(name, value, sep="\t")' "$2")
    [ $compared -ge "${same_least:-10}" ] && ok || bad "$1: only $compared options were compared"
}
seq 3000 >"$dir/text"
small=(--layers 1 --heads 1 --width 8 --block 8 --steps 1 --eval-batches 1 -q)
"$bin/train_gpt2" "${small[@]}" --data "$dir/text" -o "$dir/gpt2" >"$dir/log" 2>&1 || bad "train_gpt2: $(tail -1 "$dir/log")"
same train_gpt2 "$dir/gpt2/run.json" "${small[@]}"
for pair in clip:1 warmup:100 lr-min:0.0001 lr:0.002 weight-decay:0.1 optimizer:adamw schedule:cosine dtype:f32 out:build/run/gpt2; do
    [ "$(default train_gpt2 ${pair%%:*})" = "${pair#*:}" ] && ok || bad "--${pair%%:*}: $(default train_gpt2 ${pair%%:*})"
done
"$bin/make_digits" --out "$dir/digits" --train 120 --test 10 >/dev/null
"$bin/train_mnist" --data "$dir/digits" --epochs 1 --hidden 8 -q -o "$dir/mnist" >"$dir/log" 2>&1 || bad "train_mnist: $(tail -1 "$dir/log")"
same_least=9 same train_mnist "$dir/mnist/run.json" --hidden --epochs
[ "$(default train_mnist ema)" = 0.999 ] && [ "$(default train_mnist optimizer)" = adam ] && ok || bad "train_mnist: $(default train_mnist ema)"
[ "$(default train_mnist lr)" = 'one that suits the optimizer' ] && ok || bad "words in the place of 0"
if [ -e "$root/docs/OPTIONS.md" ] && [[ $(help train_gpt2) == *" mpi, "* ]]; then # a build without MPI has fewer engines
    check "docs/OPTIONS.md has the options of train_gpt2" "$root/grader/tools/options.sh" "$root/build/release" --check
fi
finish help
