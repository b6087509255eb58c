#!/usr/bin/env bash
# test_plan_run.sh -- the plans of two ranks, and of four, run here, by the command that the program plan has written: each rank takes
# the memory that the plan says, to 3 %, and sends what it says, to the byte. Ranks are processes, so that each has an account of its
# memory; without mpirun they are threads, and only bytes are compared.
. "$(dirname "$0")/../../.ci/check.bash"
yes 'the plan of two ranks runs here, and takes what it says' | head -400 >"$dir/text"
export DEVICE=cpu DATA=$dir/text TRAIN_GPT2=$bin/train_gpt2
ranks=2 mpi='mpirun --allow-run-as-root --oversubscribe'
command -v mpirun >/dev/null && "$bin/train_gpt2" --help 2>&1 | grep mpi >/dev/null || mpi=

# compare NAME: run.json of the ranks beside what plan has printed.
compare() {
    python3 - "$1" "$dir/$1/log" "$dir/$1/run/run.json" $ranks <<'END'
import json, re, sys
name, log, path, count = sys.argv[1:]
peak, *sent = map(int, re.search(r"^A rank of the first: peak (\d+) bytes; sends in a step (\d+) of gradients, (\d+) to other "
                                 r"stages, (\d+) of tensors$", open(log).read(), re.M).groups())
ranks, wrong = json.load(open(path))["ranks"], []
most = name == "zero3"  # its plan is the most
if len(ranks) != int(count) or max(r["planned_peak"] for r in ranks) != peak or sum(sent) not in [r["planned_sent"] for r in ranks]:
    wrong.append("not the plan that was printed")
for r in ranks:
    if r["sent"] != r["planned_sent"] and not (most and 0.8 * r["planned_sent"] < r["sent"] < r["planned_sent"]):
        wrong.append("bytes")
    if "peak" in r and not (0.85 if most else 0.97) <= r["peak"] / r["planned_peak"] <= (1 if most else 1.03):
        wrong.append("memory")
print(name, *("%d/%d bytes, %s" % (r["sent"], r["planned_sent"],
                                   "memory %.4f" % (r["peak"] / r["planned_peak"]) if "peak" in r else "-") for r in ranks))
sys.exit(", ".join(wrong) or 0)
END
}

# try NAME LAUNCH OPTION...: plans so, runs the plan, compares.
try() {
    local name=$1 launch=$2
    shift 2
    mkdir "$dir/$name"
    "$bin/plan" --model layers=4,heads=4,width=128,block=64,vocabulary=20 --cluster ${ranks}xV100 --batch 16 --dtype f32 --tokens 1024 "$@" \
        -o "$dir/$name" >"$dir/$name/log" 2>&1 || { bad "$name: $(cat "$dir/$name/log")" && return; }
    LAUNCH=${launch:+$launch -n $ranks} timeout 100 bash "$dir/$name/train.sh" --eval-batches 1 -q -o "$dir/$name/run" >"$dir/$name/out" 2>&1 ||
        { bad "$name: $(tail -3 "$dir/$name/out")" && return; }
    grep -q '^train_gpt2: .* steps=1 ' "$dir/$name/out" && ok || bad "$name: not the step that was planned"
    compare "$name" && ok || bad "$name"
}
[ -n "$mpi" ] || echo "skipped: memory of a rank (no mpirun)"
try threads '' --dp 2 --zero 0
grep -qE '^All ranks share this process: [0-9.]+ MB in all; each at its most at the same moment would be [0-9.]+ MB$' "$dir/threads/out" &&
    ok || bad "threads: $(cat "$dir/threads/out")"
try data "$mpi" --dp 2 --zero 0
try zero1 "$mpi" --dp 2 --zero 1
try zero2 "$mpi" --dp 2 --zero 2
try zero3 "$mpi" --dp 2 --zero 3
try pipeline "$mpi" --pp 2
try tensor "$mpi" --tp 2
try selective "$mpi" --tp 2 --recompute selective
try selective16 "$mpi" --tp 2 --recompute selective --dtype bf16
try block "$mpi" --tp 2 --recompute block
try tokens "$mpi" --tp 2 --sp
try tokens16 "$mpi" --tp 2 --sp --recompute selective --dtype bf16
try tokensblock "$mpi" --tp 2 --sp --recompute block
ranks=4
try stages "$mpi" --dp 2 --pp 2 --zero 1
try matrices "$mpi" --dp 2 --tp 2 --zero 1
finish plan_run
