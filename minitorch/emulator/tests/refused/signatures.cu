__global__ int returns(int *x) // REFUSED: kernel `returns` must return void
{
    return *x;
}
__global__ void by_reference(const float &x, float *out)
{
    *out = x;
}
