// Graphs: captured from a stream, from streams that fork and join, and made of nodes; launched often, updated.
#include <cstring>

#include "check.h"

struct affine {
    float scale, shift;
};

__global__ void fill(float *x, float v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = v;
}

__global__ void apply(const float *x, float *y, affine f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * f.scale + f.shift;
}

template <int FACTOR> __global__ void sum(const float *a, const float *b, float *out, int n)
{
    extern __shared__ float mine[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = i < n ? a[i] + b[i] : 0.0f;
    __syncthreads();
    if (i < n)
        out[i] = FACTOR * mine[threadIdx.x];
}

static const int N = 1000, BLOCKS = 8, THREADS = 128;

// One stream: nothing runs before the launch, and each launch runs all of it.
static void capture(cudaStream_t stream, float *x, float *host)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    CUDA(cudaMemsetAsync(x, 0, N * sizeof(float), stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int step = 0; step < 5; step++) {
        affine f = { 1.0f, (float)step };
        apply<<<BLOCKS, THREADS, 0, stream>>>(x, x, f, N); // the arguments of now, although f ends
    }
    CUDA(cudaMemcpyAsync(host, x, N * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CUDA(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 6);
    CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaMemcpyAsync(host, x, N * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(host[N - 1] == 0.0f);
    CUDA(cudaGraphUpload(exec, stream));
    for (int launch = 1; launch <= 3; launch++) {
        CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaStreamSynchronize(stream));
        EXPECT(host[0] == 10.0f * launch && host[N - 1] == 10.0f * launch);
    }
    CUDA(cudaGraphExecDestroy(exec));
}

static void CUDART_CB count(void *data)
{
    ++*(int *)data;
}

// Two streams: a second one forks by an event and is joined by another. The graph is updated from a second capture.
static void fork_and_join(cudaStream_t first, float *a, float *b, float *out, float *host)
{
    cudaStream_t second;
    cudaEvent_t forked, joined;
    cudaGraph_t graph[2];
    cudaGraphExec_t exec;
    int calls = 0;
    CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    for (int i = 0; i < 2; i++) {
        CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
        fill<<<BLOCKS, THREADS, 0, first>>>(a, 1.0f + i, N);
        CUDA(cudaEventRecord(forked, first));
        CUDA(cudaStreamWaitEvent(second, forked, 0));
        apply<<<BLOCKS, THREADS, 0, second>>>(a, b, affine{ 3.0f, 0.5f }, N);
        CUDA(cudaEventRecord(joined, second));
        apply<<<BLOCKS, THREADS, 0, first>>>(a, out, affine{ 2.0f, 0.0f }, N);
        CUDA(cudaStreamWaitEvent(first, joined, 0));
        sum<2><<<BLOCKS, THREADS, THREADS * sizeof(float), first>>>(b, out, out, N);
        CUDA(cudaLaunchHostFunc(first, count, &calls));
        CUDA(cudaMemcpyAsync(host, out, N * sizeof(float), cudaMemcpyDeviceToHost, first));
        CUDA(cudaStreamEndCapture(first, &graph[i]));
    }
    CUDA(cudaGraphInstantiate(&exec, graph[0], 0));
    CUDA(cudaGraphLaunch(exec, first));
    CUDA(cudaStreamSynchronize(first));
    EXPECT(host[7] == 2 * (3.5f + 2.0f) && calls == 1);
    cudaGraphExecUpdateResultInfo info;
    CUDA(cudaGraphExecUpdate(exec, graph[1], &info));
    EXPECT(info.result == cudaGraphExecUpdateSuccess);
    CUDA(cudaGraphLaunch(exec, second));
    CUDA(cudaStreamSynchronize(second));
    EXPECT(host[7] == 2 * (6.5f + 4.0f) && calls == 2);
    for (int i = 0; i < 2; i++)
        CUDA(cudaGraphDestroy(graph[i]));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaEventDestroy(forked));
    CUDA(cudaEventDestroy(joined));
    CUDA(cudaStreamDestroy(second));
}

static cudaKernelNodeParams kernel(void *function, void **arguments, size_t shared = 0)
{
    cudaKernelNodeParams p = {};
    p.func = function;
    p.gridDim = dim3(BLOCKS);
    p.blockDim = dim3(THREADS);
    p.sharedMemBytes = (unsigned)shared;
    p.kernelParams = arguments;
    return p;
}

// Nodes by hand, not in the order in which they run; a child graph.
static void nodes(cudaStream_t stream, float *a, float *b, float *out, float *host)
{
    cudaGraph_t graph, child;
    cudaGraphNode_t add, zero, one, back, inner, host_node;
    cudaGraphExec_t exec;
    int n = N, calls = 0;
    float v = 4.0f;
    void *to_fill[] = { &b, &v, &n }, *to_sum[] = { &a, &b, &out, &n };
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphCreate(&child, 0));

    cudaKernelNodeParams params = kernel((void *)sum<3>, to_sum, THREADS * sizeof(float));
    CUDA(cudaGraphAddKernelNode(&add, graph, nullptr, 0, &params));
    params = kernel((void *)fill, to_fill);
    CUDA(cudaGraphAddKernelNode(&one, child, nullptr, 0, &params));
    v = -1.0f; // the node has its own copy
    CUDA(cudaGraphAddChildGraphNode(&inner, graph, nullptr, 0, child));
    CUDA(cudaGraphDestroy(child));

    cudaMemsetParams set = {};
    float bits = 2.0f;
    set.dst = a;
    memcpy(&set.value, &bits, 4);
    set.elementSize = 4;
    set.width = N;
    set.height = 1;
    CUDA(cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &set));
    CUDA(cudaGraphAddMemcpyNode1D(&back, graph, &add, 1, host, out, N * sizeof(float), cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = { count, &calls };
    CUDA(cudaGraphAddHostNode(&host_node, graph, &back, 1, &call));
    cudaGraphNode_t from[] = { zero, inner }, to[] = { add, add };
#if CUDART_VERSION >= 13000
    CUDA(cudaGraphAddDependencies(graph, from, to, nullptr, 2));
#else
    CUDA(cudaGraphAddDependencies(graph, from, to, 2));
#endif
    size_t roots = 8;
    cudaGraphNode_t root[8];
    CUDA(cudaGraphGetRootNodes(graph, root, &roots));
    EXPECT(roots == 2 && root[0] == inner && root[1] == zero);
    cudaGraphNodeType type;
    CUDA(cudaGraphNodeGetType(inner, &type));
    EXPECT(type == cudaGraphNodeTypeGraph);

    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(host[3] == 3 * (2.0f + 4.0f) && calls == 1);

    void *again[] = { &a, &a, &out, &n };
    params = kernel((void *)sum<3>, again, THREADS * sizeof(float));
    CUDA(cudaGraphExecKernelNodeSetParams(exec, add, &params));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(host[3] == 3 * (2.0f + 2.0f) && calls == 2);
    CUDA(cudaGraphKernelNodeGetParams(add, &params));
    EXPECT(*(float **)params.kernelParams[1] == b && params.blockDim.x == THREADS);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

int main()
{
    float *a = zeros<float>(N), *b = zeros<float>(N), *out = zeros<float>(N), *host;
    cudaStream_t stream;
    CUDA(cudaMallocHost(&host, N * sizeof(float)));
    CUDA(cudaStreamCreate(&stream));
    capture(stream, a, host);
    float *fill = a; // hides the kernel
    CUDA(cudaMemset((void *)fill, 0, N * sizeof(float)));
    fork_and_join(stream, a, b, out, host);
    nodes(stream, a, b, out, host);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(a));
    CUDA(cudaFree(b));
    CUDA(cudaFree(out));
    CUDA(cudaFreeHost(host));
}
