// Ballots, partial masks in divergent branches, match, shuffles of a segment.
#include "check.h"

__global__ void votes(unsigned *out)
{
    int t = threadIdx.x;
    unsigned odd = __ballot_sync(0xffffffffu, t & 1), part;
    if (t < 16)
        part = __ballot_sync(0x0000ffffu, t < 4);
    else
        part = __ballot_sync(0xffff0000u, t >= 30);
    unsigned same = __match_any_sync(0xffffffffu, t / 8);
    int neighbour = __shfl_sync(0xffffffffu, t, 3, 8);
    int all = __all_sync(0xffffffffu, t < 32) && !__any_sync(0xffffffffu, t > 31);
    out[t] = odd == 0xaaaaaaaau && same == 0xffu << (t / 8 * 8) && neighbour == t / 8 * 8 + 3 && all &&
             __popc(part) == (t < 16 ? 4 : 2);
}

int main()
{
    unsigned *out = zeros<unsigned>(32);
    votes<<<1, 32>>>(out);
    EXPECT(take(out, 32) == std::vector<unsigned>(32, 1u));
}
