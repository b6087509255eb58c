#!/usr/bin/env bash
# output: a program whose standard output cannot be written, or whose files become larger than `ulimit -f` allows, says so and
# fails; what it saves is saved.
. "$(dirname "$0")/../../.ci/check.bash"
programs=$(cd "$root/minitorch/apps" && grep -l argp\\\|mt_option -- *.c | sed 's/\.c$//') # those that have options
make -s -C "$root" $(printf 'build/release/bin/%s ' $programs) >/dev/null || exit 1
# fails WORDS COMMAND...: status 1 to 127, which no signal has, and these words on standard error.
fails() {
    local rc
    "${@:2}" 2>"$dir/log" && rc=0 || rc=$?
    [ $rc -gt 0 ] && [ $rc -lt 128 ] && grep -qE -- "$1" "$dir/log" && ok || bad "exit $rc: ${*:2}"
}
for program in $programs; do fails "^$program: standard output: No space left on device$" "$bin/$program" --help >/dev/full; done

seq 2000 >"$dir/text"
train=("$bin/train_gpt2" --data "$dir/text" --layers 1 --heads 1 --width 8 --block 8 --batch 4 --steps 4 --eval-every 2 --eval-batches 1 -q)
fails 'standard output: ' "${train[@]}" -o "$dir/full" >/dev/full
"$bin/evaluate" "$dir/full" --data "$dir/text" >"$dir/log" 2>&1 && grep -q '^evaluate: step=' "$dir/log" && ok || bad "what it saved"
fails 'standard output: ' "$bin/evaluate" "$dir/full" --data "$dir/text" >/dev/full
fails 'standard output: ' "$bin/generate" -r "$dir/full" -n 5 >/dev/full
fails 'standard output: ' "${train[@]}" --plan >/dev/full
(trap '' PIPE && fails 'standard output: ' "$bin/make_digits" --help >&- && exit $((failed > 0))) && ok || bad "a closed standard output"
limited() { (ulimit -f 4 && exec "$@"); } # KiB
fails 'File too large|could not be written' limited "${train[@]}" --width 64 -o "$dir/small" >/dev/null
fails 'File too large|could not be written' limited "$bin/tokenize" --train 300 --save "$dir/vocab" -o "$dir/tokens" "$dir/text"
fails 'File too large|could not be written' limited "$bin/make_digits" --out "$dir/digits" --train 100 --test 10
fails 'File too large|could not be written' limited "$bin/generate" -r "$dir/full" --export "$dir/weights.safetensors"
finish output
