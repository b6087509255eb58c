/* libcuxx_pipeline.h -- cuda::pipeline, of one thread (groups of cp.async) or of a group (two barriers a stage). */
#ifndef CUEMU_LIBCUXX_PIPELINE_H
#define CUEMU_LIBCUXX_PIPELINE_H

#include "libcuxx_barrier.h"

namespace cuda
{

enum class pipeline_role { producer, consumer };

template <thread_scope Scope, uint8_t Stages> class pipeline_shared_state
{
  public:
    barrier<Scope> produced[Stages], consumed[Stages];
    uint32_t producers;
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state &) = delete;
};

template <thread_scope Scope> class pipeline
{
  public:
    barrier<Scope> *produced, *consumed; /* one a stage */
    unsigned stages, head, tail;         /* stages committed and released so far by this thread */
    CUEMU_MEMBER pipeline(barrier<Scope> *p, barrier<Scope> *c, unsigned count)
        : produced(p), consumed(c), stages(count), head(0), tail(0)
    {
    }
    pipeline(pipeline &&) = default;
    pipeline(const pipeline &) = delete;
    CUEMU_MEMBER void producer_acquire()
    {
        if (head >= stages)
            cuemu_phase_wait(&consumed[head % stages].word, head / stages - 1, barrier<Scope>::scope);
    }
    CUEMU_MEMBER void producer_commit()
    {
        cuemu_phase_arrive(&produced[head % stages].word, 1, 0, barrier<Scope>::scope);
        head++;
    }
    CUEMU_MEMBER void consumer_wait()
    {
        cuemu_phase_wait(&produced[tail % stages].word, tail / stages, barrier<Scope>::scope);
    }
    CUEMU_MEMBER void consumer_release()
    {
        cuemu_phase_arrive(&consumed[tail % stages].word, 1, 0, barrier<Scope>::scope);
        tail++;
    }
    CUEMU_MEMBER bool quit()
    {
        return true;
    }
    CUEMU_MEMBER void copy(void *to, const void *from, size_t size)
    {
        cuemu_phase_copy(&produced[head % stages].word, to, from, size);
    }
};

template <> class pipeline<thread_scope_thread>
{
  public:
    unsigned head, tail; /* stages committed, and waited for */
    CUEMU_MEMBER pipeline() : head(0), tail(0)
    {
    }
    pipeline(pipeline &&) = default;
    pipeline(const pipeline &) = delete;
    CUEMU_MEMBER void producer_acquire()
    {
    }
    CUEMU_MEMBER void producer_commit()
    {
        cuemu_copy_commit();
        head++;
    }
    CUEMU_MEMBER void consumer_wait()
    {
        if (head != tail)
            cuemu_copy_wait((int)(head - ++tail));
    }
    CUEMU_MEMBER void consumer_release()
    {
    }
    CUEMU_MEMBER bool quit()
    {
        return true;
    }
    CUEMU_MEMBER void copy(void *to, const void *from, size_t size)
    {
        cuemu_copy_pieces(to, from, size);
    }
};

CUEMU_INLINE pipeline<thread_scope_thread> make_pipeline()
{
    return {};
}

template <class Group, thread_scope Scope, uint8_t Stages>
CUEMU_INLINE pipeline<Scope> cuemu_make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state,
                                                 size_t producers, size_t consumers)
{
    for (unsigned i = 0; i < Stages && group.thread_rank() == 0; i++) {
        init(&state->produced[i], (::std::ptrdiff_t)producers);
        init(&state->consumed[i], (::std::ptrdiff_t)consumers);
    }
    group.sync();
    return pipeline<Scope>(state->produced, state->consumed, Stages);
}
template <class Group, thread_scope Scope, uint8_t Stages>
CUEMU_INLINE pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state)
{
    return cuemu_make_pipeline(group, state, group.size(), group.size());
}
template <class Group, thread_scope Scope, uint8_t Stages>
CUEMU_INLINE pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state,
                                           size_t producers)
{
    return cuemu_make_pipeline(group, state, producers, group.size() - producers);
}
template <class Group, thread_scope Scope, uint8_t Stages>
CUEMU_INLINE pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state,
                                           pipeline_role role)
{
    if (group.thread_rank() == 0)
        state->producers = 0;
    group.sync();
    if (role == pipeline_role::producer)
        atomicAdd(&state->producers, 1u);
    group.sync();
    size_t producers = state->producers;
    return cuemu_make_pipeline(group, state, producers, group.size() - producers);
}

/* Waits for all stages but the last `Prior` committed ones. */
template <uint8_t Prior> CUEMU_INLINE void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &pipe)
{
    cuemu_copy_wait(Prior);
    pipe.tail = pipe.head - Prior;
}

template <class T, class Size, thread_scope Scope>
CUEMU_INLINE async_contract_fulfillment memcpy_async(T *to, const T *from, Size size, pipeline<Scope> &pipe)
{
    pipe.copy((void *)to, (const void *)from, size);
    return async_contract_fulfillment::async;
}
template <class Size, thread_scope Scope>
CUEMU_INLINE async_contract_fulfillment memcpy_async(void *to, const void *from, Size size, pipeline<Scope> &pipe)
{
    pipe.copy(to, from, size);
    return async_contract_fulfillment::async;
}
template <class Group, class T, class Size, thread_scope Scope>
CUEMU_INLINE async_contract_fulfillment memcpy_async(const Group &group, T *to, const T *from, Size size,
                                                     pipeline<Scope> &pipe)
{
    cuemu_share(group, size, cuemu_unit(size), [&](size_t at, size_t bytes) __attribute__((always_inline)) {
        pipe.copy((char *)to + at, (const char *)from + at, bytes);
    });
    return async_contract_fulfillment::async;
}
template <class Group, class Size, thread_scope Scope>
CUEMU_INLINE async_contract_fulfillment memcpy_async(const Group &group, void *to, const void *from, Size size,
                                                     pipeline<Scope> &pipe)
{
    return memcpy_async(group, (char *)to, (const char *)from, size, pipe);
}
} // namespace cuda

#endif
