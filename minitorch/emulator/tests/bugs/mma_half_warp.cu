// The other lanes wait for the block.
__global__ void half_warp(unsigned *out)
{
    __shared__ __align__(16) unsigned s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    unsigned r = 0, row = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x % 8 * 4]);
    if (threadIdx.x < 8)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(row)); // BUG: sync
    __syncthreads();
    out[threadIdx.x] = r;
}

int main()
{
    unsigned *out;
    cudaMalloc(&out, 128);
    half_warp<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
