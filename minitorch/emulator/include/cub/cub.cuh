/* cub.cuh -- the part of CUB that the emulator has: reductions and scans of warps and blocks, sums of the device.
 *
 * Warps use shuffles, as CUB's do, so their storage is not accessed. Blocks combine the results of their warps in
 * shared memory; it must not be written again before all threads have passed a barrier, as in CUB. Threads to which CUB
 * promises no result get NaN. A call is a barrier at the line of the call, hence CUEMU_PLACE. */
#ifndef CUEMU_CUB_H
#define CUEMU_CUB_H

#include "../cuda_runtime.h"

#define CUEMU_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace cub
{

#define CUEMU_OPERATOR(name, expression)                                           \
    struct name {                                                                  \
        template <class T> CUEMU_MEMBER T operator()(const T &a, const T &b) const \
        {                                                                          \
            return expression;                                                     \
        }                                                                          \
    };
CUEMU_OPERATOR(Sum, a + b)
CUEMU_OPERATOR(Max, a < b ? b : a)
CUEMU_OPERATOR(Min, b < a ? b : a)

template <class T> CUEMU_MEMBER T cuemu_undefined()
{
    T value{};
    if constexpr (std::is_trivially_copyable<T>::value)
        __builtin_memset((void *)&value, 0xff, sizeof value);
    return value;
}

template <class T, class F, int ITEMS> CUEMU_MEMBER T cuemu_combined(const T (&item)[ITEMS], F combine)
{
    T all = item[0];
    for (int i = 1; i < ITEMS; i++)
        all = combine(all, item[i]);
    return all;
}

/* ---- logical warps of N lanes ---- */

template <int N> struct cuemu_logical_warp {
    static_assert(N > 0 && N <= 32 && (N & (N - 1)) == 0, "the emulator has logical warps of 1, 2, 4, 8, 16, 32 lanes");
    struct TempStorage {
    };
    unsigned lane = cuemu_lane() % N;
    unsigned mask = N == 32 ? ~0u : ((1u << N % 32) - 1) << cuemu_lane() / N * N;

    template <class T> CUEMU_MEMBER T shuffle(cuemu_warp_op op, T value, unsigned arg)
    {
        return cuemu::shuffle_parts(op, mask, value, (int)arg, N);
    }
    template <class T, class F> CUEMU_MEMBER T scan(T value, F combine)
    {
        for (unsigned distance = 1; distance < N; distance *= 2) {
            T before = shuffle(CUEMU_SHFL_UP, value, distance);
            value = lane >= distance ? combine(before, value) : value;
        }
        return value;
    }
};

template <class T, int N = 32> struct WarpReduce : cuemu_logical_warp<N> {
    CUEMU_MEMBER explicit WarpReduce(typename WarpReduce::TempStorage &)
    {
    }
    /* The reduction of the first `valid` lanes; lane 0 gets it. */
    template <class F> CUEMU_MEMBER T Reduce(T value, F combine, int valid = N)
    {
        for (int distance = 1; distance < N; distance *= 2) {
            const bool there = (int)this->lane + distance < (valid < N ? valid : N);
            T other = this->shuffle(CUEMU_SHFL, value, this->lane + there * distance);
            value = there ? combine(value, other) : value;
        }
        return this->lane == 0 ? value : cuemu_undefined<T>();
    }
    CUEMU_MEMBER T Sum(T value, int valid = N)
    {
        return Reduce(value, ::cub::Sum(), valid);
    }
};

template <class T, int N = 32> struct WarpScan : cuemu_logical_warp<N> {
    CUEMU_MEMBER explicit WarpScan(typename WarpScan::TempStorage &)
    {
    }
    CUEMU_MEMBER void InclusiveSum(T in, T &out)
    {
        out = this->scan(in, Sum());
    }
    CUEMU_MEMBER void InclusiveSum(T in, T &out, T &aggregate)
    {
        InclusiveSum(in, out);
        aggregate = this->shuffle(CUEMU_SHFL, out, N - 1);
    }
    CUEMU_MEMBER void ExclusiveSum(T in, T &out, T &aggregate)
    {
        InclusiveSum(in, out, aggregate);
        out = this->shuffle(CUEMU_SHFL_UP, out, 1);
        out = this->lane == 0 ? T() : out;
    }
    CUEMU_MEMBER void ExclusiveSum(T in, T &out)
    {
        T aggregate;
        ExclusiveSum(in, out, aggregate);
    }
};

/* ---- blocks of X * Y * Z threads ---- */

template <class T, int THREADS> struct cuemu_block {
    enum { WARPS = (THREADS + 31) / 32 };
    struct TempStorage {
        T warp[WARPS];
    } & temp;
    unsigned rank = cuemu_thread_rank(), warp = rank / 32;
    CUEMU_MEMBER explicit cuemu_block(TempStorage &storage) : temp(storage)
    {
    }
};

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
struct BlockReduce : cuemu_block<T, X * Y * Z> {
    using cuemu_block<T, X * Y * Z>::cuemu_block;
    /* The reduction of the first `valid` threads; thread 0 gets it. */
    template <class F> CUEMU_MEMBER T Reduce(T value, F combine, int valid, CUEMU_PLACE)
    {
        typename WarpReduce<T>::TempStorage none;
        value = WarpReduce<T>(none).Reduce(value, combine, valid - 32 * (int)this->warp);
        if (this->rank % 32 == 0)
            this->temp.warp[this->warp] = value;
        __syncthreads(file, line);
        for (int i = 1; this->rank == 0 && 32 * i < valid; i++)
            value = combine(value, this->temp.warp[i]);
        return this->rank == 0 ? value : cuemu_undefined<T>();
    }
    template <class F> CUEMU_MEMBER T Reduce(T value, F combine, CUEMU_PLACE)
    {
        return Reduce(value, combine, X * Y * Z, file, line);
    }
    template <int ITEMS, class F> CUEMU_MEMBER T Reduce(T (&item)[ITEMS], F combine, CUEMU_PLACE)
    {
        return Reduce(cuemu_combined(item, combine), combine, X * Y * Z, file, line);
    }
    CUEMU_MEMBER T Sum(T value, int valid, CUEMU_PLACE)
    {
        return Reduce(value, ::cub::Sum(), valid, file, line);
    }
    CUEMU_MEMBER T Sum(T value, CUEMU_PLACE)
    {
        return Reduce(value, ::cub::Sum(), file, line);
    }
    template <int ITEMS> CUEMU_MEMBER T Sum(T (&item)[ITEMS], CUEMU_PLACE)
    {
        return Reduce(item, ::cub::Sum(), file, line);
    }
};

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
struct BlockScan : cuemu_block<T, X * Y * Z> {
    using cuemu_block<T, X * Y * Z>::cuemu_block;
    CUEMU_MEMBER void ExclusiveSum(T in, T &out, T &aggregate, CUEMU_PLACE)
    {
        cuemu_logical_warp<32> lanes;
        T all = lanes.scan(in, Sum()), left = lanes.shuffle(CUEMU_SHFL_UP, all, 1);
        if (lanes.lane == 31 || this->rank == X * Y * Z - 1)
            this->temp.warp[this->warp] = all;
        __syncthreads(file, line);
        out = aggregate = T();
        for (unsigned i = 0; i < this->WARPS; i++) {
            out = i == this->warp ? aggregate : out;
            aggregate = aggregate + this->temp.warp[i];
        }
        out = lanes.lane == 0 ? out : out + left;
    }
    CUEMU_MEMBER void ExclusiveSum(T in, T &out, CUEMU_PLACE)
    {
        T aggregate;
        ExclusiveSum(in, out, aggregate, file, line);
    }
    CUEMU_MEMBER void InclusiveSum(T in, T &out, T &aggregate, CUEMU_PLACE)
    {
        ExclusiveSum(in, out, aggregate, file, line);
        out = out + in;
    }
    CUEMU_MEMBER void InclusiveSum(T in, T &out, CUEMU_PLACE)
    {
        T aggregate;
        InclusiveSum(in, out, aggregate, file, line);
    }
    template <int ITEMS> CUEMU_MEMBER void ExclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS], CUEMU_PLACE)
    {
        T sum;
        ExclusiveSum(cuemu_combined(in, Sum()), sum, file, line);
        for (int i = 0; i < ITEMS; i++) {
            T next = sum + in[i]; /* out may be in */
            out[i] = sum;
            sum = next;
        }
    }
};

