// members.cu -- the members of a vector are one access, in whatever form they are written; what looks alike is not.
//
// nvcc 13 makes ld.global.v4 and st.global.v4 of the first kernels, and single accesses of the last ones.
#include "expect.h"

enum { N = 1 << 10 }; // threads, in blocks of 128

static __device__ int self()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- one request of 16 bytes for each warp and vector: 16 sectors

__global__ void by_reference(const float4 *__restrict__ a, float4 *__restrict__ c)
{
    const float4 &v = a[self()];
    c[self()] = { v.x + 1, v.y + 1, v.z + 1, v.w + 1 };
}

__global__ void in_place(const float4 *__restrict__ a, float4 *__restrict__ c)
{
    const float4 *from = a + self();
    float4 *to = c + self();
    to->x += from->x, to->y += from->y, to->z += from->z, to->w += from->w;
}

static __device__ float4 twice(const float4 &v)
{
    return float4{ 2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w };
}

__global__ void by_function(const float4 *__restrict__ a, float4 *__restrict__ c)
{
    c[self()] = twice(a[self()]);
}

__global__ void backwards(const float4 *__restrict__ a, float4 *__restrict__ c)
{
    c[self()].w = a[self()].w;
    c[self()].z = a[self()].z;
    c[self()].y = a[self()].y;
    c[self()].x = a[self()].x;
}

__global__ void doubles(const double2 *__restrict__ a, double2 *__restrict__ c)
{
    c[self()].x = a[self()].x;
    c[self()].y = a[self()].y;
}

// ---- parts: 8 bytes each. nvcc moves the accesses of the two blocks together, the emulator does not

__global__ void half_of_it(const float4 *__restrict__ a, float2 *__restrict__ c)
{
    c[self()].x = a[self()].x;
    c[self()].y = a[self()].y;
}

__global__ void in_two_blocks(const float4 *__restrict__ a, float4 *__restrict__ c, int last)
{
    float x = a[self()].x, y = a[self()].y;
    if (self() > last)
        return;
    c[self()] = make_float4(x, y, a[self()].z, a[self()].w);
}

// ---- not aligned, or not known to be: as many requests as there are accesses

__global__ void structs_of_three(const float3 *__restrict__ a, float3 *__restrict__ c)
{
    c[self()].x = a[self()].x;
    c[self()].y = a[self()].y;
    c[self()].z = a[self()].z;
}

__global__ void two_pairs(const float2 *__restrict__ a, float2 *__restrict__ c)
{
    const float2 *from = a + 2 * self();
    float2 *to = c + 2 * self();
    to[0].x = from[0].x, to[0].y = from[0].y, to[1].x = from[1].x, to[1].y = from[1].y;
}

__global__ void four_floats(const float *__restrict__ a, float *__restrict__ c)
{
    const float *from = a + 4 * self();
    float *to = c + 4 * self();
    to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3];
}

// ---- shared memory: 512 bytes are 4 wavefronts; of single members, 16 bytes apart, each has 4

__global__ void shared(float4 *c, int shift)
{
    __shared__ float4 s[32];
    int t = threadIdx.x;
    s[t].x = t, s[t].y = t, s[t].z = t, s[t].w = t;
    __syncwarp();
    const float4 &v = s[t ^ shift];
    c[t] = { v.x, v.y, v.z, v.w };
}

#define RUN(kernel, loads, stores, sectors)                                                  \
    kernel<<<N / 128, 128>>>(a, c);                                                          \
    expect(#kernel, (loads) * N / 32, (uint64_t)(loads) * N / 32 * (sectors), GLOBAL, LOAD); \
    expect(#kernel, (stores) * N / 32, (uint64_t)(stores) * N / 32 * (sectors), GLOBAL, STORE)

template <class T> struct arrays {
    T *a = device<T>(2 * N), *c = device<T>(2 * N);
};

static void vectors()
{
    auto [a, c] = arrays<float4>();
    RUN(by_reference, 1, 1, 16);
    RUN(by_function, 1, 1, 16);
    RUN(backwards, 1, 1, 16);
    in_place<<<N / 128, 128>>>(a, c);
    expect("in_place", 2 * N / 32, 2 * N / 32 * 16, GLOBAL, LOAD);
    expect("in_place", N / 32, N / 32 * 16, GLOBAL, STORE);
    in_two_blocks<<<N / 128, 128>>>(a, c, N);
    expect("in_two_blocks", 2 * N / 32, 2 * N / 32 * 16, GLOBAL, LOAD);
    half_of_it<<<N / 128, 128>>>(a, (float2 *)c);
    expect("half_of_it", N / 32, N / 32 * 16, GLOBAL, LOAD);
    expect("half_of_it", N / 32, N / 32 * 8, GLOBAL, STORE);
    shared<<<1, 32>>>(c, 1);
    expect("shared", 1, 4, SHARED, STORE);
    expect("shared", 1, 4, SHARED, LOAD);
}

int main()
{
    vectors();
    {
        auto [a, c] = arrays<double2>();
        RUN(doubles, 1, 1, 16);
    }
    {
        auto [a, c] = arrays<float3>();
        RUN(structs_of_three, 3, 3, 12);
    }
    {
        auto [a, c] = arrays<float2>();
        RUN(two_pairs, 2, 2, 16);
    }
    {
        auto [a, c] = arrays<float>();
        a = device<float>(4 * N), c = device<float>(4 * N);
        RUN(four_floats, 4, 4, 16);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
