#pragma GCC optimize("O0")                                                     // REFUSED: this pragma is not supported
__attribute__((no_sanitize("thread"))) __device__ float hidden(const float *x) // REFUSED: the attribute `no_sanitize`
{
    return x[0];
}
[[gnu::no_sanitize_coverage]] __device__ float turned(const float *x) // REFUSED: the attribute `no_sanitize_coverage`
{
    return x[1];
}
asm(".globl other");                                            // REFUSED: assembler outside of device code
extern "C" __device__ float named(const float *x) asm("other"); // REFUSED: assembler outside of device code
__attribute__((noinline)) __device__ float seen(const float *x)
{
    return x[2];
}
__global__ void add(float *out, const float *x)
{
    out[0] = hidden(x) + turned(x) + named(x) + seen(x);
}
int target(int optimize)
{
    asm volatile("nop"); // REFUSED: assembler outside of device code
    return optimize;
}
