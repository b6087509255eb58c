#!/usr/bin/env bash
# run.sh [nvcc|emu] [FOLDER] -- tests the CUDA kernels of lab 06 (units of FOLDER, else the reference's): on a GPU; or
# in the emulator, untraced in both orders of threads, then with every access checked.
set -euo pipefail
cd "$(dirname "$0")/../../.."
how=${1:-emu} folder=${2:-solutions/06-cuda-kernels}
build=build/release out=build/release/cuda-tests
mkdir -p $out
cuda=("$folder"/*.cu minitorch/cuda/device.cu minitorch/cuda/strided.cu minitorch/tests/cuda/*.cu)
host=(minitorch/core/{base,device,rng,shape}.c minitorch/kernels/nd.c minitorch/testing/{compare,update_oracle}.c minitorch/optim/rules.c
    solutions/00-tensors/{view,strides}.c solutions/04-optimizers/{updates,adamw,adafactor,clip}.c)
passed=0 failed=0

# report NAME FILE COMMAND...: shows the output of a failure; an error reported by the emulator is a failure too.
report() {
    local name=$1 log=$out/$2.log
    shift 2
    if "$@" >"$log" 2>&1 && ! grep -q 'error: \|warning: ' "$log"; then
        passed=$((passed + 1)) && echo "  $name: $(grep -c ' passed$' "$log") kernels passed"
    else
        failed=$((failed + 1)) && echo "  $name: FAILED" && cat "$log"
    fi
}

objects=()
for c in "${host[@]}"; do
    objects+=("$out/$(basename "${c%.c}").o")
    gcc -std=gnu11 -D_GNU_SOURCE -O2 -fno-pie -fopenmp -Iminitorch -c "$c" -o "${objects[-1]}"
done
case $how in
emu)
    make -s emulator CUDA=emu
    for mode in fast traced; do
        "$build/emu/cuemu" $([ $mode = traced ] || echo --fast) -Iminitorch "${cuda[@]}" "${objects[@]}" -fopenmp -o $out/$mode
    done
    report "untraced" fast $out/fast
    report "untraced, threads in reversed order" reversed env CUEMU_REVERSE=1 $out/fast
    report "every access checked" traced $out/traced
    ;;
nvcc)
    nvcc -O3 -arch=native -Iminitorch "${cuda[@]}" "${objects[@]}" -Xlinker -no-pie -lgomp -lm -o $out/gpu
    report "on the GPU" gpu $out/gpu
    ;;
*) echo "usage: run.sh [nvcc|emu] [FOLDER]" >&2 && exit 2 ;;
esac
echo "cuda tests: $passed passed, $failed failed"
[ $failed -eq 0 ]
