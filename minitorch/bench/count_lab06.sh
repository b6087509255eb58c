#!/usr/bin/env bash
# count_lab06.sh [FOLDER [KERNEL]] -- the memory traffic of lab 06's kernels: every access counted by the emulator.
#
#   count_lab06.sh                                        your units, labs/06-cuda-kernels, up to the first TODO
#   count_lab06.sh solutions/06-cuda-kernels              the reference's
#   CUEMU_REPORT=1 count_lab06.sh labs/06-cuda-kernels transpose              also a line for each access in the source
#   CUEMU_SVG=transpose.svg count_lab06.sh labs/06-cuda-kernels transpose     a warp's access, drawn
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-labs/06-cuda-kernels} kernel=${2:-}
build=build/release
tensors=($build/units/00-tensors/{view,strides}.o)
make -s emulator "${tensors[@]}" CUDA=emu MINE=
program=$build/count/lab06-${folder//\//-}
mkdir -p $build/count
if [ ! -e "$program" ] || [ -n "$(find "$folder" minitorch "${tensors[@]}" $build/emu -newer "$program" -print -quit)" ]; then
    "$build/emu/cuemu" -Iminitorch -D_GNU_SOURCE -std=gnu11 "$folder"/*.cu minitorch/cuda/device.cu minitorch/cuda/strided.cu \
        minitorch/bench/count_lab06.cu minitorch/core/base.c minitorch/core/shape.c minitorch/kernels/nd.c \
        "${tensors[@]}" -fopenmp -o "$program"
fi
exec "$program" ${kernel:+"$kernel"}
