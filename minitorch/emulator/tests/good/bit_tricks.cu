// Integer intrinsics, compared with values computed by hand.
#include "check.h"

__global__ void bits(int *ok)
{
    *ok = __popc(0xf0f0u) == 8 && __popcll(1ull << 40 | 1) == 2 && __clz(1) == 31 && __clz(0) == 32 && __ffs(8) == 4 &&
          __ffs(0) == 0 && __brev(1u) == 0x80000000u && __brev(0x12345678u) == 0x1e6a2c48u &&
          __byte_perm(0x33221100u, 0x77665544u, 0x7421u) == 0x77442211u && __umulhi(1u << 31, 4u) == 2u &&
          __funnelshift_l(0x80000000u, 1u, 1) == 3u && __float_as_int(1.0f) == 0x3f800000 &&
          __int_as_float(0x40000000) == 2.0f && __float2int_rn(2.5f) == 2 && min(3, 2) == 2 && max(3u, 2u) == 3u;
}

int main()
{
    int *ok = zeros<int>(1);
    bits<<<1, 1>>>(ok);
    EXPECT(take(ok, 1)[0] == 1);
}
