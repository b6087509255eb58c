/* scan.h -- cooperative_groups::inclusive_scan and exclusive_scan over a tile or a coalesced group. */
#ifndef CUEMU_COOPERATIVE_GROUPS_SCAN_H
#define CUEMU_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

namespace cooperative_groups
{

template <class Group, class T, class F> CUEMU_INLINE T inclusive_scan(const Group &group, T value, F &&combine)
{
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        T before = group.shfl_up(value, distance);
        if (group.thread_rank() >= distance)
            value = combine(before, value);
    }
    return value;
}
template <class Group, class T> CUEMU_INLINE T inclusive_scan(const Group &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}
/* The first thread gets T(). */
template <class Group, class T, class F> CUEMU_INLINE T exclusive_scan(const Group &group, T value, F &&combine)
{
    T before = group.shfl_up(inclusive_scan(group, value, combine), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> CUEMU_INLINE T exclusive_scan(const Group &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups

#endif
