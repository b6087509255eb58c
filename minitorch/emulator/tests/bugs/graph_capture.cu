// What CUDA does not allow while a stream is captured, and a capture with work that is not joined.
#include <cstdio>

__global__ void fill(float *x)
{
    x[threadIdx.x] = 1.0f;
}

int main()
{
    float *x, *y;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t a, b;
    cudaEvent_t forked;
    cudaMalloc(&x, 64 * sizeof(float));
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreate(&forked);

    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    fill<<<1, 64, 0, a>>>(x);
    cudaStreamSynchronize(a); // BUG: host-api
    if (cudaStreamEndCapture(a, &graph) != cudaErrorStreamCaptureInvalidated || graph)
        return 1;

    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaMalloc(&y, 64); // BUG: host-api
    cudaStreamEndCapture(a, &graph);

    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    fill<<<1, 64>>>(x); // BUG: host-api
    cudaStreamEndCapture(a, &graph);

    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    fill<<<1, 64, 0, a>>>(x);
    cudaEventRecord(forked, a);
    cudaEventSynchronize(forked); // BUG: host-api
    cudaStreamWaitEvent(b, forked, 0);
    cudaMemsetAsync(x, 0, 64 * sizeof(float), b);
    // SAYS: such as that of graph_capture.cu:40
    if (cudaStreamEndCapture(a, &graph) != cudaErrorStreamCaptureUnjoined) // BUG: host-api
        return 1;

    cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed);
    cudaMalloc(&y, 64 * sizeof(float)); // allowed in this mode
    fill<<<1, 64, 0, a>>>(y);
    cudaStreamEndCapture(b, &graph); // BUG: host-api
    cudaStreamEndCapture(a, &graph);
    if (graph && cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess)
        cudaGraphLaunch(exec, a);
    cudaStreamSynchronize(a);
    cudaGraphLaunch(nullptr, a); // BUG: host-api
}
