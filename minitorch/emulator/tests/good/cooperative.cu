// Cooperative groups: block, tiles of 32 and 8, reduce.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void sums(int *out, int *tiles, const int *in, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<8>(warp);
    int i = (int)(blockIdx.x * block.size() + block.thread_rank());
    int v = i < n ? in[i] : 0;
    int small = v;
    for (unsigned step = tile.size() / 2; step > 0; step /= 2)
        small += tile.shfl_down(small, step);
    if (tile.thread_rank() == 0)
        atomicAdd(&tiles[tile.meta_group_rank() % 2], small);
    v = cg::reduce(warp, v, cg::plus<int>());
    if (warp.thread_rank() == 0)
        atomicAdd(out, v);
}

int main()
{
    const int n = 500;
    std::vector<int> x(n);
    int want = 0;
    for (int i = 0; i < n; i++)
        want += x[i] = i % 10;
    int *in = upload(x), *out = zeros<int>(1), *tiles = zeros<int>(2);
    sums<<<4, 128>>>(out, tiles, in, n);
    EXPECT(take(out, 1)[0] == want);
    std::vector<int> halves = take(tiles, 2);
    EXPECT(halves[0] + halves[1] == want);
    CUDA(cudaFree(in));
}
