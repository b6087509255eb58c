/* warp.h -- barriers, fences, shuffles, votes and reductions of a warp. */
#ifndef CUEMU_WARP_H
#define CUEMU_WARP_H

CUEMU_INLINE void __syncthreads(const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    cuemu_barrier(file, line);
}
#define CUEMU_VOTE(name, vote)                                                                             \
    CUEMU_INLINE int name(int condition, const char *file = __builtin_FILE(), int line = __builtin_LINE()) \
    {                                                                                                      \
        return cuemu_barrier_vote(file, line, vote, condition != 0);                                       \
    }
CUEMU_VOTE(__syncthreads_count, CUEMU_COUNT)
CUEMU_VOTE(__syncthreads_and, CUEMU_AND)
CUEMU_VOTE(__syncthreads_or, CUEMU_OR)

CUEMU_INLINE void __syncwarp(unsigned mask = 0xffffffffu)
{
    cuemu_warp(CUEMU_SYNCWARP, mask, 0, 0, 32);
}
CUEMU_INLINE void __threadfence_block()
{
    cuemu_fence(0);
}
CUEMU_INLINE void __threadfence()
{
    cuemu_fence(1);
}
CUEMU_INLINE void __threadfence_system()
{
    cuemu_fence(2);
}
CUEMU_INLINE void __nanosleep(unsigned)
{
    cuemu_nanosleep();
}
CUEMU_INLINE void __trap()
{
    cuemu_trap("__trap()");
}
CUEMU_INLINE long long clock64()
{
    return cuemu_clock();
}

/* ---- shuffles: values of up to 8 bytes, as on the card (which has them for 4 and 8); those of cooperative groups move
 * larger ones in parts ---- */
namespace cuemu
{
template <class T> CUEMU_INLINE T shuffle_parts(cuemu_warp_op op, unsigned mask, T value, int lane, int width)
{
    uint64_t part[(sizeof(T) + 7) / 8] = {};
    __builtin_memcpy(part, &value, sizeof(T));
    for (uint64_t &bits : part)
        bits = cuemu_warp(op, mask, bits, lane, width);
    __builtin_memcpy(&value, part, sizeof(T));
    return value;
}
template <class T> CUEMU_INLINE T shuffle(cuemu_warp_op op, unsigned mask, T value, int lane, int width)
{
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes: use shfl() of a cooperative group, or shuffle the "
                                  "members one by one");
    return shuffle_parts(op, mask, value, lane, width);
}
} // namespace cuemu

template <class T> CUEMU_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
    return cuemu::shuffle(CUEMU_SHFL, mask, value, lane, width);
}
template <class T> CUEMU_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    return cuemu::shuffle(CUEMU_SHFL_UP, mask, value, (int)distance, width);
}
template <class T> CUEMU_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    return cuemu::shuffle(CUEMU_SHFL_DOWN, mask, value, (int)distance, width);
}
template <class T> CUEMU_INLINE T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    return cuemu::shuffle(CUEMU_SHFL_XOR, mask, value, bits, width);
}

/* ---- votes ---- */
CUEMU_INLINE unsigned __ballot_sync(unsigned mask, int condition)
{
    return (unsigned)cuemu_warp(CUEMU_BALLOT, mask, condition != 0, 0, 32);
}
CUEMU_INLINE int __any_sync(unsigned mask, int condition)
{
    return __ballot_sync(mask, condition) != 0;
}
CUEMU_INLINE int __all_sync(unsigned mask, int condition)
{
    return __ballot_sync(mask, !condition) == 0;
}
CUEMU_INLINE unsigned __activemask()
{
    return cuemu_active_mask();
}
template <class T> CUEMU_INLINE unsigned __match_any_sync(unsigned mask, T value)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return (unsigned)cuemu_warp(CUEMU_MATCH_ANY, mask, bits, 0, 32);
}
template <class T> CUEMU_INLINE unsigned __match_all_sync(unsigned mask, T value, int *all)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    unsigned same = (unsigned)cuemu_warp(CUEMU_MATCH_ALL, mask, bits, 0, 32);
    *all = same != 0;
    return same;
}

/* ---- reductions ---- */
#define CUEMU_REDUCE(name, T, op)                               \
    CUEMU_INLINE T name(unsigned mask, T value)                 \
    {                                                           \
        return (T)cuemu_warp(op, mask, (unsigned)value, 0, 32); \
    }
CUEMU_REDUCE(__reduce_add_sync, unsigned, CUEMU_REDUCE_ADD)
CUEMU_REDUCE(__reduce_add_sync, int, CUEMU_REDUCE_ADD)
CUEMU_REDUCE(__reduce_min_sync, unsigned, CUEMU_REDUCE_MIN)
CUEMU_REDUCE(__reduce_min_sync, int, CUEMU_REDUCE_MIN_S)
CUEMU_REDUCE(__reduce_max_sync, unsigned, CUEMU_REDUCE_MAX)
CUEMU_REDUCE(__reduce_max_sync, int, CUEMU_REDUCE_MAX_S)
CUEMU_REDUCE(__reduce_and_sync, unsigned, CUEMU_REDUCE_AND)
CUEMU_REDUCE(__reduce_or_sync, unsigned, CUEMU_REDUCE_OR)
CUEMU_REDUCE(__reduce_xor_sync, unsigned, CUEMU_REDUCE_XOR)

#endif
