// arch: 80
// The reductions that sm_80 has as instructions.
#include "check.h"

__global__ void reduce(unsigned *u, int *s)
{
    unsigned t = threadIdx.x;
    unsigned add = __reduce_add_sync(0xffffffffu, t), low = __reduce_min_sync(0xffffffffu, t + 5);
    unsigned all = __reduce_or_sync(0xffffffffu, 1u << t), none = __reduce_and_sync(0xffffffffu, t);
    int signed_low = __reduce_min_sync(0xffffffffu, (int)t - 16), high = __reduce_max_sync(0xffffffffu, -(int)t);
    if (t == 7) {
        u[0] = add, u[1] = low, u[2] = all, u[3] = none;
        s[0] = signed_low, s[1] = high;
    }
}

int main()
{
    unsigned *u = zeros<unsigned>(4);
    int *s = zeros<int>(2);
    reduce<<<1, 32>>>(u, s);
    EXPECT(take(u, 4) == (std::vector<unsigned>{ 496, 5, ~0u, 0 }));
    EXPECT(take(s, 2) == (std::vector<int>{ -16, 0 }));
}
