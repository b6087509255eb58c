__global__ void sum(float *x)
{
    float v = x[threadIdx.x];
    v += __shfl_down(v, 16); // REFUSED: use __shfl_down_sync(mask, value, distance)
    if (__any(v > 0))        // REFUSED: use __any_sync
        x[0] = v;
}
