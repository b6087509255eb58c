// blocks.cu -- barriers, votes, locks and atomics of whole blocks and grids; many blocks, several launches.
#include "expect.h"

__global__ void sum_tree(const float *in, float *out, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void block_votes(int *out)
{
    int t = threadIdx.x, count = __syncthreads_count(t % 7 == 0), all = __syncthreads_and(t < 300),
        any = __syncthreads_or(t == 299);
    out[t] = count * 100 + all * 10 + any;
}

// A lock that every thread takes in turn: on a GPU threads of a warp make progress independently, so they must here
// too.
__global__ void locked(int *lock, int *counter)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            atomicAdd(counter, 1);
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// The last block to finish adds up the others' sums.
__global__ void last_block(const int *in, int *part, unsigned *ticket, int *out)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            sum += ((volatile int *)part)[b];
        *out = sum;
    }
}

__global__ void where(int *out)
{
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    atomicAdd(&out[block * 24 + thread], 1 + (int)(gridDim.z * 100));
}

extern __shared__ float dynamic[];
__global__ void reverse(float *data, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        dynamic[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = dynamic[n - 1 - i];
}

__device__ int in_device_memory[4];
__constant__ float factors[4];
__global__ void symbols(float *out)
{
    out[threadIdx.x] = factors[threadIdx.x] * in_device_memory[threadIdx.x];
    in_device_memory[threadIdx.x] = -1;
}

int main()
{
    const int n = 100000, blocks = (n + 255) / 256;
    std::vector<float> ones(n, 1);
    buffer<float> in(ones), sums(blocks);
    sum_tree<<<blocks, 256>>>(in.data, sums.data, n);
    EXPECT("tree sums", all_are(sums.read(), [](int i) { return i < n / 256 ? 256 : n % 256; }));

    buffer<int> votes(300), lock(1), counter(1);
    block_votes<<<1, 300>>>(votes.data);
    EXPECT("block votes", all_are(votes.read(), [](int) { return 43 * 100 + 11; }));
    locked<<<4, 96>>>(lock.data, counter.data);
    EXPECT("a spin lock", counter.read()[0] == 4 * 96);

    std::vector<int> numbers(500);
    for (int i = 0; i < 500; i++)
        numbers[i] = i;
    buffer<int> values(numbers), part(500), result(1), places(30 * 24);
    buffer<unsigned> ticket(1);
    last_block<<<500, 32>>>(values.data, part.data, ticket.data, result.data);
    EXPECT("the last block", result.read()[0] == 500 * 499 / 2);
    where<<<dim3(2, 3, 5), dim3(2, 3, 4)>>>(places.data);
    EXPECT("indices", all_are(places.read(), [](int) { return 501; }));

    const int large = 100 * 1024 / 4;
    std::vector<float> ramp(large);
    for (int i = 0; i < large; i++)
        ramp[i] = (float)i;
    buffer<float> data(ramp);
    EXPECT("opt-in to 100 KB",
           cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, large * 4) == cudaSuccess);
    reverse<<<1, 1024, large * 4>>>(data.data, large);
    EXPECT("dynamic shared memory", all_are(data.read(), [](int i) { return large - 1 - i; }));

    int ints[4] = { 1, 2, 3, 4 };
    float floats[4] = { 10, 20, 30, 40 };
    buffer<float> products(4);
    cudaMemcpyToSymbol(in_device_memory, ints, sizeof ints);
    cudaMemcpyToSymbol(factors, floats, sizeof floats);
    symbols<<<1, 4>>>(products.data);
    cudaMemcpyFromSymbol(ints, in_device_memory, sizeof ints);
    EXPECT("symbols", all_are(products.read(), [](int i) { return 10 * (i + 1) * (i + 1); }) && ints[3] == -1);
    EXPECT("no error", cudaDeviceSynchronize() == cudaSuccess);
    return failures != 0;
}
