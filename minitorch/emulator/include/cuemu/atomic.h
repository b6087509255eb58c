/* atomic.h -- atomic updates, for the types for which CUDA has them. The access is recorded once, as an atomic; the
 * update itself is untraced, and atomic on the host too, because blocks run on several cores. */
#ifndef CUEMU_ATOMIC_H
#define CUEMU_ATOMIC_H

struct __half;
struct __nv_bfloat16;
struct __half2;
struct __nv_bfloat162;

namespace cuemu
{

template <class T, class... Allowed> constexpr bool one_of = (std::is_same<T, Allowed>::value || ...);
typedef unsigned long long ull;

template <class T, class F> CUEMU_UNTRACED __attribute__((noinline)) static T update(T *at, T value, F next)
{
    T old, wanted;
    __atomic_load(at, &old, __ATOMIC_RELAXED);
    do
        wanted = next(old, value);
    while (!__atomic_compare_exchange(at, &old, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

template <class T> CUEMU_UNTRACED __attribute__((noinline)) static T compare_exchange(T *at, T expected, T wanted)
{
    __atomic_compare_exchange(at, &expected, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

} // namespace cuemu

#define CUEMU_ATOMIC_ONE(name, record, scope, expression, ...)                                      \
    template <class T> CUEMU_INLINE T name(T *at, cuemu::same<T> value)                             \
    {                                                                                               \
        static_assert(cuemu::one_of<T, __VA_ARGS__>,                                                \
                      #name " has no version for this type on a card: it has " #__VA_ARGS__);       \
        record((void *)at, sizeof(T), scope);                                                       \
        return cuemu::update(at, value, [](T old, T v) CUEMU_UNTRACED -> T { return expression; }); \
    }
#define CUEMU_ATOMIC(name, expression, ...)                                  \
    CUEMU_ATOMIC_ONE(name, cuemu_atomic, 1, expression, __VA_ARGS__)         \
    CUEMU_ATOMIC_ONE(name##_block, cuemu_atomic, 0, expression, __VA_ARGS__) \
    CUEMU_ATOMIC_ONE(name##_system, cuemu_atomic, 2, expression, __VA_ARGS__)
/* May give memory its first value. */
#define CUEMU_EXCHANGE(name, scope) \
    CUEMU_ATOMIC_ONE(name, cuemu_atomic_store, scope, ((void)old, v), int, unsigned, cuemu::ull, float)

CUEMU_ATOMIC(atomicAdd, old + v, int, unsigned, cuemu::ull, float, double, __half, __nv_bfloat16, __half2,
             __nv_bfloat162)
CUEMU_ATOMIC(atomicSub, old - v, int, unsigned)
CUEMU_ATOMIC(atomicMin, v < old ? v : old, int, unsigned, long long, cuemu::ull)
CUEMU_ATOMIC(atomicMax, v > old ? v : old, int, unsigned, long long, cuemu::ull)
CUEMU_ATOMIC(atomicAnd, old &v, int, unsigned, cuemu::ull)
CUEMU_ATOMIC(atomicOr, old | v, int, unsigned, cuemu::ull)
CUEMU_ATOMIC(atomicXor, old ^ v, int, unsigned, cuemu::ull)
CUEMU_EXCHANGE(atomicExch, 1)
CUEMU_EXCHANGE(atomicExch_block, 0)
CUEMU_EXCHANGE(atomicExch_system, 2)
CUEMU_ATOMIC(atomicInc, old >= v ? 0 : old + 1, unsigned)
CUEMU_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1, unsigned)

#define CUEMU_ATOMIC_CAS(name, scope)                                                                      \
    template <class T> CUEMU_INLINE T name(T *at, cuemu::same<T> expected, cuemu::same<T> wanted)          \
    {                                                                                                      \
        static_assert(cuemu::one_of<T, int, unsigned, cuemu::ull, unsigned short>,                         \
                      #name " has no version for this type on a GPU: it has int, unsigned, unsigned long " \
                            "long, unsigned short");                                                       \
        cuemu_atomic((void *)at, sizeof(T), scope);                                                        \
        return cuemu::compare_exchange(at, expected, wanted);                                              \
    }
CUEMU_ATOMIC_CAS(atomicCAS, 1)
CUEMU_ATOMIC_CAS(atomicCAS_block, 0)
CUEMU_ATOMIC_CAS(atomicCAS_system, 2)

#endif
