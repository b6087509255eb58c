/* memcpy_async.h -- cooperative_groups::memcpy_async: a group copies to shared memory, and waits for it. */
#ifndef CUEMU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define CUEMU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../cuemu/libcuxx_barrier.h"

namespace cooperative_groups
{

template <class Group, class Size>
CUEMU_INLINE void cuemu_group_copy(const Group &group, void *to, const void *from, const Size &size)
{
    cuda::cuemu_share(group, size, cuda::cuemu_unit(size), [&](size_t at, size_t bytes) __attribute__((always_inline)) {
        cuemu_copy_pieces((char *)to + at, (const char *)from + at, bytes);
    });
    cuemu_copy_commit();
}
template <class Group, class T, class U, class Size>
CUEMU_INLINE void memcpy_async(const Group &group, T *to, const U *from, const Size &bytes)
{
    cuemu_group_copy(group, (void *)to, (const void *)from, bytes);
}
/* Counts are in elements: copies as many as both have room for. */
template <class Group, class T, class U, class ToLayout, class FromLayout>
CUEMU_INLINE void memcpy_async(const Group &group, T *to, const ToLayout &room, const U *from, const FromLayout &count)
{
    size_t n = (size_t)room < (size_t)count ? (size_t)room : (size_t)count;
    cuemu_group_copy(group, (void *)to, (const void *)from, n * sizeof(T));
}

/* All but the last `Stages` copies are complete, for the whole group. */
template <unsigned Stages, class Group> CUEMU_INLINE void wait_prior(const Group &group)
{
    cuemu_copy_wait((int)Stages);
    group.sync();
}
template <class Group> CUEMU_INLINE void wait(const Group &group)
{
    wait_prior<0>(group);
}

} // namespace cooperative_groups

#endif
