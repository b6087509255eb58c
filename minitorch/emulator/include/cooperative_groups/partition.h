/* partition.h -- parts of a warp, and thread_group; cooperative_groups.h includes it. */
#ifndef CUEMU_COOPERATIVE_GROUPS_PARTITION_H
#define CUEMU_COOPERATIVE_GROUPS_PARTITION_H

namespace cooperative_groups
{

/* The threads of a part of a warp with the same condition, or label. */
template <class Self> CUEMU_INLINE coalesced_group binary_partition(const warp_group<Self> &group, bool condition)
{
    coalesced_group part;
    unsigned mask = group.self().mask(), yes = __ballot_sync(mask, condition);
    part.lanes = condition ? yes : mask & ~yes;
    return part;
}
template <class Self, class T> CUEMU_INLINE coalesced_group labeled_partition(const warp_group<Self> &group, T label)
{
    coalesced_group part;
    part.lanes = __match_any_sync(group.self().mask(), label);
    return part;
}

/* One thread of the group calls the function. */
template <class Group, class F, class... Args>
CUEMU_INLINE void invoke_one(const Group &group, F &&function, Args &&...arguments)
{
    if (group.thread_rank() == 0)
        function(arguments...);
}

/* Any of them: the block, or the lanes of a mask. */
struct thread_group {
    unsigned lanes; /* 0: the block */
    CUEMU_MEMBER thread_group(const thread_block &) : lanes(0)
    {
    }
    template <class Self> CUEMU_MEMBER thread_group(const warp_group<Self> &group) : lanes(group.self().mask())
    {
    }
    CUEMU_MEMBER void sync(const char *file = __builtin_FILE(), int line = __builtin_LINE()) const
    {
        if (lanes)
            __syncwarp(lanes);
        else
            cuemu_barrier(file, line);
    }
    CUEMU_MEMBER unsigned size() const
    {
        return lanes ? (unsigned)__popc(lanes) : thread_block::size();
    }
    CUEMU_MEMBER unsigned num_threads() const
    {
        return size();
    }
    CUEMU_MEMBER unsigned thread_rank() const
    {
        return lanes ? (unsigned)__popc(lanes & ((1u << cuemu_lane()) - 1)) : cuemu_thread_rank();
    }
};

/* A part of a warp whose size is known at run time only. */
CUEMU_INLINE thread_group tiled_partition(const thread_group &parent, unsigned size)
{
    thread_group part = parent;
    unsigned first = cuemu_lane() / size * size;
    part.lanes =
        (size == 32 ? 0xffffffffu : ((1u << size % 32) - 1) << first) & (parent.lanes ? parent.lanes : 0xffffffffu);
    return part;
}

} // namespace cooperative_groups

#endif
