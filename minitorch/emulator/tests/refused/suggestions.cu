// Only a mistyped name has a suggestion: the words after `emulator` follow it at once.
__global__ void reduce(int *sum)
{
    __syncthread(); // REFUSED: `__syncthread` is not supported by the emulator (did you mean `__syncthreads`?)
}
int main()
{
    unsigned long long id;
    float *x;
    cudaMalocManaged(&x, 4);   // REFUSED: (did you mean `cudaMallocManaged`?): see docs
    cudaStreamGetId(0, &id);   // REFUSED: `cudaStreamGetId` is not supported by the emulator: see docs
    cudaMemcpy3DPeer(nullptr); // REFUSED: not supported by the emulator: there is one emulated device
}
