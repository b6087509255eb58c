#!/usr/bin/env bash
# make gpu-check: on a machine with a GPU, nvcc and gcc (and no other package), what the device computes, the emulator beside the
# hardware, a model's training and times; at most eight minutes, and those parts first that are worth most. The report,
# $OUT/report.md and $OUT/report.json (default: build/gpu-check), is written after each part, so that a run which is
# stopped keeps what it had. Each part has a time limit: not finished is no failure, but is said.
#
#   gpu_check.sh              on the GPU
#   gpu_check.sh --emulated   the same in the emulator, at small sizes: a test of this script; its times are meaningless
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
export CUDA=nvcc
work=build/gpu-check patience=1 programs=()
[ "${1:-}" != --emulated ] || { CUDA=emu patience=8 work=build/gpu-check-emulated programs=(good/saxpy bugs/tail); }
out=${OUT:-$work} bin=build/release/bin verdicts=() failed=0 unfinished=()
fail() { echo "gpu-check: $*" >&2 && exit 1; }
if [ $CUDA = nvcc ]; then
    PATH+=:/usr/local/cuda/bin
    grep -q '^GPU ' <<<"$(nvidia-smi -L 2>/dev/null)" || fail "there is no GPU here (nvidia-smi -L): nothing was checked"
    command -v nvcc >/dev/null || fail "there is no nvcc: install the CUDA toolkit"
fi
rm -rf $work && mkdir -p $work "$out" || fail "cannot write $out"

# The report so far; renamed into its place, so that it is whole at any time.
publish() {
    {
        echo "# gpu-check" && echo
        printf -- '- %s\n' "${verdicts[@]}"
        for name in values programs counts train times; do
            [ ! -e $work/$name.md ] || { echo && cat $work/$name.md; }
        done
        printf '\n## Machine\n\n'
        if [ $CUDA = emu ]; then echo "The emulator: not measured on a GPU."; else nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader; fi
        echo "$(date +%F), $SECONDS seconds"
    } >"$out/report.md.new" && mv "$out/report.md.new" "$out/report.md"
    for name in values programs counts train times; do
        echo "\"$name\": [$(paste -sd, $work/$name.json 2>/dev/null)]"
    done | paste -sd, | sed 's/.*/{&}/' >"$out/report.json.new" && mv "$out/report.json.new" "$out/report.json"
}
verdict() { verdicts+=("$*") && echo "$*" && publish; }

# part NAME SECONDS COMMAND...: runs it; its output goes to NAME.log, whose last line is shown when it has passed.
part() {
    local name=$1 seconds=$(($2 * patience)) left=$((480 * patience - SECONDS)) status
    shift 2
    [ $seconds -le $left ] || seconds=$((left > 1 ? left : 1))
    timeout "$seconds" "$@" >$work/$name.log 2>&1
    status=$?
    case $status in
    0) verdict "$name: PASS ($SECONDS s) $(tail -1 $work/$name.log)" ;;
    124) unfinished+=("$name") && verdict "$name: not finished after $seconds seconds" ;;
    *) failed=1 && verdict "$name: FAIL" && tail -20 $work/$name.log ;;
    esac
    return $status
}
[ $CUDA = emu ] || part device 60 minitorch/bench/gpu_programs.sh $work good/saxpy
part build 200 make -s -j"$(nproc)" CUDA=$CUDA $bin/gpu_{values,times,train} $bin/check_nccl || fail "the programs were not built: $work/build.log"
part values 90 $bin/gpu_values $work
part programs 150 minitorch/bench/gpu_programs.sh $work "${programs[@]}"
part counts 130 minitorch/bench/gpu_counts.sh $work $((110 * patience))
if grep -q ' [TU] ncclAllReduce' <<<"$(nm $bin/check_nccl)"; then
    part nccl 40 $bin/check_nccl # one rank: more would need MPI and a device each
else
    verdict "nccl: not checked, there is no NCCL beside nvcc"
fi
part train 60 $bin/gpu_train $work
part times 60 $bin/gpu_times $work $((50 * patience))
[ $failed = 0 ] || fail "FAIL, see $out/report.md"
[ ${#unfinished[@]} = 0 ] || unfinished=(", not finished: ${unfinished[*]}")
echo "gpu-check: PASS${unfinished[*]:-}, the report is in $out/report.md"
