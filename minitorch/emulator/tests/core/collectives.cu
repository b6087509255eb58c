// collectives.cu -- every warp function against its definition, with full, partial and divergent masks.
#include <cooperative_groups.h>
#include "expect.h"
namespace cg = cooperative_groups;

enum { FULL = -1 };

__global__ void shuffles(int *out)
{
    int lane = threadIdx.x, v = 100 + lane;
    out[0 * 32 + lane] = __shfl_sync(FULL, v, 5);
    out[1 * 32 + lane] = __shfl_sync(FULL, v, lane + 1, 8);
    out[2 * 32 + lane] = __shfl_up_sync(FULL, v, 3);
    out[3 * 32 + lane] = __shfl_down_sync(FULL, v, 3, 16);
    out[4 * 32 + lane] = __shfl_xor_sync(FULL, v, 9);
    double d = __shfl_down_sync(FULL, lane * 0.5, 1);
    out[5 * 32 + lane] = (int)(d * 2);
}

__global__ void votes(unsigned *out)
{
    unsigned lane = threadIdx.x;
    out[0 * 32 + lane] = __ballot_sync(FULL, lane % 3 == 0);
    out[1 * 32 + lane] = __any_sync(FULL, lane == 31) + 2 * __all_sync(FULL, lane < 31);
    out[2 * 32 + lane] = __match_any_sync(FULL, lane / 5);
    int same;
    out[3 * 32 + lane] = __match_all_sync(FULL, lane / 32, &same) & (same ? ~0u : 0);
    out[4 * 32 + lane] = __reduce_add_sync(FULL, lane) + __reduce_max_sync(FULL, lane) + __reduce_or_sync(FULL, lane);
}

// The two halves of the warp synchronise separately, in different branches; lane 7 takes no part in the second.
__global__ void partial(unsigned *out)
{
    unsigned lane = threadIdx.x;
    if (lane < 16)
        out[lane] = __ballot_sync(0x0000ffffu, lane & 1);
    else
        out[lane] = __shfl_sync(0xffff0000u, lane * lane, 20);
    if (lane != 7)
        out[32 + lane] = __reduce_add_sync(~(1u << 7), lane);
    __syncwarp();
    if (lane < 10) {
        out[64 + lane] = __activemask();
    } else { // something else first: a compiler may make one call of two that are alike
        __nanosleep(1);
        out[64 + lane] = ~__activemask();
    }
}

// Some lanes have returned, and the last warp has 20 lanes: the remaining lanes synchronise, with or without the others
// in the mask.
__global__ void leftover(unsigned *out, int n)
{
    unsigned lane = threadIdx.x % 32;
    if ((int)threadIdx.x >= n)
        return;
    unsigned half = __shfl_sync(__activemask(), lane / 2, lane / 2), all = __shfl_sync(FULL, lane, 3);
    out[threadIdx.x] = __ballot_sync(FULL, 1) + (half != lane / 2 / 2) + (all != 3);
}

__global__ void groups(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int rank = (int)block.thread_rank(), sum = rank;
    for (int d = 4; d > 0; d /= 2)
        sum += tile.shfl_xor(sum, d);
    tile.sync();
    block.sync();
    out[rank] = sum + 1000 * (int)tile.meta_group_rank() + 100000 * (int)tile.thread_rank();
}

int main()
{
    buffer<int> s(6 * 32), g(64);
    shuffles<<<1, 32>>>(s.data);
    EXPECT("shuffles", all_are(s.read(), [](int i) {
               int lane = i % 32;
               switch (i / 32) {
               case 0:
                   return 105;
               case 1:
                   return 100 + lane / 8 * 8 + (lane + 1) % 8;
               case 2:
                   return 100 + (lane < 3 ? lane : lane - 3);
               case 3:
                   return 100 + (lane % 16 + 3 < 16 ? lane + 3 : lane);
               case 4:
                   return 100 + (lane ^ 9);
               default:
                   return lane < 31 ? lane + 1 : lane;
               }
           }));

    buffer<unsigned> v(5 * 32), p(3 * 32), l(64);
    votes<<<1, 32>>>(v.data);
    EXPECT("votes and reductions", all_are(v.read(), [](int i) {
               unsigned lane = (unsigned)i % 32, match = 0, third = 0;
               for (unsigned k = 0; k < 32; k++) {
                   match |= (k / 5 == lane / 5 ? 1u : 0) << k;
                   third |= (k % 3 == 0 ? 1u : 0) << k;
               }
               unsigned want[] = { third, 1, match, ~0u, 496 + 31 + 31 };
               return want[i / 32];
           }));

    partial<<<1, 32>>>(p.data);
    EXPECT("partial masks", all_are(p.read(), [](int i) {
               unsigned lane = (unsigned)i % 32;
               unsigned want[] = { lane < 16 ? 0x0000aaaau : 400, lane == 7 ? 0u : 496u - 7, (1u << 10) - 1 };
               return want[i / 32];
           }));

    leftover<<<1, 52>>>(l.data, 45);
    EXPECT("returned lanes", all_are(l.read(), [](int i) { return i < 32 ? ~0u : i < 45 ? (1u << 13) - 1 : 0; }));

    groups<<<1, 64>>>(g.data);
    EXPECT("cooperative groups", all_are(g.read(), [](int i) {
               int base = i / 8 * 8;
               return 8 * base + 28 + 1000 * (i / 8) + 100000 * (i % 8);
           }));
    EXPECT("no error", cudaDeviceSynchronize() == cudaSuccess);
    return failures != 0;
}
