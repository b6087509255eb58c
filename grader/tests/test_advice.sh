#!/usr/bin/env bash
# What makes no value wrong costs no points, but the row says it: a launch that nothing checks, a launcher that waits.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
graded() { build/release/bin/grade --quiet --lab 06 --step "$1" --no-speed --units "$dir/units" --report "$dir/report" 2>&1; }
# planted UNIT EDIT: the reference, with one edit.
planted() {
    rm -rf "$dir/units" && cp -r solutions/06-cuda-kernels "$dir/units"
    sed -i "$2" "$dir/units/$1"
    ! cmp -s "$dir/units/$1" "solutions/06-cuda-kernels/$1" || bad "nothing was planted: $2"
}

planted saxpy.cu '/MT_LAUNCHED("saxpy_scalar");/d'
out=$(graded 06.1)
check "a launch that is not checked" grep -q 'saxpy.cu:[0-9]*: no MT_LAUNCHED behind this launch' <<<"$out"
check "all points" grep -q '^grade 06: 6/6$' <<<"$out"
planted saxpy.cu 's/MT_LAUNCHED("saxpy_scalar");/MT_CUDA(cudaGetLastError());/'
check "checked in another way" eval '! graded 06.1 | grep "no MT_LAUNCHED"'
planted reduce.cu 's/if (lane == 0)$/if (lane >= 0)/'
out=$(graded 06.9)
check "a harmless race" grep -q 'reduce.cu:[0-9]*: warning: race: several threads write' <<<"$out"
check "all points" grep -q '^grade 06: 9/9$' <<<"$out"
planted reduce.cu 's/value = warp_combine<plus>(lane < WARPS ? slot\[lane\] : 0);/if (lane < WARPS) { value = slot[lane]; for (int d = WARPS \/ 2; d > 0; d \/= 2) value += __shfl_down_sync(0xff, value, d); } __syncthreads();/'
out=$(graded 06.9)
check "lanes whose shuffle reads what is not there, and does not count" grep -q 'reduce.cu:[0-9]*: warning: __shfl_down_sync: lane 4' <<<"$out"
check "all points" grep -q '^grade 06: 9/9$' <<<"$out"
planted embedding.cu 's/MT_LAUNCHED("gather_rows_bwd");/& mt_cuda_sync();/'
out=$(graded 06.14)
check "a wait" grep -q 'embedding.cu:[0-9]*: waits for the device' <<<"$out"
check "all points" grep -q '^grade 06: 11/11$' <<<"$out"
finish advice
