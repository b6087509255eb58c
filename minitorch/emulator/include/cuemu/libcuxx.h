/* libcuxx.h -- the part of libcu++ that its headers in include/cuda share: scopes, cuda::atomic, cuda::atomic_ref. */
#ifndef CUEMU_LIBCUXX_H
#define CUEMU_LIBCUXX_H

#include "../cuda_runtime.h"
#include <atomic> /* std::memory_order */
#include <cstddef>
#include <limits>

namespace cuda
{
namespace std
{
using namespace ::std;
} // namespace std

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

using memory_order = ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

/* As cuemu_fence has it. */
constexpr int cuemu_scope(thread_scope scope)
{
    return scope == thread_scope_system ? 2 : scope == thread_scope_device ? 1 : 0;
}

CUEMU_INLINE void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system)
{
    if (order != memory_order_relaxed && cuemu_in_kernel())
        cuemu_fence(cuemu_scope(scope));
}

/* Atomic access to *at: a release is a fence before it, an acquire a fence after it. On the host too. */
template <class T, thread_scope Scope> struct cuemu_atomic_access {
    CUEMU_MEMBER static void before(T *at, memory_order order, bool store = false, int scope = cuemu_scope(Scope))
    {
        if (!cuemu_in_kernel())
            return;
        if (order != memory_order_relaxed && order != memory_order_acquire && order != memory_order_consume)
            cuemu_fence(cuemu_scope(Scope));
        store ? cuemu_atomic_store((void *)at, sizeof(T), scope) : cuemu_atomic((void *)at, sizeof(T), scope);
    }
    CUEMU_MEMBER static void after(memory_order order)
    {
        if (order != memory_order_relaxed && order != memory_order_release && cuemu_in_kernel())
            cuemu_fence(cuemu_scope(Scope));
    }
    CUEMU_UNTRACED __attribute__((noinline)) static T get(T *at)
    {
        T value;
        __atomic_load(at, &value, __ATOMIC_SEQ_CST);
        return value;
    }
    CUEMU_UNTRACED __attribute__((noinline)) static T swap(T *at, T value)
    {
        T old;
        __atomic_exchange(at, &value, &old, __ATOMIC_SEQ_CST);
        return old;
    }
    CUEMU_UNTRACED __attribute__((noinline)) static bool compare(T *at, T *expected, T value)
    {
        return __atomic_compare_exchange(at, expected, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    template <class F> CUEMU_MEMBER static T update(T *at, T value, memory_order order, F next)
    {
        before(at, order);
        T old = cuemu::update(at, value, next);
        after(order);
        return old;
    }
};

/* The members of atomic and atomic_ref; Self has address(). */
template <class Self, class T, thread_scope Scope> struct cuemu_atomic_members {
    typedef cuemu_atomic_access<T, Scope> access;
    CUEMU_MEMBER T *at() const
    {
        return static_cast<const Self *>(this)->address();
    }
    CUEMU_MEMBER T load(memory_order order = memory_order_seq_cst) const
    {
        /* Blocks that only load do not race, whatever the scope. */
        access::before(at(), order == memory_order_seq_cst ? memory_order_acquire : order, false, 1);
        T value = access::get(at());
        access::after(order);
        return value;
    }
    CUEMU_MEMBER void store(T value, memory_order order = memory_order_seq_cst) const
    {
        access::before(at(), order, true);
        access::swap(at(), value);
    }
    CUEMU_MEMBER T exchange(T value, memory_order order = memory_order_seq_cst) const
    {
        access::before(at(), order);
        T old = access::swap(at(), value);
        access::after(order);
        return old;
    }
    CUEMU_MEMBER bool compare_exchange_strong(T &expected, T value, memory_order order = memory_order_seq_cst,
                                              memory_order = memory_order_seq_cst) const
    {
        T seen = expected;
        access::before(at(), order);
        bool same = access::compare(at(), &seen, value);
        access::after(order);
        expected = seen;
        return same;
    }
    CUEMU_MEMBER bool compare_exchange_weak(T &expected, T value, memory_order order = memory_order_seq_cst,
                                            memory_order other = memory_order_seq_cst) const
    {
        return compare_exchange_strong(expected, value, order, other);
    }
#define CUEMU_FETCH(name, expression)                                                                         \
    CUEMU_MEMBER T name(cuemu::same<T> value, memory_order order = memory_order_seq_cst) const                \
    {                                                                                                         \
        return access::update(at(), value, order, [](T old, T v) CUEMU_UNTRACED -> T { return expression; }); \
    }
    CUEMU_FETCH(fetch_add, old + v)
    CUEMU_FETCH(fetch_sub, old - v)
    CUEMU_FETCH(fetch_and, old &v)
    CUEMU_FETCH(fetch_or, old | v)
    CUEMU_FETCH(fetch_xor, old ^ v)
    CUEMU_FETCH(fetch_min, v < old ? v : old)
    CUEMU_FETCH(fetch_max, old < v ? v : old)
#undef CUEMU_FETCH
    CUEMU_MEMBER operator T() const
    {
        return load();
    }
    CUEMU_MEMBER T operator=(T value) const
    {
        store(value);
        return value;
    }
    CUEMU_MEMBER T operator++(int) const
    {
        return fetch_add(1);
    }
    CUEMU_MEMBER T operator++() const
    {
        return fetch_add(1) + 1;
    }
    CUEMU_MEMBER T operator--(int) const
    {
        return fetch_sub(1);
    }
    CUEMU_MEMBER T operator--() const
    {
        return fetch_sub(1) - 1;
    }
    CUEMU_MEMBER bool is_lock_free() const
    {
        return true;
    }
    CUEMU_MEMBER T operator&=(T value) const
    {
        return fetch_and(value) & value;
    }
    CUEMU_MEMBER T operator|=(T value) const
    {
        return fetch_or(value) | value;
    }
    CUEMU_MEMBER T operator^=(T value) const
    {
        return fetch_xor(value) ^ value;
    }
    CUEMU_MEMBER T operator+=(T value) const
    {
        return fetch_add(value) + value;
    }
    CUEMU_MEMBER T operator-=(T value) const
    {
        return fetch_sub(value) - value;
    }
    /* Until the value is another one. */
    CUEMU_MEMBER void wait(T old, memory_order order = memory_order_seq_cst) const
    {
        while (load(order) == old)
            if (cuemu_in_kernel())
                cuemu_nanosleep();
    }
    CUEMU_MEMBER void notify_one() const
    {
    }
    CUEMU_MEMBER void notify_all() const
    {
    }
};

template <class T, thread_scope Scope = thread_scope_system>
struct atomic : cuemu_atomic_members<atomic<T, Scope>, T, Scope> {
    mutable T value;
    atomic() = default;
    constexpr atomic(T v) : value(v)
    {
    }
    atomic(const atomic &) = delete;
    atomic &operator=(const atomic &) = delete;
    CUEMU_MEMBER T operator=(T v)
    {
        this->store(v);
        return v;
    }
    CUEMU_MEMBER T *address() const
    {
        return &value;
    }
};

template <class T, thread_scope Scope = thread_scope_system>
struct atomic_ref : cuemu_atomic_members<atomic_ref<T, Scope>, T, Scope> {
    using cuemu_atomic_members<atomic_ref<T, Scope>, T, Scope>::operator=;
    T *target;
    CUEMU_MEMBER explicit atomic_ref(T &t) : target(&t)
    {
    }
    CUEMU_MEMBER T *address() const
    {
        return target;
    }
};
} // namespace cuda

#endif
