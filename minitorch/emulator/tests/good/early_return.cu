// Threads may return early when no barrier follows; the rest of the warp votes without them.
#include "check.h"

__global__ void clamp_negative(float *x, int *kept, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned mask = __activemask();
    unsigned positive = __ballot_sync(mask, x[i] > 0.0f);
    if ((int)(threadIdx.x % 32) == __ffs((int)mask) - 1)
        atomicAdd(kept, __popc(positive));
    if (x[i] > 0.0f)
        return;
    x[i] = 0.0f;
}

int main()
{
    const int n = 150;
    std::vector<float> x = ramp(n);
    int want = 0, *kept = zeros<int>(1);
    float *dx = upload(x);
    clamp_negative<<<2, 96>>>(dx, kept, n);
    std::vector<float> got = take(dx, n);
    for (int i = 0; i < n; i++) {
        EXPECT(got[i] == std::fmax(x[i], 0.0f));
        want += x[i] > 0.0f;
    }
    EXPECT(take(kept, 1)[0] == want);
}
