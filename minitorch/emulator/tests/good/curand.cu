// cuRAND's device API: numbers of the published algorithms, and the formulas of its distributions.
#include "check.h"
#include <curand_kernel.h>

typedef curandStatePhilox4_32_10_t philox;

// Vectors of philox4x32_10 that its authors published (Random123, kat_vectors): counter, key, result.
static const unsigned vectors[3][10] = {
    { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
    { ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
    { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
      0x24126ea1 },
};

__global__ void draw_vectors(uint4 *out, const unsigned *in)
{
    const unsigned *v = in + 10 * threadIdx.x;
    const unsigned long long block = v[1] * (1ull << 32) + v[0];
    philox state;
    curand_init(v[5] * (1ull << 32) + v[4], v[3] * (1ull << 32) + v[2], 0, &state);
    for (int i = 0; i < 4; i++)
        skipahead(block, &state);
    out[threadIdx.x] = curand4(&state);
}

// The first numbers of the first subsequences of seed 1234: the output of the first example in cuRAND's guide, where
// they are printed with four digits; and their bits, from another implementation of Marsaglia's steps.
static const float printed[10] = { 0.1455f, 0.8202f, 0.5504f, 0.2948f, 0.9147f,
                                   0.8690f, 0.3219f, 0.7829f, 0.0113f, 0.2855f };
static const unsigned bits[10] = { 0x253d5e15, 0xd1f7605a, 0x8ce6f6f8, 0x4b79ff67, 0xea2bee0d,
                                   0xde75663f, 0x526964f3, 0xc8694a55, 0x02e4b511, 0x49134368 };

__global__ void draw_first(float *uniform, unsigned *number, curandState *state)
{
    int i = threadIdx.x;
    curandState again;
    curand_init(1234, i, 0, &state[i]);
    again = state[i];
    number[i] = curand(&again);
    uniform[i] = curand_uniform(&state[i]);
}

// Jumps are as many single steps; the second number of a pair is kept for the next call.
template <class S> __global__ void compare(int *wrong)
{
    S one, other;
    curand_init(7, 3, 0, &one);
    curand_init(7, 1, 1001, &other);
    skipahead_sequence(2, &other);
    for (int i = 0; i < 1001; i++)
        curand(&one);
    *wrong = curand(&one) != curand(&other);
    skipahead(5, &other);
    for (int i = 0; i < 5; i++)
        curand(&one);
    S start = one;
    unsigned x = curand(&one), y = curand(&one);
    float u = x * 0x1p-32f + 0x1p-33f, v = (y * 0x1p-32f + 0x1p-33f) * 6.2831853f;
    float a = curand_normal(&other), b = curand_normal(&other);
    float2 pair = curand_normal2(&start);
    *wrong += a != pair.x || b != pair.y || curand(&one) != curand(&other);
    *wrong += !(fabsf(a - sqrtf(-2 * logf(u)) * sinf(v)) < 1e-5f && fabsf(b - sqrtf(-2 * logf(u)) * cosf(v)) < 1e-5f);
    start = one;
    x = curand(&one), y = curand(&one);
    const double two = (x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54, single = (x + 1.0) * 0x1p-32;
    const bool philox_one = sizeof(S) == sizeof(philox); // it makes a double of one number
    *wrong += curand_uniform_double(&start) != (philox_one ? single : two);
    double c = curand_normal_double(&start), d = curand_normal_double(&start);
    for (int i = 0; i < (philox_one ? 3 : 4); i++) // one has drawn x and y
        curand(&one);
    *wrong += curand(&one) != curand(&start) || !(c * c + d * d > 0 && c * c + d * d < 74); // -2 log 2^-53
}

__global__ void four(float *out)
{
    philox one, other;
    curand_init(5, threadIdx.x, 2, &one);
    other = one;
    float4 u = curand_uniform4(&one);
    out[threadIdx.x] = u.x == curand_uniform(&other) && u.y == curand_uniform(&other) &&
                       u.z == curand_uniform(&other) && u.w == curand_uniform(&other);
    float4 n = curand_normal4(&one);
    float2 a = curand_normal2(&other), b = curand_normal2(&other);
    out[threadIdx.x] += n.x == a.x && n.y == a.y && n.z == b.x && n.w == b.y;
}

int main()
{
    unsigned *in = upload(std::vector<unsigned>(&vectors[0][0], &vectors[0][0] + 30));
    uint4 *drawn = zeros<uint4>(3);
    draw_vectors<<<1, 3>>>(drawn, in);
    std::vector<uint4> blocks = take(drawn, 3);
    for (int i = 0; i < 3; i++)
        EXPECT(blocks[i].x == vectors[i][6] && blocks[i].y == vectors[i][7] && blocks[i].z == vectors[i][8] &&
               blocks[i].w == vectors[i][9]);
    CUDA(cudaFree(in));

    curandState *states;
    CUDA(cudaMalloc(&states, 10 * sizeof *states));
    float *uniform = zeros<float>(10);
    unsigned *number = zeros<unsigned>(10);
    draw_first<<<1, 10>>>(uniform, number, states);
    std::vector<float> u = take(uniform, 10);
    std::vector<unsigned> n = take(number, 10);
    for (int i = 0; i < 10; i++)
        EXPECT(n[i] == bits[i] && near(u[i], printed[i], 0.00005f));
    CUDA(cudaFree(states));

    int *wrong = zeros<int>(2);
    compare<curandState><<<1, 1>>>(wrong);
    compare<philox><<<1, 1>>>(wrong + 1);
    std::vector<int> w = take(wrong, 2);
    EXPECT(w[0] == 0 && w[1] == 0);
    float *both = zeros<float>(8);
    four<<<1, 8>>>(both);
    for (float same : take(both, 8))
        EXPECT(same == 2);
}
