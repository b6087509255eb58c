# attack  06.6 moves each element by a copy from device to device; a kernel that computes nothing uses shared memory
# hopes   the emulator counts the accesses of kernels only
# stopped by copies and memsets count as traffic, and a call may make few of them
# earns   0
# verdict FAIL
# stops   tiled transpose
# words   more than 8 copies and memsets in one call: kernels move elements and rows
perl -0pi -e 's/(static __global__ void tiled\(.*?\)\n\{\n).*?\n\}\n/$1    __shared__ float tile[MT_WARP];\n    tile[threadIdx.x] = 0;\n}\n/s;
    s/    int64_t tiles = \(int64_t\)mt_blocks.*?\n/    for (int64_t i = 0; i < N * C; i++)\n        cudaMemcpyAsync(out + i % C * N + i \/ C, x + i, 4, cudaMemcpyDeviceToDevice, mt_cuda_stream());\n    int64_t tiles = 1;\n/' transpose.cu
