// Vectors of long and short integers, with CUDA's sizes and alignments.
#include "check.h"

static_assert(sizeof(long2) == 2 * sizeof(long) && alignof(long2) == 2 * sizeof(long), "long2");
static_assert(sizeof(ulong4) == 4 * sizeof(long) && alignof(ulong4) == 16, "ulong4");
static_assert(sizeof(long3) == 3 * sizeof(long) && alignof(long3) == alignof(long), "long3");
static_assert(sizeof(short4) == 8 && alignof(short4) == 8 && alignof(ushort2) == 4, "short4");
static_assert(sizeof(longlong2) == 16 && alignof(longlong2) == 16, "longlong2");

__global__ void add(long2 *x, const ulong1 *y, long3 z, const short4 *s)
{
    long2 v = x[threadIdx.x];
    x[threadIdx.x] = make_long2(v.x + (long)y->x + z.x, v.y + z.y * z.z + s->w);
}

int main()
{
    long2 *x = upload(std::vector<long2>(4, make_long2(1, 2)));
    ulong1 *y = upload(std::vector<ulong1>({ make_ulong1(1ul << 40) }));
    short4 *s = upload(std::vector<short4>({ make_short4(1, 2, 3, -4) }));
    add<<<1, 4>>>(x, y, make_long3(5, 6, 7), s);
    for (long2 v : take(x, 4))
        EXPECT(v.x == (1l << 40) + 6 && v.y == 2 + 42 - 4);
    take(y, 1), take(s, 1);
}
