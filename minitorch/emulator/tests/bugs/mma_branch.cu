// Each half of the warp executes an instruction of its own.
// SAYS: hint: mma, ldmatrix and wmma are for the whole warp: no branch may depend on the lane
#define MMA(sign)                                                                                                  \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                  \
                 : "r"(a), "r"(a), "r"(a sign 1))

__global__ void halves(float *out)
{
    float c[4] = { 0, 0, 0, 0 };
    unsigned a = 0x3f803f80;
    if (threadIdx.x < 16)
        MMA(+);
    else
        MMA(-); // BUG: sync
    out[threadIdx.x] = c[0];
}

int main()
{
    float *out;
    cudaMalloc(&out, 128);
    halves<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
