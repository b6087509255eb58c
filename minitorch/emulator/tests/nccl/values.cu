// values.cu -- every operation, type and reduction, with odd counts, in place and not, on 1 to 4 ranks; groups; order
// on and between streams. Values are small whole numbers, which all types have exactly.
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "ranks.h"

template <class T> static double wide(T x)
{
    return (double)x;
}
template <> double wide(__half x)
{
    return (double)__half2float(x);
}
template <> double wide(__nv_bfloat16 x)
{
    return (double)__bfloat162float(x);
}
template <class T> static T narrow(double x)
{
    return (T)x;
}
template <> __half narrow(double x)
{
    return __float2half((float)x);
}
template <> __nv_bfloat16 narrow(double x)
{
    return __float2bfloat16((float)x);
}

static double input(int rank, size_t i)
{
    return (double)((i * 7 + (size_t)rank * 3) % 23);
}

template <class T> static std::vector<T> inputs(int rank, size_t n)
{
    std::vector<T> all(n);
    for (size_t i = 0; i < n; i++)
        all[i] = narrow<T>(input(rank, i));
    return all;
}

static double expected(ncclRedOp_t how, int size, size_t i)
{
    double sum = 0, most = 0;
    for (int rank = 0; rank < size; rank++) {
        sum += input(rank, i);
        most = fmax(most, input(rank, i));
    }
    return how == ncclMax ? most : how == ncclAvg ? sum / size : sum;
}

// A mean of whole numbers is cut off, one of floats rounded: to 11 bits in f16, to 8 in bf16, to 24 in f32.
template <class T> static bool near(T got, double want, ncclDataType_t type)
{
    double unit = type == ncclFloat32 ? 0x1p-24 : type == ncclFloat16 ? 0x1p-11 : type == ncclBfloat16 ? 0x1p-8 : 0;
    return unit > 0 ? fabs(wide(got) - want) <= unit * want : wide(got) == floor(want);
}

template <class T> static void reductions(ncclComm_t comm, int rank, int size, ncclDataType_t type, size_t n)
{
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (ncclRedOp_t how : { ncclSum, ncclMax, ncclAvg }) {
        buffer<T> in(inputs<T>(rank, n * (size_t)size)), out{ std::vector<T>(n) };
        NCCL(ncclAllReduce(in.data, out.data, n, type, how, comm, stream));
        std::vector<T> got = out.read(stream);
        for (size_t i = 0; i < n; i++)
            EXPECT(near(got[i], expected(how, size, i), type));
        NCCL(ncclReduceScatter(in.data, out.data, n, type, how, comm, stream));
        got = out.read(stream);
        for (size_t i = 0; i < n; i++)
            EXPECT(near(got[i], expected(how, size, (size_t)rank * n + i), type));
        NCCL(ncclReduceScatter(in.data, in.data + (size_t)rank * n, n, type, how, comm, stream));
        got = in.read(stream);
        for (size_t i = 0; i < n * (size_t)size; i++)
            EXPECT(i / (n ? n : 1) == (size_t)rank ? near(got[i], expected(how, size, i), type)
                                                   : wide(got[i]) == input(rank, i));
    }
    CUDA(cudaStreamDestroy(stream));
}

template <class T> static void copies(ncclComm_t comm, int rank, int size, ncclDataType_t type, size_t n)
{
    buffer<T> one(inputs<T>(rank, n)), all{ std::vector<T>(n * (size_t)size) };
    NCCL(ncclAllGather(one.data, all.data, n, type, comm, 0));
    std::vector<T> got = all.read(0);
    for (size_t i = 0; i < n * (size_t)size; i++)
        EXPECT(wide(got[i]) == input((int)(i / n), i % n));
    for (int root = 0; root < size; root++) {
        buffer<T> to(inputs<T>(rank, n));
        NCCL(ncclBroadcast(to.data, to.data, n, type, root, comm, 0));
        got = to.read(0);
        for (size_t i = 0; i < n; i++)
            EXPECT(wide(got[i]) == input(root, i));
    }
    // Around the ring, all at once: only in a group.
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    buffer<T> from(std::vector<T>(n, narrow<T>(0)));
    NCCL(ncclGroupStart());
    NCCL(ncclSend(one.data, n, type, next, comm, 0));
    NCCL(ncclRecv(from.data, n, type, before, comm, 0));
    NCCL(ncclGroupEnd());
    got = from.read(0);
    for (size_t i = 0; i < n; i++)
        EXPECT(wide(got[i]) == input(before, i));
}

__global__ static void twice(float *x, int n)
{
    if ((int)threadIdx.x < n)
        x[threadIdx.x] *= 2;
}

