#include <cstdlib>
static float scale(float x)
{
    return 2 * x;
}
constexpr int rounded(int n)
{
    return (n + 31) / 32 * 32;
}
__device__ float twice(float x)
{
    return scale(x); // REFUSED: device code `twice` calls the host function `scale` (host_function.cu:2)
}
__global__ void apply(float *x)
{
    x[0] = twice(x[1]) + scale(x[2]); // REFUSED: device code `apply` calls the host function `scale`
    x[rounded(5)] = rand(); // REFUSED: calls the host function `rounded` // REFUSED: `rand`, which is a host function
}
