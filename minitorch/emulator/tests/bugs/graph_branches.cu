// A graph made by hand whose second kernel lacks its dependency: the two may run at the same time.
#include <cstdio>

__global__ void produce(float *x)
{
    x[threadIdx.x] = threadIdx.x;
}

__global__ void consume(const float *x, float *y)
{
    y[threadIdx.x] = x[threadIdx.x];
}

int main()
{
    float *x, *y;
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    cudaGraphExec_t exec;
    cudaMalloc(&x, 64 * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    void *to_produce[] = { &x }, *to_consume[] = { &x, &y };
    cudaGraphCreate(&graph, 0);
    cudaKernelNodeParams p = {};
    p.gridDim = dim3(1);
    p.blockDim = dim3(64);
    p.func = (void *)produce;
    p.kernelParams = to_produce;
    cudaGraphAddKernelNode(&first, graph, nullptr, 0, &p);
    p.func = (void *)consume;
    p.kernelParams = to_consume;
    // SAYS: add the other node to those that this one comes after
    cudaGraphAddKernelNode(&second, graph, nullptr, 0, &p); // BUG: race
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
}
