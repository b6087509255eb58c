# attack  06.1 a kernel with more shared memory than a GPU has
# hopes   the emulator, being on a CPU, gives it
# stopped by the emulator has the limits of a GPU
# earns   2
# verdict FAIL
# stops   saxpy: every size
# words   saxpy.cu:
# words   shared memory
sed -i '/^static __global__ void saxpy_scalar/,/^}/ s/^    int64_t i = mt_thread();/    __shared__ float all[1 << 18];\n    all[threadIdx.x] = a;\n&/' saxpy.cu
