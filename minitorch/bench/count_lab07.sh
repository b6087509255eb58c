#!/usr/bin/env bash
# count_lab07.sh [FOLDER [RUNG]] -- the memory traffic of lab 07's products: every access counted by the emulator.
#
#   count_lab07.sh                                        your units, labs/07-cuda-matmul, up to the first TODO
#   count_lab07.sh solutions/07-cuda-matmul               the reference's
#   CUEMU_REPORT=1 count_lab07.sh labs/07-cuda-matmul shared              also a line for each access in the source
#   CUEMU_SVG=shared.svg count_lab07.sh labs/07-cuda-matmul shared        a warp's access, drawn
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-labs/07-cuda-matmul} rung=${2:-}
build=build/release
make -s emulator CUDA=emu
program=$build/count/lab07-${folder//\//-}
mkdir -p $build/count
if [ ! -e "$program" ] || [ -n "$(find "$folder" minitorch $build/emu -newer "$program" -print -quit)" ]; then
    "$build/emu/cuemu" -Iminitorch -D_GNU_SOURCE -std=gnu11 "$folder"/{naive,shared,register,pipelined,tensor,cublas}.cu \
        minitorch/cuda/{device,cublas}.cu minitorch/bench/count_lab07.cu minitorch/testing/matmul_ladder_cuda.c minitorch/kernels/matmul.c \
        minitorch/core/base.c -o "$program"
fi
exec "$program" ${rung:+"$rung"}
