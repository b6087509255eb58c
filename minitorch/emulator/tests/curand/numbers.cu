// numbers.cu -- prints numbers of both generators after many jumps, and of every distribution: by a kernel of the
// emulator, or on the host by NVIDIA's own header, whose functions QUALIFIERS makes functions of the host.
#ifdef __CUEMU__
#define PLACE __device__
#else
#define QUALIFIERS static inline
#define PLACE
#endif
#include <curand_kernel.h>
#include <stdio.h>

// Integers and uniform numbers are the same bits. Normal ones differ by roundings of log, sin and cos.
template <class S>
PLACE void draw(const char *name, unsigned long long seed, unsigned long long part, unsigned long long at)
{
    S s;
    curand_init(seed, part, at, &s);
    printf("%s %llx %llx %llx: %08x", name, seed, part, at, curand(&s));
    printf(" %a", curand_uniform(&s));
    printf(" %a", curand_uniform_double(&s));
    float a = curand_normal(&s), b = curand_normal(&s);
    float2 pair = curand_normal2(&s);
    printf(" %.3f %.3f %.3f %.3f", a, b, pair.x, pair.y);
    double c = curand_normal_double(&s), d = curand_normal_double(&s);
    double2 both = curand_normal2_double(&s);
    printf(" %.9f %.9f %.9f %.9f", c, d, both.x, both.y);
    printf(" %.3f", curand_log_normal(&s, 0.5f, 0.25f));
    skipahead(77ull, &s);
    skipahead_sequence(5ull, &s);
    printf(" %08x\n", curand(&s));
}

PLACE void draw_fours()
{
    curandStatePhilox4_32_10_t s;
    curand_init(3ull, 4ull, 5ull, &s);
    uint4 x = curand4(&s);
    float4 u = curand_uniform4(&s), n = curand_normal4(&s);
    double2 d = curand_uniform2_double(&s);
    printf("%08x %08x %08x %08x %a %a %a %a", x.x, x.y, x.z, x.w, u.x, u.y, u.z, u.w);
    printf(" %.3f %.3f %.3f %.3f %a %a\n", n.x, n.y, n.z, n.w, d.x, d.y);
}

#ifdef __CUEMU__
__global__
#endif
    void
    draw_all()
{
    const unsigned long long seeds[] = { 0, 7, 1234, 0x123456789abcdef }, parts[] = { 0, 1, 3, 1000, 1ull << 40 };
    const unsigned long long places[] = { 0, 1, 5, 1001, 1ull << 33 };
    for (unsigned long long seed : seeds)
        for (unsigned long long part : parts)
            for (unsigned long long at : places) {
                draw<curandStateXORWOW_t>("xorwow", seed, part, at);
                draw<curandStatePhilox4_32_10_t>("philox", seed, part, at);
            }
    draw_fours();
}

int main()
{
#ifdef __CUEMU__
    draw_all<<<1, 1>>>();
    return cudaDeviceSynchronize();
#else
    draw_all();
    return 0;
#endif
}