/* ---- the device ---- */

enum { CUEMU_REDUCE_THREADS = 256, CUEMU_REDUCE_BLOCKS = 132 };

/* out[block] = the sum of every so many-th item. */
template <class T, class In, class Out> __attribute__((flatten)) void cuemu_sum_part(In in, Out out, long long n)
{
    typedef BlockReduce<T, CUEMU_REDUCE_THREADS> reduction;
    static cuemu_shared_array array = { "temp_storage", __FILE__, __LINE__, 0 };
    const long long threads = (long long)cuemu_grid_dim().x * CUEMU_REDUCE_THREADS;
    T sum = T();
    for (long long i = cuemu_block_idx().x * (long long)CUEMU_REDUCE_THREADS + cuemu_thread_rank(); i < n; i += threads)
        sum = sum + in[i];
    sum =
        reduction(*(typename reduction::TempStorage *)cuemu_shared(&array, sizeof(typename reduction::TempStorage), 16))
            .Sum(sum);
    if (cuemu_thread_rank() == 0)
        out[cuemu_block_idx().x] = sum;
}

struct DeviceReduce {
    /* If `temp` is NULL, only says how many bytes it needs. */
    template <class In, class Out>
    static cudaError_t Sum(void *temp, size_t &bytes, In in, Out out, long long n, cudaStream_t stream = 0, CUEMU_PLACE)
    {
        typedef typename std::decay<decltype(in[0])>::type T;
        const long long full = (n + CUEMU_REDUCE_THREADS - 1) / CUEMU_REDUCE_THREADS;
        const unsigned blocks = full > CUEMU_REDUCE_BLOCKS ? CUEMU_REDUCE_BLOCKS : full > 1 ? (unsigned)full : 1;
        if (!temp) {
            bytes = CUEMU_REDUCE_BLOCKS * sizeof(T);
            return cudaSuccess;
        }
        if (bytes < CUEMU_REDUCE_BLOCKS * sizeof(T) || n < 0)
            return cudaErrorInvalidValue;
        cuemu::launch_site parts("cub::DeviceReduce::Sum", file, line, blocks, CUEMU_REDUCE_THREADS, 0, stream);
        cuemu::launch_site all("cub::DeviceReduce::Sum", file, line, 1, CUEMU_REDUCE_THREADS, 0, stream);
        cudaError_t error = parts.run(cuemu_sum_part<T, In, T *>, in, (T *)temp, n);
        return error != cudaSuccess ? error : all.run(cuemu_sum_part<T, T *, Out>, (T *)temp, out, (long long)blocks);
    }
};

} // namespace cub

#undef CUEMU_PLACE
#undef CUEMU_OPERATOR
#endif
