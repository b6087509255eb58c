// wrong.cu -- misuse, missing waits, and ranks that fail: return values, what is read then, and messages. A comment
// that begins with ERROR contains words of the message expected for the next line; TRACED: of traced programs only,
// FAST: of others.
#include <csignal>
#include <cstring>
#include "ranks.h"

static const int n = 64;
static float *x, *y;
static cudaStream_t a, b;

static void setup(int rank)
{
    std::vector<float> one(n, (float)(rank + 1));
    CUDA(cudaMalloc(&x, n * sizeof(float)));
    CUDA(cudaMalloc(&y, n * sizeof(float)));
    CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CUDA(cudaMemcpy(x, one.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CUDA(cudaMemset(y, 0, n * sizeof(float)));
    CUDA(cudaDeviceSynchronize());
}

static float first(const float *from, cudaStream_t stream)
{
    float value = -1;
    cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return value;
}

// ---- arguments ----

static void arguments(ncclComm_t comm, int rank, int)
{
    float host[n];
    cudaStream_t dead;
    setup(rank);
    CUDA(cudaStreamCreate(&dead));
    CUDA(cudaStreamDestroy(dead));
    // ERROR ncclAllReduce: the send buffer is host memory
    EXPECT(ncclAllReduce(host, y, n, ncclFloat32, ncclSum, comm, a) == ncclInvalidArgument);
    EXPECT(strstr(ncclGetLastError(comm), "host memory"));
    // ERROR the receive buffer is a null pointer
    EXPECT(ncclAllReduce(x, nullptr, n, ncclFloat32, ncclSum, comm, a) == ncclInvalidArgument);
    // ERROR ncclAllGather: 512 bytes from byte 0 of the receive buffer, which has 256 bytes
    EXPECT(ncclAllGather(x, y, n, ncclFloat32, comm, a) == ncclInvalidArgument);
    // ERROR the buffers overlap; in place, they are the same
    EXPECT(ncclAllReduce(x, x + 1, n - 1, ncclFloat32, ncclSum, comm, a) == ncclInvalidArgument);
    // ERROR in place, the receive buffer is the send buffer . rank . count
    EXPECT(ncclReduceScatter(x, x + 1, n / 2, ncclFloat32, ncclSum, comm, a) == ncclInvalidArgument);
    // ERROR data type 8: the emulator has uint8
    EXPECT(ncclAllReduce(x, y, n / 2, ncclFloat64, ncclSum, comm, a) == ncclInvalidArgument);
    // ERROR reduction 1: the emulator has ncclSum
    EXPECT(ncclAllReduce(x, y, n, ncclFloat32, ncclProd, comm, a) == ncclInvalidArgument);
    // ERROR there is no rank 2 among 2
    EXPECT(ncclSend(x, n, ncclFloat32, 2, comm, a) == ncclInvalidArgument);
    // ERROR the stream does not exist
    EXPECT(ncclSend(x, n, ncclFloat32, 0, comm, dead) == ncclInvalidArgument);
    // ERROR this is not a communicator
    EXPECT(ncclAllReduce(x, y, n, ncclFloat32, ncclSum, nullptr, a) == ncclInvalidArgument);
    // ERROR ncclGroupEnd without ncclGroupStart
    EXPECT(ncclGroupEnd() == ncclInvalidUsage);
    NCCL(ncclGroupStart());
    NCCL(ncclAllReduce(x, x, n, ncclFloat32, ncclSum, comm, a));
    // ERROR there is no rank -1 among 2
    EXPECT(ncclBroadcast(x, x, n, ncclFloat32, -1, comm, a) == ncclInvalidArgument);
    EXPECT(ncclGroupEnd() == ncclInvalidArgument && first(x, a) == (float)(rank + 1)); // nothing has begun
    ncclUniqueId none = {};
    ncclComm_t other;
    // ERROR these 128 bytes are not an id
    EXPECT(ncclCommInitRank(&other, 2, none, rank) == ncclSystemError);
    // ERROR rank 3 of 2: the emulator has 1 to 16 ranks
    EXPECT(ncclCommInitRank(&other, 2, none, 3) == ncclInvalidArgument);
    NCCL(ncclCommDestroy(comm));
    // ERROR the communicator was given to ncclCommDestroy before
    EXPECT(ncclAllReduce(x, x, n, ncclFloat32, ncclSum, comm, a) == ncclInvalidArgument);
    // ERROR ncclCommAbort: the communicator was given to ncclCommDestroy before
    EXPECT(ncclCommAbort(comm) == ncclInvalidArgument);
}

// ---- missing waits: b does not wait for a ----

__global__ static void copy(float *to, const float *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

__global__ static void fill(float *to, float value)
{
    to[threadIdx.x] = value;
}

static void unwaited(ncclComm_t comm, int rank, int)
{
    setup(rank);
    NCCL(ncclAllReduce(x, y, n, ncclFloat32, ncclSum, comm, a));
    float *z, value = -1;
    CUDA(cudaMalloc(&z, n * sizeof(float)));
    // TRACED race between streams: kernel copy at .* reads byte 0
    copy<<<1, n, 0, b>>>(z, y); // sees old data
    EXPECT(first(z, b) == 0);
    // FAST cudaMemcpyAsync reads what ncclAllReduce .*wrong.cu:[0-9]*. is still to write
    cudaMemcpyAsync(&value, y, sizeof value, cudaMemcpyDeviceToHost, b);
    cudaMemcpy(z, z, sizeof value, cudaMemcpyDeviceToDevice); // the default stream does not wait for a either
    EXPECT(value == 0 && first(y, a) == 3);
    // FAST ncclAllReduce of 64 f32, sum .call 2.: what it sends was written to before the operation had ended
    NCCL(ncclAllReduce(x, y, n, ncclFloat32, ncclSum, comm, a));
    // TRACED race between streams: kernel fill at .* writes byte 0
    fill<<<1, n, 0, b>>>(x, 7);
    EXPECT(first(y, a) == 3);
    NCCL(ncclCommDestroy(comm));
}

// ---- ranks that do something else, or nothing ----

static void counts(ncclComm_t comm, int rank, int)
{
    ncclResult_t error;
    setup(rank);
    NCCL(ncclAllReduce(x, x, n, ncclFloat32, ncclSum, comm, a));
    // ERROR rank 0, ncclAllReduce of 64 f32, sum .call 2.: rank 1 calls ncclAllReduce of 32 f32, sum .call 2.
    NCCL(ncclAllReduce(x, x, rank ? n / 2 : n, ncclFloat32, ncclSum, comm, a));
    EXPECT(cudaStreamSynchronize(a) != cudaSuccess && first(x, a) == 3); // the first one has ended
    EXPECT(ncclCommGetAsyncError(comm, &error) == ncclSuccess && error == ncclInvalidUsage);
    EXPECT(ncclAllReduce(x, x, n, ncclFloat32, ncclSum, comm, a) == ncclInvalidUsage); // it was said why
    NCCL(ncclCommAbort(comm));
    // ERROR the communicator was given to ncclCommAbort before
    EXPECT(ncclAllReduce(x, x, n, ncclFloat32, ncclSum, comm, a) == ncclInvalidArgument);
}

static void kinds(ncclComm_t comm, int rank, int)
{
    setup(rank);
    if (rank == 0)
        // ERROR rank 0, ncclBroadcast of 64 f32 from 0 .call 1.: rank 1 calls ncclAllGather of 32 f32 .call 1.
        NCCL(ncclBroadcast(x, x, n, ncclFloat32, 0, comm, a));
    else
        NCCL(ncclAllGather(x, y, n / 2, ncclFloat32, comm, a));
    EXPECT(cudaDeviceSynchronize() != cudaSuccess);
}

static void sizes(ncclComm_t comm, int rank, int)
{
    setup(rank);
    if (rank == 0)
        NCCL(ncclSend(x, n, ncclFloat32, 1, comm, a));
    else
        // ERROR rank 1, ncclRecv of 32 f32 from 0 .call 1.: rank 0 calls ncclSend of 64 f32 to 1 .call 1.
        NCCL(ncclRecv(x, n / 2, ncclFloat32, 0, comm, a));
    EXPECT(cudaDeviceSynchronize() != cudaSuccess);
}

static void both_send(ncclComm_t comm, int rank, int)
{
    setup(rank);
    // ERROR ncclSend of 64 f32 to [01] .call 1.: rank [01] has not called ncclRecv within 1 s
    NCCL(ncclSend(x, n, ncclFloat32, 1 - rank, comm, a));
    NCCL(ncclRecv(y, n, ncclFloat32, 1 - rank, comm, a));
    EXPECT(cudaDeviceSynchronize() != cudaSuccess && first(y, b) == 0);
}

static void leaves(ncclComm_t comm, int rank, int)
{
    setup(rank);
    NCCL(ncclAllReduce(x, x, n, ncclFloat32, ncclSum, comm, a));
    if (rank == 1) {
        NCCL(ncclCommDestroy(comm));
        return;
    }
    // ERROR rank 0, ncclAllReduce of 64 f32, max .call 2.: rank 1 has destroyed its communicator
    NCCL(ncclAllReduce(x, x, n, ncclFloat32, ncclMax, comm, a));
    EXPECT(cudaDeviceSynchronize() != cudaSuccess && first(x, a) == 3);
}

static void aborts(ncclComm_t comm, int rank, int)
{
    setup(rank);
    if (rank == 1) {
        NCCL(ncclCommAbort(comm));
        return;
    }
    // ERROR rank 0, ncclAllReduce of 64 f32, max .call 1.: rank 1 has aborted its communicator
    NCCL(ncclAllReduce(x, x, n, ncclFloat32, ncclMax, comm, a));
    EXPECT(cudaDeviceSynchronize() != cudaSuccess);
}

static void dies(ncclComm_t comm, int rank, int)
{
    setup(rank);
    if (rank == 1)
        raise(SIGKILL);
    NCCL(ncclAllReduce(x, x, n, ncclFloat32, ncclAvg, comm, a));
    while (cudaStreamQuery(a) == cudaErrorNotReady) // nothing is said to one who asks: the communicator knows
        usleep(1000);
    ncclResult_t error;
    EXPECT(ncclCommGetAsyncError(comm, &error) == ncclSuccess && error == ncclRemoteError);
    EXPECT(strstr(ncclGetLastError(comm), "rank 0, ncclAllReduce of 64 f32, avg (call 1): rank 1 has ended"));
}

static void stops(ncclComm_t comm, int rank, int)
{
    setup(rank);
    if (rank == 1) {
        usleep(1500 * 1000);
        return;
    }
    // ERROR rank 0, ncclAllReduce of 64 f32, sum .call 1.: rank 1 has not called it within 1 s
    NCCL(ncclAllReduce(x, x, n, ncclFloat32, ncclSum, comm, a));
    EXPECT(cudaStreamSynchronize(a) != cudaSuccess);
}

// ---- joining ----

static void join_twice()
{
    ncclUniqueId id;
    ncclComm_t one, two;
    NCCL(ncclGetUniqueId(&id));
    NCCL(ncclCommInitRank(&one, 1, id, 0));
    // ERROR has ended, or belongs to another user
    EXPECT(ncclCommInitRank(&two, 1, id, 0) == ncclSystemError);
    NCCL(ncclGetUniqueId(&id));
    // ERROR rank 0 of 2 did not call it within 1 s
    EXPECT(ncclCommInitRank(&two, 2, id, 1) == ncclSystemError);
    // ERROR rank 0 says that there are 3 ranks, another one says 2
    EXPECT(ncclCommInitRank(&two, 3, id, 0) == ncclSystemError);
    // ERROR ranks 1 and 0 are one process
    EXPECT(ncclCommInitRank(&two, 2, id, 0) == ncclSystemError);
    NCCL(ncclGroupStart());
    // ERROR for several devices in one process: the emulator has one
    EXPECT(ncclCommInitRank(&two, 2, id, 0) == ncclInvalidUsage && ncclGroupEnd() == ncclInvalidUsage);
    NCCL(ncclCommDestroy(one));
}

static void join_without_waiting()
{
    ncclUniqueId id;
    ncclComm_t comm;
    ncclResult_t state = ncclInProgress;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    buffer<float> x({ 1 });
    config.blocking = 0;
    NCCL(ncclGetUniqueId(&id));
    EXPECT(ncclCommInitRankConfig(&comm, 2, id, 1, &config) == ncclInProgress);
    // ERROR ncclAllReduce: ncclCommInitRankConfig has not ended
    EXPECT(ncclAllReduce(x.data, x.data, 1, ncclFloat32, ncclSum, comm, 0) == ncclInvalidUsage);
    while (state == ncclInProgress)
        // ERROR rank 0 of 2 did not call it within 1 s
        NCCL(ncclCommGetAsyncError(comm, &state));
    EXPECT(state == ncclSystemError);
    NCCL(ncclCommAbort(comm));
}

int main()
{
    run_ranks(2, arguments);
    run_ranks(2, unwaited);
    run_ranks(2, counts);
    run_ranks(2, kinds);
    run_ranks(2, sizes);
    run_ranks(2, both_send);
    run_ranks(2, leaves);
    run_ranks(2, aborts);
    run_ranks(2, dies);
    run_ranks(2, stops);
    join_twice();
    join_without_waiting();
    return failures != 0;
}
