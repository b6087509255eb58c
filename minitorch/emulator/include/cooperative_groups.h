/* cooperative_groups.h -- groups of a block's threads: the block, tiles of a power of two up to a warp, the threads of
 * a warp that are together; and the grid of a cooperative launch. Clusters are not emulated. */
#ifndef CUEMU_COOPERATIVE_GROUPS_H
#define CUEMU_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups
{

struct thread_block {
    CUEMU_MEMBER void sync(const char *file = __builtin_FILE(), int line = __builtin_LINE()) const
    {
        cuemu_barrier(file, line);
    }
    CUEMU_MEMBER static unsigned thread_rank()
    {
        return cuemu_thread_rank();
    }
    CUEMU_MEMBER static unsigned size()
    {
        const uint3 block = cuemu_block_dim();
        return block.x * block.y * block.z;
    }
    CUEMU_MEMBER static unsigned num_threads()
    {
        return size();
    }
    struct arrival_token {
    };
    /* What the block does between these two counts as done before the barrier. */
    [[nodiscard]] CUEMU_MEMBER arrival_token barrier_arrive() const
    {
        return {};
    }
    CUEMU_MEMBER void barrier_wait(arrival_token &&, const char *file = __builtin_FILE(),
                                   int line = __builtin_LINE()) const
    {
        cuemu_barrier(file, line);
    }
    CUEMU_MEMBER static dim3 group_index()
    {
        return cuemu_block_idx();
    }
    CUEMU_MEMBER static dim3 thread_index()
    {
        return cuemu_thread_idx();
    }
    CUEMU_MEMBER static dim3 group_dim()
    {
        return cuemu_block_dim();
    }
    CUEMU_MEMBER static dim3 dim_threads()
    {
        return cuemu_block_dim();
    }
};

CUEMU_INLINE thread_block this_thread_block()
{
    return {};
}

/* The common part of tiles and coalesced groups. Self has mask(), the group's lanes, and lane_of(rank). */
template <class Self> struct warp_group {
    CUEMU_MEMBER const Self &self() const
    {
        return static_cast<const Self &>(*this);
    }
    CUEMU_MEMBER void sync() const
    {
        __syncwarp(self().mask());
    }
    CUEMU_MEMBER unsigned num_threads() const
    {
        return self().size();
    }
    CUEMU_MEMBER unsigned ballot(int condition) const
    {
        return self().compress(__ballot_sync(self().mask(), condition));
    }
    CUEMU_MEMBER int any(int condition) const
    {
        return __any_sync(self().mask(), condition);
    }
    CUEMU_MEMBER int all(int condition) const
    {
        return __all_sync(self().mask(), condition);
    }
    template <class T> CUEMU_MEMBER unsigned match_any(T value) const
    {
        return self().compress(__match_any_sync(self().mask(), value));
    }
};

template <unsigned Size, class Parent = void> struct thread_block_tile : warp_group<thread_block_tile<Size, Parent>> {
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads in the emulator");
    thread_block_tile() = default;
    template <class Other> CUEMU_MEMBER thread_block_tile(const thread_block_tile<Size, Other> &)
    {
    }
    CUEMU_MEMBER static unsigned first_lane()
    {
        return cuemu_lane() / Size * Size;
    }
    CUEMU_MEMBER static unsigned mask()
    {
        return (Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1) << first_lane();
    }
    CUEMU_MEMBER static unsigned compress(unsigned lanes)
    {
        return (lanes & mask()) >> first_lane();
    }
    CUEMU_MEMBER static unsigned thread_rank()
    {
        return cuemu_lane() % Size;
    }
    CUEMU_MEMBER static constexpr unsigned size()
    {
        return Size;
    }
    CUEMU_MEMBER static unsigned meta_group_rank()
    {
        return cuemu_thread_rank() / Size;
    }
    CUEMU_MEMBER static unsigned meta_group_size()
    {
        return (thread_block::size() + Size - 1) / Size;
    }
    template <class T> CUEMU_MEMBER T shfl(T value, int rank) const
    {
        return cuemu::shuffle_parts(CUEMU_SHFL, mask(), value, rank, Size);
    }
    template <class T> CUEMU_MEMBER T shfl_up(T value, unsigned distance) const
    {
        return cuemu::shuffle_parts(CUEMU_SHFL_UP, mask(), value, (int)distance, Size);
    }
    template <class T> CUEMU_MEMBER T shfl_down(T value, unsigned distance) const
    {
        return cuemu::shuffle_parts(CUEMU_SHFL_DOWN, mask(), value, (int)distance, Size);
    }
    template <class T> CUEMU_MEMBER T shfl_xor(T value, unsigned bits) const
    {
        return cuemu::shuffle_parts(CUEMU_SHFL_XOR, mask(), value, (int)bits, Size);
    }
};

struct coalesced_group : warp_group<coalesced_group> {
    unsigned lanes;
    CUEMU_MEMBER unsigned mask() const
    {
        return lanes;
    }
    CUEMU_MEMBER unsigned size() const
    {
        return (unsigned)__popc(lanes);
    }
    CUEMU_MEMBER unsigned thread_rank() const
    {
        return (unsigned)__popc(lanes & ((1u << cuemu_lane()) - 1));
    }
    CUEMU_MEMBER int lane_of(unsigned rank) const
    {
        int lane = 0;
        for (unsigned left = lanes; left; left &= left - 1, lane = left ? __ffs((int)left) - 1 : lane)
            if (rank-- == 0)
                return __ffs((int)left) - 1;
        return lane;
    }
    CUEMU_MEMBER unsigned compress(unsigned which) const
    {
        unsigned packed = 0, rank = 0;
        for (unsigned left = lanes; left; left &= left - 1, rank++)
            packed |= (which >> (__ffs((int)left) - 1) & 1) << rank;
        return packed;
    }
    template <class T> CUEMU_MEMBER T shfl(T value, int rank) const
    {
        return cuemu::shuffle_parts(CUEMU_SHFL, lanes, value, lane_of((unsigned)rank % size()), 32);
    }
    template <class T> CUEMU_MEMBER T shfl_down(T value, unsigned distance) const
    {
        unsigned rank = thread_rank() + distance;
        return cuemu::shuffle_parts(CUEMU_SHFL, lanes, value, lane_of(rank < size() ? rank : thread_rank()), 32);
    }
    template <class T> CUEMU_MEMBER T shfl_up(T value, unsigned distance) const
    {
        unsigned rank = thread_rank();
        return cuemu::shuffle_parts(CUEMU_SHFL, lanes, value, lane_of(rank >= distance ? rank - distance : rank), 32);
    }
};

} // namespace cooperative_groups

#include "cooperative_groups/partition.h"

namespace cooperative_groups
{

CUEMU_INLINE coalesced_group coalesced_threads()
{
    coalesced_group group;
    group.lanes = cuemu_active_mask();
    return group;
}

template <unsigned Size, class Parent> CUEMU_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent &)
{
    return {};
}

CUEMU_INLINE void sync(const thread_block &group, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    group.sync(file, line);
}
CUEMU_INLINE void sync(const thread_group &group, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    group.sync(file, line);
}
template <class Self> CUEMU_INLINE void sync(const warp_group<Self> &group)
{
    group.sync();
}

} // namespace cooperative_groups

#include "cooperative_groups/grid.h"

#endif
