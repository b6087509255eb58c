#include <curand_kernel.h>

__global__ void draw(unsigned *x)
{
    curandStateMRG32k3a_t state; // REFUSED: of cuRAND the device's Philox4_32_10 and XORWOW are emulated
    curand_init(1, 2, 3, &state);
    x[0] = curand(&state);
}
