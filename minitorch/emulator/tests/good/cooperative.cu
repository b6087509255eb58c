// Cooperative groups: block, tiles of 32 and 8, reduce; shuffles of more than 8 bytes.
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

struct record {
    double key;
    int place[3];
};

// Each thread gets the record of its neighbour, and the uint4 of the thread two above, if there is one in its tile.
__global__ void neighbours(record *out, uint4 *above)
{
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = (int)threadIdx.x;
    record mine = { i + 0.5, { i, 2 * i, 3 * i } };
    out[i] = tile.shfl_xor(mine, 1);
    above[i] = tile.shfl_down(make_uint4(i, i + 1, i + 2, i + 3), 2);
    cg::coalesced_group all = cg::coalesced_threads();
    out[i].place[2] += all.shfl(mine, 5).place[2];
}

static void check_neighbours()
{
    record *out = zeros<record>(64);
    uint4 *above = zeros<uint4>(64);
    neighbours<<<1, 64>>>(out, above);
    std::vector<record> got = take(out, 64);
    std::vector<uint4> higher = take(above, 64);
    for (int i = 0; i < 64; i++) {
        int other = i ^ 1, from = i % 8 < 6 ? i + 2 : i;
        EXPECT(got[i].key == other + 0.5 && got[i].place[1] == 2 * other);
        EXPECT(got[i].place[2] == 3 * other + 3 * (i / 32 * 32 + 5));
        EXPECT(higher[i].x == (unsigned)from && higher[i].w == (unsigned)from + 3);
    }
}

int main()
{
    check_neighbours();
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
