// in_header.cuh -- the mistake is here, and must be reported at this file's line.
#pragma once

inline float host_only(float x)
{
    return x;
}
__global__ void apply(float *x)
{
    x[0] = host_only(x[0]); // REFUSED: device code `apply` calls the host function `host_only` (in_header.cuh:4)
}
