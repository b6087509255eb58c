#!/usr/bin/env bash
# test_gpu_check.sh -- make gpu-check without a GPU: it reports that there is none and fails. In the emulator, with an ncu and a
# compute-sanitizer that answer as NVIDIA's do, every part writes, counts are compared, an ncu that fails is said, and a
# run that is stopped keeps what it had.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
if ! nvidia-smi -L >/dev/null 2>&1; then
    expect "without a GPU it says so and fails" 1 'there is no GPU here (nvidia-smi -L): nothing was checked' minitorch/bench/gpu_check.sh
fi

# ncu knows some metrics and counts what the emulator counts, a quarter of it as reductions; but 1 more request for relu, twice
# the requests for fill, and it may not profile the row sum.
mkdir "$dir/tools"
cat >"$dir/tools/ncu" <<'E2'
#!/usr/bin/env bash
if [ "$1" = --query-metrics ]; then
    printf 'l1tex__%s  Counter  request  # of requests\n' {t_requests_pipe_lsu_mem_global,t_sectors_pipe_lsu_mem_global,data_pipe_lsu_wavefronts_mem_shared}_op_{ld,st,red,atom,ldgsts_cache_access,dshared_ld}
    exit
fi
while [[ $1 == --* ]]; do case $1 in --csv) shift ;; --metrics) metrics=$2 && shift 2 ;; *) shift 2 ;; esac done
echo "==PROF== Connected to process 4711 ($1)"
IFS=, read -r _ requests sectors wavefronts < <("$1" --raw | grep "^$2,")
[ "$2" != 'row sum' ] || { echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters" && exit 1; }
[ "$2" != relu ] || requests=$((requests + 1))
[ "$2" != fill ] || requests=$((2 * requests))
echo '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
for metric in ${metrics//,/ }; do
    case $metric in *t_requests*) n=$requests ;; *t_sectors*) n=$sectors ;; *) n=$wavefronts ;; esac
    case $metric in *_op_ld.sum) n=$((n - n / 4)) ;; *_op_red.sum) n=$((n / 4)) ;; *_op_atom.sum) n=n/a ;; *) n=0 ;; esac
    n=$(sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$n")
    echo "\"0\",\"4711\",\"count\",\"127.0.0.1\",\"$2(float *, long)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"$metric\",\"request\",\"$n\""
done
E2
cat >"$dir/tools/compute-sanitizer" <<'E2'
#!/usr/bin/env bash
"${@: -1}" >/dev/null 2>&1 || [ "$2" != memcheck ] || { echo "========= ERROR SUMMARY: 1 error" && exit 99; }
E2
chmod +x "$dir/tools/ncu" "$dir/tools/compute-sanitizer"

OUT=$dir/out PATH=$dir/tools:$PATH minitorch/bench/gpu_check.sh --emulated >"$dir/log" 2>&1 && ok || bad "emulated: $(tail -1 "$dir/log")"
report=$dir/out/report
has() { grep -qE -- "$1" "$report.md" && ok || bad "the report says: $1"; }
! grep -q 'FAIL\|not finished\|cut off' "$report.md" && ok || bad "all parts ran"
has '^[0-9]+ passed, 0 failed$'
has 'The emulator: not measured on a GPU'
has '^- programs: PASS .* 1 of 1 programs without a mistake are right on the device; in 1 of 1 with one a tool finds an error$'
has '^- nccl: PASS .* rank 0 of 1: all values are right$'
has '^50 steps of a small GPT-2: loss 3\.[0-9]+ to 2\.'
for kernel in 'private histogram' 'layernorm dx' 'bias and gelu backward' 'tensor-bf16 256^3' 'cuBLAS bf16 256^3' 'f32 to bf16' 'unscale' 'attention backward'; do
    has "^\| ${kernel/^/\\^} \| [0-9.]+ G"
done
has '^\| saxpy \| 6144 \| 24576 \| 0 \| 6144 \| 24576 \| 0 \| equal \|$' # 3 accesses of 65536 / 32 warps, 4 sectors each
has '^\| relu \|.*\| within 2 % \|$'
has '^\| fill \|.*\| DIFFERENT \|$'
has '^\| row sum \|.*\| - \| - \| - \| ==ERROR== ERR_NVGPUCTRPERM'
has '^\| coalesced \| '
"${PYTHON:-/usr/bin/python3}" -c "
import json
r = json.load(open('$report.json'))
assert r['values'][0]['failed'] == 0 and len(r['times']) > 30 and len(r['counts']) > 25 and len(r['programs']) == 2 and len(r['train']) == 2" 2>"$dir/log" && ok || bad "the JSON has every part"

# Stopped during a part: what was there before is kept, and is whole.
setsid env OUT="$dir/stopped" minitorch/bench/gpu_check.sh --emulated >"$dir/log" 2>&1 &
await $! "[ -s $dir/stopped/report.json ]"
{ kill -KILL -- -$! && wait $!; } 2>/dev/null
"${PYTHON:-/usr/bin/python3}" -c "import json; json.load(open('$dir/stopped/report.json'))" && ok || bad "a run that is stopped keeps what it had"
build/release/bin/gpu_times "$dir" 0 >"$dir/log" 2>&1 && grep -q 'adamw *cut off: no time left' "$dir/log" && ok || bad "what there is no time for is said"
finish gpu_check
