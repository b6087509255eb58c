/* grid.h -- the grid of a cooperative launch; cooperative_groups.h includes it. */
#ifndef CUEMU_COOPERATIVE_GROUPS_GRID_H
#define CUEMU_COOPERATIVE_GROUPS_GRID_H

namespace cooperative_groups
{

/* All blocks of a cooperative launch. */
struct grid_group {
    CUEMU_MEMBER void sync(const char *file = __builtin_FILE(), int line = __builtin_LINE()) const
    {
        cuemu_grid_sync(file, line);
    }
    CUEMU_MEMBER static bool is_valid()
    {
        return cuemu_grid_is_cooperative();
    }
    CUEMU_MEMBER static dim3 group_dim()
    {
        return cuemu_grid_dim();
    }
    CUEMU_MEMBER static dim3 dim_blocks()
    {
        return cuemu_grid_dim();
    }
    CUEMU_MEMBER static dim3 block_index()
    {
        return cuemu_block_idx();
    }
    CUEMU_MEMBER static unsigned long long num_blocks()
    {
        const uint3 grid = cuemu_grid_dim();
        return (unsigned long long)grid.x * grid.y * grid.z;
    }
    CUEMU_MEMBER static unsigned long long block_rank()
    {
        const uint3 grid = cuemu_grid_dim(), block = cuemu_block_idx();
        return ((unsigned long long)block.z * grid.y + block.y) * grid.x + block.x;
    }
    CUEMU_MEMBER static unsigned long long size()
    {
        return num_blocks() * thread_block::size();
    }
    CUEMU_MEMBER static unsigned long long num_threads()
    {
        return size();
    }
    CUEMU_MEMBER static unsigned long long thread_rank()
    {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
};

CUEMU_INLINE grid_group this_grid()
{
    return {};
}

CUEMU_INLINE void sync(const grid_group &grid, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    grid.sync(file, line);
}

} // namespace cooperative_groups

#endif
