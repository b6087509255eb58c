#include <vector>
static float factor = 2.0f;
const int count = 5;
constexpr float shift = 0.5f;
static const float weights[3] = { 1, 2, 3 };
int shadowed;
__global__ void apply(float *x, int n)
{
    int shadowed = n;
    if ((int)threadIdx.x < count)
        x[threadIdx.x] *= factor;      // REFUSED: uses the host variable `factor` (host_variable.cu:2)
    x[shadowed] += shift + weights[n]; // REFUSED: uses the host variable `weights`
}
