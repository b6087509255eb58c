__global__ void video(unsigned *x)
{
    x[0] = __vavgs4(x[1], x[2]); // REFUSED: `__vavgs4` is not supported by the emulator
}
int main()
{
    cudaExternalMemory_t memory;             // REFUSED: `cudaExternalMemory_t`
    cudaGraphAddMemAllocNode(0, 0, 0, 0, 0); // REFUSED: allocate before the graph is made
    cudaLaunchKernelExC(0, 0, 0);            // REFUSED: launch with kernel<<<grid, block>>>(arguments)
}
