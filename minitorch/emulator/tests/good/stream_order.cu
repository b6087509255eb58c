// What orders streams, events and the host, in every form: there must be no message.
#include "check.h"

__global__ void add(float *x, float v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += v;
}

__global__ void sum(const float *x, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, x[i]);
}

__global__ void bytes_up(unsigned char *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i]++;
}

__global__ void announce(float *x, volatile int *flag)
{
    x[0] = 7;
    __threadfence_system();
    *flag = 1;
}

__managed__ int counter;
__device__ int scale = 1;

__global__ void count(int by)
{
    counter += by * scale;
}

static void CUDART_CB check_first(void *data)
{
    float *host = static_cast<float *>(data);
    EXPECT(host[0] == 1);
    host[0] = 2;
}

/* Streams work on parts of one array; the parts need not begin at a word. */
static void parts(cudaStream_t *streams, int n)
{
    unsigned char *x;
    CUDA(cudaMalloc(&x, 3 * n));
    CUDA(cudaMemset(x, 0, 3 * n));
    CUDA(cudaDeviceSynchronize());
    for (int round = 0; round < 3; round++)
        for (int s = 0; s < 3; s++)
            bytes_up<<<2, 256, 0, streams[s]>>>(x + s * n, n);
    CUDA(cudaDeviceSynchronize());
    std::vector<unsigned char> all(3 * n);
    CUDA(cudaMemcpy(all.data(), x, 3 * n, cudaMemcpyDeviceToHost));
    for (unsigned char value : all)
        EXPECT(value == 3);
    CUDA(cudaFree(x));
}

/* The default stream waits for blocking streams, and they for it. */
static void default_stream(cudaStream_t a, cudaStream_t b, float *x, float *host, int n)
{
    CUDA(cudaMemset(x, 0, n * sizeof(float)));
    add<<<4, 256, 0, a>>>(x, 1, n);
    add<<<4, 256>>>(x, 1, n);
    add<<<4, 256, 0, b>>>(x, 1, n);
    CUDA(cudaMemcpy(host, x, n * sizeof(float), cudaMemcpyDeviceToHost));
    EXPECT(host[n - 1] == 3);
    add<<<4, 256, 0, cudaStreamPerThread>>>(x, 1, n);
    add<<<4, 256, 0, cudaStreamLegacy>>>(x, 1, n);
    CUDA(cudaStreamSynchronize(0));
    add<<<4, 256, 0, a>>>(x, 1, n);
    CUDA(cudaStreamSynchronize(a));
}

