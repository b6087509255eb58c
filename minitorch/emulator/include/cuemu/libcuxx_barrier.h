/* libcuxx_barrier.h -- cuda::barrier, and cuda::memcpy_async onto it; phase.c. */
#ifndef CUEMU_LIBCUXX_BARRIER_H
#define CUEMU_LIBCUXX_BARRIER_H

#include "libcuxx.h"

namespace cuda
{

/* A number of bytes that promises the alignment of both addresses. */
template <::std::size_t Alignment> struct aligned_size_t {
    static constexpr ::std::size_t align = Alignment;
    ::std::size_t value;
    constexpr explicit aligned_size_t(::std::size_t bytes) : value(bytes)
    {
    }
    constexpr operator ::std::size_t() const
    {
        return value;
    }
};

template <thread_scope Scope> class barrier
{
  public:
    class arrival_token
    {
      public:
        uint64_t phase;
    };
    uint64_t word; /* phase.c's */
    static constexpr int scope = cuemu_scope(Scope);

    barrier() = default;
    CUEMU_MEMBER explicit barrier(::std::ptrdiff_t expected)
    {
        cuemu_phase_init(&word, (uint32_t)expected);
    }
    barrier(const barrier &) = delete;
    static constexpr ::std::ptrdiff_t max()
    {
        return (1 << 20) - 1;
    }
    [[nodiscard]] CUEMU_MEMBER arrival_token arrive(::std::ptrdiff_t count = 1)
    {
        return arrival_token{ cuemu_phase_arrive(&word, (uint32_t)count, 0, scope) };
    }
    CUEMU_MEMBER void wait(arrival_token &&token)
    {
        cuemu_phase_wait(&word, token.phase, scope);
    }
    CUEMU_MEMBER void arrive_and_wait()
    {
        cuemu_phase_wait(&word, cuemu_phase_arrive(&word, 1, 0, scope), scope);
    }
    CUEMU_MEMBER void arrive_and_drop()
    {
        cuemu_phase_arrive(&word, 1, 1, scope);
    }
    CUEMU_MEMBER bool try_wait(arrival_token &&token)
    {
        return cuemu_phase_ended(&word, token.phase, scope);
    }
    /* For the phase of that parity. */
    CUEMU_MEMBER void wait_parity(bool parity)
    {
        uint64_t phase = cuemu_phase(&word);
        cuemu_phase_wait(&word, (phase & 1) == (uint64_t)parity ? phase : ~0ull, scope);
    }
    CUEMU_MEMBER bool try_wait_parity(bool parity)
    {
        uint64_t phase = cuemu_phase(&word);
        return cuemu_phase_ended(&word, (phase & 1) == (uint64_t)parity ? phase : ~0ull, scope);
    }
    friend CUEMU_MEMBER void init(barrier *b, ::std::ptrdiff_t expected)
    {
        cuemu_phase_init(&b->word, (uint32_t)expected);
    }
};

enum class async_contract_fulfillment { none, async };

/* This thread's part of a group's copy: pieces of `unit` bytes, in turns. */
template <class Group, class F> CUEMU_INLINE void cuemu_share(const Group &group, size_t bytes, size_t unit, F copy)
{
    for (size_t at = group.thread_rank() * unit; at < bytes; at += group.size() * unit)
        copy(at, bytes - at < unit ? bytes - at : unit);
}
template <class Size> constexpr size_t cuemu_unit(const Size &)
{
    return 4;
}
template <size_t Alignment> constexpr size_t cuemu_unit(const aligned_size_t<Alignment> &)
{
    return Alignment < 4 ? 4 : Alignment < 16 ? Alignment : 16;
}

/* A promised alignment is not checked. */
template <class Size, thread_scope Scope>
CUEMU_INLINE async_contract_fulfillment memcpy_async(void *to, const void *from, Size size, barrier<Scope> &b)
{
    cuemu_phase_copy(&b.word, to, from, size);
    return async_contract_fulfillment::async;
}
template <class T, class Size, thread_scope Scope>
CUEMU_INLINE async_contract_fulfillment memcpy_async(T *to, const T *from, Size size, barrier<Scope> &b)
{
    cuemu_phase_copy(&b.word, (void *)to, (const void *)from, size);
    return async_contract_fulfillment::async;
}
template <class Group, class T, class Size, thread_scope Scope>
CUEMU_INLINE async_contract_fulfillment memcpy_async(const Group &group, T *to, const T *from, Size size,
                                                     barrier<Scope> &b)
{
    cuemu_share(group, size, cuemu_unit(size), [&](size_t at, size_t bytes) __attribute__((always_inline)) {
        cuemu_phase_copy(&b.word, (char *)to + at, (const char *)from + at, bytes);
    });
    return async_contract_fulfillment::async;
}
template <class Group, class Size, thread_scope Scope>
CUEMU_INLINE async_contract_fulfillment memcpy_async(const Group &group, void *to, const void *from, Size size,
                                                     barrier<Scope> &b)
{
    return memcpy_async(group, (char *)to, (const char *)from, size, b);
}
} // namespace cuda

#endif
