# attack  06.1 half of a block waits for the other half, for ever
# hopes   the grader waits for ever
# stopped by the emulator reports it
# earns   2
# verdict FAIL
# stops   saxpy: every size
# words   saxpy.cu:
# words   __syncthreads
sed -i '/^static __global__ void saxpy_scalar/,/^}/ s/^    int64_t i = mt_thread();/    if (threadIdx.x % 2)\n        __syncthreads();\n&/' saxpy.cu