/* An event is recorded again and again; a buffer is filled while the other one is used. */
static void double_buffer(cudaStream_t copy, cudaStream_t work, float *x, float *host, int n)
{
    cudaEvent_t full[2], empty[2];
    for (int i = 0; i < 2; i++) {
        CUDA(cudaEventCreateWithFlags(&full[i], cudaEventDisableTiming));
        CUDA(cudaEventCreateWithFlags(&empty[i], cudaEventDisableTiming));
    }
    for (int step = 0; step < 7; step++) {
        int i = step % 2;
        float *part = x + i * n / 2;
        CUDA(cudaStreamWaitEvent(copy, empty[i], 0)); /* not yet recorded: does not wait */
        CUDA(cudaMemcpyAsync(part, host, n / 2 * sizeof(float), cudaMemcpyHostToDevice, copy));
        CUDA(cudaEventRecord(full[i], copy));
        CUDA(cudaStreamWaitEvent(work, full[i], 0));
        add<<<4, 256, 0, work>>>(part, 1, n / 2);
        CUDA(cudaEventRecord(empty[i], work));
    }
    while (cudaEventQuery(empty[0]) == cudaErrorNotReady || cudaStreamQuery(work) == cudaErrorNotReady)
        ;
    CUDA(cudaMemcpy(host, x, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 2; i++) {
        CUDA(cudaEventDestroy(full[i]));
        CUDA(cudaEventDestroy(empty[i]));
    }
}

/* Two streams read one array and add to one sum. */
static void readers(cudaStream_t a, cudaStream_t b, float *x, int n)
{
    float *total, result;
    CUDA(cudaMalloc(&total, sizeof(float)));
    CUDA(cudaMemcpy(total, &(const float &)0.0f, sizeof(float), cudaMemcpyHostToDevice));
    sum<<<4, 256, 0, a>>>(x, total, n);
    sum<<<4, 256, 0, b>>>(x, total, n);
    CUDA(cudaStreamSynchronize(a));
    CUDA(cudaStreamSynchronize(b));
    CUDA(cudaMemcpyAsync(&result, total, sizeof(float), cudaMemcpyDeviceToHost, a)); /* not pinned: the host waits */
    EXPECT(result == result);
    CUDA(cudaFree(total));
}

/* Memory that the host shares with the device. */
static void shared_with_host(cudaStream_t stream, float *x, float *host, int n)
{
    int *flag;
    CUDA(cudaMallocHost(&flag, sizeof(int)));
    *flag = 0;
    announce<<<1, 1, 0, stream>>>(host, flag);
    while (!*(volatile int *)flag)
        ;
    EXPECT(host[0] == 7);
    host[0] = 1;
    CUDA(cudaMemcpyAsync(x, host, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    CUDA(cudaMemcpyAsync(host, x, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaLaunchHostFunc(stream, check_first, host));
    CUDA(cudaMemcpyAsync(x, host, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(host[0] == 2);
    counter = 1;
    count<<<1, 1>>>(2);
    CUDA(cudaDeviceSynchronize());
    EXPECT(counter == 3);
    CUDA(cudaMemcpyToSymbolAsync(scale, x, sizeof(int), 0, cudaMemcpyDeviceToDevice, stream));
    count<<<1, 1, 0, stream>>>(0);
    CUDA(cudaMemcpyFromSymbolAsync(flag, scale, sizeof(int), 0, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(*flag == 0x40000000); // the bits of host[0]
    CUDA(cudaFreeHost(flag));
}

/* Allocations come and go; a stream is destroyed before its work is complete. */
static void lifetimes(cudaStream_t stream, int n)
{
    for (int i = 0; i < 3; i++) {
        float *x, *y;
        cudaStream_t brief;
        CUDA(cudaStreamCreate(&brief));
        CUDA(cudaMallocAsync(&x, n * sizeof(float), stream));
        CUDA(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
        add<<<4, 256, 0, stream>>>(x, 1, n);
        CUDA(cudaFreeAsync(x, stream));
        CUDA(cudaMalloc(&y, n * sizeof(float)));
        CUDA(cudaMemsetAsync(y, 0, n * sizeof(float), brief));
        add<<<4, 256, 0, brief>>>(y, 1, n);
        CUDA(cudaStreamDestroy(brief));
        add<<<4, 256>>>(y, 1, n);
        CUDA(cudaFree(y));
    }
}

int main()
{
    const int n = 1001;
    float *x, *host;
    cudaStream_t streams[3], blocking[2];
    for (cudaStream_t &stream : streams)
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (cudaStream_t &stream : blocking)
        CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc(&x, n * sizeof(float)));
    CUDA(cudaMallocHost(&host, n * sizeof(float)));
    memset(host, 0, n * sizeof(float));
    parts(streams, 333);
    default_stream(blocking[0], blocking[1], x, host, n);
    double_buffer(streams[0], streams[1], x, host, n - 1);
    readers(streams[0], blocking[0], x, n);
    shared_with_host(streams[2], x, host, n);
    lifetimes(streams[1], n);
    CUDA(cudaFree(x));
    CUDA(cudaFreeHost(host));
    for (cudaStream_t stream : streams)
        CUDA(cudaStreamDestroy(stream));
    for (cudaStream_t stream : blocking)
        CUDA(cudaStreamDestroy(stream));
}
