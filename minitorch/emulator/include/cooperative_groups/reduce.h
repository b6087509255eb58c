/* reduce.h -- cooperative_groups::reduce over a tile or a coalesced group. */
#ifndef CUEMU_COOPERATIVE_GROUPS_REDUCE_H
#define CUEMU_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups
{

#define CUEMU_REDUCTION(name, expression)                       \
    template <class T> struct name {                            \
        CUEMU_MEMBER T operator()(const T &a, const T &b) const \
        {                                                       \
            return expression;                                  \
        }                                                       \
    };
CUEMU_REDUCTION(plus, a + b)
CUEMU_REDUCTION(less, b < a ? b : a)
CUEMU_REDUCTION(greater, a < b ? b : a)
CUEMU_REDUCTION(bit_and, a &b)
CUEMU_REDUCTION(bit_or, a | b)
CUEMU_REDUCTION(bit_xor, a ^ b)

template <unsigned Size, class Parent, class T, class F>
CUEMU_INLINE T reduce(const thread_block_tile<Size, Parent> &tile, T value, F &&combine)
{
    for (unsigned bits = Size / 2; bits > 0; bits /= 2)
        value = combine(value, tile.shfl_xor(value, bits));
    return value;
}

template <class T, class F> CUEMU_INLINE T reduce(const coalesced_group &group, T value, F &&combine)
{
    T sum = group.shfl(value, 0);
    for (unsigned rank = 1; rank < group.size(); rank++)
        sum = combine(sum, group.shfl(value, (int)rank));
    return sum;
}

} // namespace cooperative_groups

#endif
