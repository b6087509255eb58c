/* bus.cu -- the bus between a GPU and its host: copies on a stream of their own, from and to pinned memory, which alone
 * can be copied while the host and the device do other things. Two streams know nothing of each other: an event is
 * recorded in one, and the other waits for it. See memory/bus.h. */
#include "cuda/cuda.h"
#include "memory/bus.h"

#include <cinttypes>
#include <cstdlib>

enum { EVENTS = 64 };

/* An event is used again after EVENTS marks. Who waits for the older one then waits for more than it has to. */
typedef struct gpu_bus {
    mt_bus bus;
    cudaStream_t copies;
    cudaEvent_t computed, done[EVENTS];
} gpu_bus;

static mt_status gpu_host(mt_bus *bus, void **host, int64_t bytes)
{
    (void)bus;
    cudaError_t error = cudaMallocHost(host, (size_t)bytes);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return mt_fail(
            MT_ERR_UNAVAILABLE,
            "%" PRId64 " bytes of the host's memory cannot be pinned for offloaded activations: offload less", bytes);
    }
    MT_CUDA(error);
    return MT_OK;
}

static void gpu_host_free(mt_bus *bus, void *host, int64_t bytes)
{
    (void)bytes;
    MT_CUDA(cudaStreamSynchronize(((gpu_bus *)bus)->copies));
    MT_CUDA(cudaFreeHost(host));
}

/* Behind all that the device was given to compute: that makes what goes out, or used the memory before. */
static void gpu_copy(mt_bus *bus, void *to, const void *from, int64_t bytes, bool out)
{
    gpu_bus *b = (gpu_bus *)bus;
    MT_CUDA(cudaEventRecord(b->computed, mt_cuda_stream()));
    MT_CUDA(cudaStreamWaitEvent(b->copies, b->computed, 0));
    MT_CUDA(cudaMemcpyAsync(to, from, (size_t)bytes, out ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, b->copies));
}

static void gpu_mark(mt_bus *bus, int64_t mark)
{
    gpu_bus *b = (gpu_bus *)bus;
    MT_CUDA(cudaEventRecord(b->done[mark % EVENTS], b->copies));
}

static void gpu_wait(mt_bus *bus, int64_t mark)
{
    gpu_bus *b = (gpu_bus *)bus;
    MT_CUDA(cudaStreamWaitEvent(mt_cuda_stream(), b->done[mark % EVENTS], 0));
}

static void gpu_free(mt_bus *bus)
{
    gpu_bus *b = (gpu_bus *)bus;
    MT_CUDA(cudaStreamSynchronize(b->copies));
    MT_CUDA(cudaStreamDestroy(b->copies));
    MT_CUDA(cudaEventDestroy(b->computed));
    for (int i = 0; i < EVENTS; i++)
        MT_CUDA(cudaEventDestroy(b->done[i]));
    free(b);
}

static mt_status gpu_open(mt_bus **out)
{
    static const mt_bus_kind kind = { gpu_host, gpu_host_free, gpu_copy, gpu_mark, gpu_wait, gpu_free };
    gpu_bus *b = (gpu_bus *)mt_calloc(1, sizeof *b);
    b->bus.kind = &kind;
    MT_CUDA(cudaStreamCreateWithFlags(&b->copies, cudaStreamNonBlocking));
    MT_CUDA(cudaEventCreateWithFlags(&b->computed, cudaEventDisableTiming));
    for (int i = 0; i < EVENTS; i++)
        MT_CUDA(cudaEventCreateWithFlags(&b->done[i], cudaEventDisableTiming));
    *out = &b->bus;
    return MT_OK;
}

extern "C" {
mt_status (*const mt_bus_open_cuda)(mt_bus **out) = gpu_open;
}
