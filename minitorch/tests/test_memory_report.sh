#!/usr/bin/env bash
# --memory-report of both training programs: the table and the files, training goes on as without it, and what cannot be
# written is told.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/{train_gpt2,train_mnist,memory,curve,profile,make_digits} >/dev/null || exit 1

for i in $(seq 400); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
flags=(--data "$dir/text" --layers 2 --heads 2 --width 32 --block 16 --batch 4 --steps 4 --eval-every 2 --eval-batches 2 -q)
"$bin/train_gpt2" "${flags[@]}" -o "$dir/plain" >"$dir/log" 2>&1 && ok || bad "plain: $(tail -1 "$dir/log")"
"$bin/train_gpt2" "${flags[@]}" -o "$dir/gpt2" --memory-report >"$dir/log" 2>&1 && ok || bad "gpt2: $(tail -1 "$dir/log")"
diff -r "$dir"/{plain,gpt2}/step-4 && ok || bad "the report changes the run"
# The peak of the account is that of the allocator, which the program prints with one digit.
awk '/^memory on cpu: at most/ { ours = $6 } /measured in the first step/ { theirs = $(NF - 1) }
    END { exit !(ours > 0 && ours - theirs < 0.051 && theirs - ours < 0.051) }' "$dir/log" && ok || bad "peaks: $(grep -E 'at most|measured' "$dir/log")"
awk '/^  (parameters|optimizer state|gradients|activations|other) .*%$/ { rows++; share += $(NF - 1) }
    END { exit !(rows == 5 && share > 99.7 && share < 100.3) }' <(sed '1,/^memory on cpu/d' "$dir/log") && ok || bad "shares: $(cat "$dir/log")"
for file in bin csv json pickle; do [ -s "$dir/gpt2/memory.$file" ] && ok || bad "no memory.$file"; done
if command -v gnuplot >/dev/null; then
    for word in parameters 'optimizer state' gradients activations other MB milliseconds 'Memory on cpu: at most'; do
        grep -qF "$word" "$dir/gpt2/memory.svg" && ok || bad "memory.svg lacks $word"
    done
fi

# In bf16 the plan has the copies, with which the report counts parameters, and less activations.
"$bin/train_gpt2" "${flags[@]}" --steps 1 --width 256 --dtype bf16 -o "$dir/bf16" --memory-report >"$dir/log" 2>&1 && ok || bad "bf16: $(tail -1 "$dir/log")"
awk '$NF == "MB" && /^  parameters/ { planned = $2 } $NF == "MB" && /^  their copies of 16 bits/ { planned += $6 } $NF == "MB" && /^  optimizer state/ { state = $3 }
    $NF == "%" && /^  parameters/ { is = $2 } $NF == "%" && /^  optimizer state/ { state -= $3 }
    /^planned peak/ { peak = $3 / $(NF - 1) }
    END { off = planned - is; exit !(is > 9 && off * off < 0.0003 && state * state < 0.0001 && peak > 0.975 && peak < 1.025) }' "$dir/log" && ok || bad "the plan in bf16: $(cat "$dir/log")"

# A report of the first step has nothing of the evaluation after it, in which a sample is written.
"$bin/train_gpt2" "${flags[@]}" --steps 1 -o "$dir/one" --memory-report >"$dir/log" 2>&1 && ok || bad "one step: $(tail -1 "$dir/log")"
[ "$(wc -l <"$dir/one/memory.csv")" -eq "$(wc -l <"$dir/gpt2/memory.csv")" ] && ok || bad "one step: $(wc -l "$dir"/{one,gpt2}/memory.csv)"

# With a pool the snapshot has its segments, which are larger than the blocks in them.
"$bin/train_gpt2" "${flags[@]}" --allocator caching -o "$dir/pool" --memory-report >"$dir/log" 2>&1 && ok || bad "caching: $(tail -1 "$dir/log")"
diff -r "$dir"/{plain,pool}/step-4 && ok || bad "other bits with a pool"
! command -v python3 >/dev/null || python3 -c '
import pickle, sys
live, segments = 0, pickle.load(open(sys.argv[1], "rb"))["segments"]
for s in segments:
    at = s["address"]
    for b in s["blocks"]:
        assert b["address"] == at and b["requested_size"] <= b["size"]
        at, live = at + b["size"], live + b["requested_size"]
    assert at == s["address"] + s["total_size"]
assert segments and all(s["total_size"] % 2097152 == 0 for s in segments) and live > 400000, (live, segments)
' "$dir/pool/memory.pickle" && ok || bad "segments of the pool"

# Again from the recording, elsewhere; and where nothing can be written.
"$bin/memory" "$dir/gpt2" -o "$dir/again/deep" >"$dir/log" 2>&1 && cmp "$dir/gpt2/memory.pickle" "$dir/again/deep/memory.pickle" && ok || bad "again: $(tail -1 "$dir/log")"
"$bin/memory" "$dir/gpt2" -o "$dir/text" >"$dir/log" 2>&1 && bad "wrote into a file" || ok
grep -qF "$dir/text" "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"
mkdir "$dir/full" && ln -s /dev/full "$dir/full/memory.bin"
"$bin/train_gpt2" "${flags[@]}" -o "$dir/full" --memory-report >"$dir/log" 2>&1 && ok || bad "a report that is lost ends the run: $(tail -1 "$dir/log")"
grep -qF 'No memory report: ' "$dir/log" && ok || bad "said: $(tail -3 "$dir/log")"
"$bin/memory" "$dir/nowhere" >"$dir/log" 2>&1 && bad "there is no recording" || ok
grep -qF 'nowhere/memory.bin: No such file' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"

"$bin/make_digits" -o "$dir/digits" --train 2000 --test 500 >/dev/null 2>&1 && ok || bad "no digits"
"$bin/train_mnist" --data "$dir/digits" --epochs 1 -q --workers 2 --memory-report --trace -o "$dir/mnist" >"$dir/log" 2>&1 && ok || bad "mnist: $(tail -1 "$dir/log")"
grep -qE '^  activations ' "$dir/log" && grep -qF 'memory on cpu: at most' "$dir/log" && ok || bad "mnist said: $(cat "$dir/log")"
"$bin/profile" "$dir/mnist" -t 1 >"$dir/log" 2>&1 && grep -q '^linear ' "$dir/log" && ok || bad "no trace of the steps after it: $(tail -1 "$dir/log")"
mkdir "$dir/mnist/in/spans.bin" -p
"$bin/train_mnist" --data "$dir/digits" --epochs 1 -q --memory-report --trace -o "$dir/mnist/in" >"$dir/log" 2>&1 && bad "the trace is a folder" || ok
grep -qF 'in/spans.bin: Is a directory' "$dir/log" && ok || bad "said: $(tail -1 "$dir/log")"
finish memory_report
