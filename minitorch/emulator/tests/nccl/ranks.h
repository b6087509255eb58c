// ranks.h -- a test program that is several ranks: run_ranks(n, body) calls body(comm, rank, n) in n processes.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <nccl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static int failures;

#define EXPECT(condition)                                               \
    do {                                                                \
        if (!(condition)) {                                             \
            printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                                 \
        }                                                               \
    } while (0)
#define CUDA(call) EXPECT((call) == cudaSuccess)
#define NCCL(call) EXPECT((call) == ncclSuccess)

// Returns the number of processes that did not end well.
template <class F> static int run_ranks(int size, F body)
{
    ncclUniqueId id;
    int bad = 0, status;
    if (ncclGetUniqueId(&id) != ncclSuccess)
        return size;
    for (int rank = 0; rank < size; rank++)
        if (fork() == 0) {
            ncclComm_t comm = nullptr;
            ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
            config.blocking = rank % 2 == 0;
            ncclResult_t state = ncclCommInitRankConfig(&comm, size, id, rank, &config);
            while (state == ncclInProgress)
                NCCL(ncclCommGetAsyncError(comm, &state));
            NCCL(state);
            if (comm)
                body(comm, rank, size);
            fflush(stdout);
            exit(failures ? 1 : 0); // the emulator makes another status of it after an error
        }
    for (int rank = 0; rank < size; rank++) {
        wait(&status);
        bad += status != 0;
    }
    return bad;
}

template <class T> struct buffer {
    T *data = nullptr;
    size_t count;
    explicit buffer(const std::vector<T> &from) : count(from.size())
    {
        CUDA(cudaMalloc(&data, count * sizeof(T) + 1));
        CUDA(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~buffer()
    {
        cudaFree(data);
    }
    std::vector<T> read(cudaStream_t stream) const // the stream waits
    {
        std::vector<T> out(count);
        CUDA(cudaMemcpyAsync(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        return out;
    }
};