// What comes later on a stream waits for what was called before; and events wait across streams.
static void order(ncclComm_t comm, int rank, int size)
{
    const int n = 33;
    cudaStream_t a, b;
    cudaEvent_t done;
    CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    buffer<float> x(inputs<float>(rank, n)), y{ std::vector<float>((size_t)(n * size)) };
    NCCL(ncclAllReduce(x.data, x.data, n, ncclFloat32, ncclSum, comm, a));
    twice<<<1, 64, 0, a>>>(x.data, n);
    NCCL(ncclAllReduce(x.data, x.data, n, ncclFloat32, ncclMax, comm, a));
    NCCL(ncclAllGather(x.data, y.data, n, ncclFloat32, comm, a)); // reads what the one before writes
    CUDA(cudaEventRecord(done, a));
    CUDA(cudaStreamWaitEvent(b, done, 0));
    twice<<<1, 64, 0, b>>>(y.data + n * (size - 1), n);
    std::vector<float> got = y.read(b);
    for (int i = 0; i < n; i++)
        EXPECT(got[(size_t)(n * (size - 1) + i)] == (float)(4 * expected(ncclSum, size, (size_t)i)));
    // A blocking stream and the default one wait for each other.
    cudaStream_t blocking;
    CUDA(cudaStreamCreate(&blocking));
    NCCL(ncclBroadcast(x.data, x.data, n, ncclFloat32, 0, comm, blocking));
    twice<<<1, 64>>>(x.data, n);
    NCCL(ncclBroadcast(x.data, x.data, n, ncclFloat32, 0, comm, 0));
    twice<<<1, 64, 0, blocking>>>(x.data, n);
    got = x.read(blocking);
    for (int i = 0; i < n; i++)
        EXPECT(got[(size_t)i] == (float)(8 * expected(ncclSum, size, (size_t)i)));
    // Asking whether it is done brings it to an end, and waiting for an event does.
    NCCL(ncclAllReduce(x.data, x.data, n, ncclFloat32, ncclMax, comm, a));
    CUDA(cudaEventRecord(done, a));
    while (cudaEventQuery(done) == cudaErrorNotReady)
        usleep(1000);
    cudaGetLastError();
    NCCL(ncclAllReduce(x.data, x.data, n, ncclFloat32, ncclMax, comm, a));
    CUDA(cudaEventRecord(done, a));
    CUDA(cudaEventSynchronize(done));
    CUDA(cudaStreamQuery(a));
    CUDA(cudaStreamDestroy(a));
    CUDA(cudaStreamDestroy(b));
    CUDA(cudaStreamDestroy(blocking));
    CUDA(cudaEventDestroy(done));
}

// More operations than there are places for, before the first wait.
static void many(ncclComm_t comm, int rank, int size)
{
    std::vector<float> zero(1000);
    buffer<float> x(zero);
    for (int i = 0; i < 600; i++)
        NCCL(ncclAllReduce(x.data + i, x.data + i, 1, ncclFloat32, ncclSum, comm, 0));
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 300; i++)
        NCCL(rank == 0          ? ncclSend(x.data + i, 1, ncclFloat32, size - 1, comm, 0)
             : rank == size - 1 ? ncclRecv(x.data + i, 1, ncclFloat32, 0, comm, 0)
                                : ncclSuccess);
    CUDA(cudaDeviceSynchronize());
}

static void all(ncclComm_t comm, int rank, int size)
{
    int count = 0, mine = -1, version = 0;
    ncclResult_t error = ncclInternalError;
    NCCL(ncclCommCount(comm, &count));
    NCCL(ncclCommUserRank(comm, &mine));
    NCCL(ncclGetVersion(&version));
    EXPECT(count == size && mine == rank && version == NCCL_VERSION_CODE);
    for (size_t n : { 0, 1, 31, 33, 5003 }) {
        reductions<float>(comm, rank, size, ncclFloat32, n);
        reductions<__half>(comm, rank, size, ncclFloat16, n);
        reductions<__nv_bfloat16>(comm, rank, size, ncclBfloat16, n);
        reductions<int>(comm, rank, size, ncclInt32, n);
        reductions<long long>(comm, rank, size, ncclInt64, n);
        reductions<unsigned char>(comm, rank, size, ncclUint8, n);
        copies<float>(comm, rank, size, ncclFloat32, n);
        copies<__half>(comm, rank, size, ncclFloat16, n);
        copies<long long>(comm, rank, size, ncclInt64, n);
    }
    order(comm, rank, size);
    if (size > 1)
        many(comm, rank, size);
    NCCL(ncclCommGetAsyncError(comm, &error));
    EXPECT(error == ncclSuccess);
    NCCL(ncclCommDestroy(comm));
}

int main()
{
    int bad = 0;
    for (int size = 1; size <= 4; size++)
        bad += run_ranks(size, all);
    printf("%s\n", bad ? "FAIL" : "ok");
    return bad != 0;
}
