// Calls and forms of public tutorials: partitions and scans of groups, registered memory, planes, memory pools,
// occupancy with launch bounds, an unnamed struct in constant memory, dynamic shared memory of the namespace; arch: 80
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

namespace cg = cooperative_groups;

__constant__ struct {
    int width, height;
    float scale;
} grid;

extern __shared__ unsigned char dynamic[];

template <class T> __global__ void reverse(const T *x, T *y)
{
    T *a = reinterpret_cast<T *>(dynamic);
    int *index = (int *)&a[blockDim.x];
    a[threadIdx.x] = x[threadIdx.x];
    index[threadIdx.x] = blockDim.x - 1 - threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = a[index[threadIdx.x]];
}

__global__ void groups(int *out)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(block);
    int t = threadIdx.x;
    auto thirds = cg::binary_partition(warp, t % 3 == 0);
    auto fours = cg::labeled_partition(warp, t % 4);
    out[t] = cg::inclusive_scan(eight, t, cg::plus<int>());
    out[64 + t] = cg::exclusive_scan(warp, 2);
    out[128 + t] = 100 * (int)thirds.size() + (int)fours.size();
    out[192 + t] = (int)thirds.thread_rank() + cg::inclusive_scan(thirds, 1);
    if (t == 0)
        out[256] = 0;
    auto token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
    cg::invoke_one(warp, [=] { atomicAdd(&out[256], 1); });
}

__global__ void pairs(__half2 *h, __nv_bfloat162 *b)
{
    atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(b, __floats2bfloat162_rn(1.0f, 0.5f));
}

__global__ void scale_planes(cudaPitchedPtr p, int depth)
{
    for (int z = 0; z < depth; z++) {
        char *plane = (char *)p.ptr + z * p.pitch * grid.height;
        for (int y = threadIdx.y; y < grid.height; y += blockDim.y)
            for (int x = threadIdx.x; x < grid.width; x += blockDim.x)
                ((float *)(plane + y * p.pitch))[x] *= grid.scale;
    }
}

__global__ void __launch_bounds__(192) add_one(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1.0f;
}

__device__ unsigned logic(unsigned a, unsigned b, unsigned c)
{
    unsigned bits, field, bytes;
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(bits) : "r"(a), "r"(b), "r"(c)); // the majority
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(field) : "r"(a));
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(bytes) : "r"(a), "r"(b));
    return bits ^ field ^ bytes;
}

__global__ void ptx(unsigned *out, const int *in)
{
    int value;
    unsigned lower;
    asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(value) : "l"(in + threadIdx.x));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(lower));
    out[threadIdx.x] = logic(0xabcd1234u, 0x0ff01111u, 0x55555555u) + value + __popc(lower);
}

static void volumes()
{
    const int width = 33, height = 7, depth = 3;
    struct {
        int width, height;
        float scale;
    } form = { width, height, 2.0f };
    static float before[depth][height][width], after[depth][height][width];
    for (int i = 0; i < width * height * depth; i++)
        (&before[0][0][0])[i] = (float)i;
    CUDA(cudaMemcpyToSymbol(grid, &form, sizeof form));
    cudaExtent extent = make_cudaExtent(width * sizeof(float), height, depth);
    cudaPitchedPtr device, host = make_cudaPitchedPtr(before, width * sizeof(float), width, height);
    CUDA(cudaMalloc3D(&device, extent));
    CUDA(cudaMemset3D(device, 0, extent));
    cudaMemcpy3DParms there = {}, back = {};
    there.srcPtr = host;
    there.dstPtr = device;
    there.extent = back.extent = extent;
    there.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&there));
    scale_planes<<<1, dim3(16, 4)>>>(device, depth);
    back.srcPtr = device;
    back.dstPtr = make_cudaPitchedPtr(after, width * sizeof(float), width, height);
    back.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3DAsync(&back, 0));
    CUDA(cudaStreamSynchronize(0));
    for (int i = 0; i < width * height * depth; i++)
        EXPECT((&after[0][0][0])[i] == 2.0f * i);
    CUDA(cudaFree(device.ptr));
}

static void host_calls()
{
    const int n = 1000;
    float *host = (float *)malloc(n * sizeof(float)), *mapped;
    int least, block, fit, priority, highest, lowest;
    unsigned flags;
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    CUDA(cudaHostRegister(host, n * sizeof(float), cudaHostRegisterMapped));
    CUDA(cudaHostGetDevicePointer((void **)&mapped, host, 0));
    CUDA(cudaOccupancyMaxPotentialBlockSize(&least, &block, add_one, 0, 0));
    EXPECT(block <= 192);
    add_one<<<(n + block - 1) / block, block>>>(mapped, n);
    CUDA(cudaDeviceSynchronize());
    EXPECT(host[n - 1] == n);
    CUDA(cudaHostUnregister(host));
    free(host);
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&fit, add_one, 128, 0, cudaOccupancyDefault));
    EXPECT(fit > 0);
    cudaMemPool_t pool;
    unsigned long long keep = ~0ull;
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    cudaStream_t stream;
    CUDA(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest));
    CUDA(cudaStreamGetFlags(stream, &flags));
    CUDA(cudaStreamGetPriority(stream, &priority));
    EXPECT(flags == cudaStreamNonBlocking && priority == highest);
    CUDA(cudaStreamDestroy(stream));
}

int main()
{
    int *out = zeros<int>(257), *in = upload(std::vector<int>(32, 5));
    unsigned *bits = zeros<unsigned>(32);
    __half2 *h = zeros<__half2>(1);
    __nv_bfloat162 *b = zeros<__nv_bfloat162>(1);
    double *x = upload(std::vector<double>{ 1, 2, 3, 4 }), *y = zeros<double>(4);
    groups<<<1, 64>>>(out);
    pairs<<<1, 64>>>(h, b);
    reverse<<<1, 4, 4 * (sizeof(double) + sizeof(int))>>>(x, y);
    ptx<<<1, 32>>>(bits, in);
    std::vector<int> got = take(out, 257);
    EXPECT(got[7] == 28 && got[8] == 8 && got[64] == 0 && got[64 + 31] == 62);
    EXPECT(got[128] == 1108 && got[129] == 2108 && got[192 + 3] == 1 + 2 && got[256] == 2);
    __half2 sum = take(h, 1)[0];
    EXPECT(__low2float(sum) == 64.0f && __high2float(sum) == 128.0f);
    EXPECT(__bfloat162float(take(b, 1)[0].x) == 64.0f);
    EXPECT(take(y, 4)[0] == 4.0);
    unsigned a = 0xabcd1234u, c = 0x0ff01111u, d = 0x55555555u, all = (a & c) | (a & d) | (c & d);
    EXPECT(take(bits, 32)[3] == (all ^ (a >> 4 & 0xff) ^ ((a & 0xffff) | c << 16)) + 5 + 4);
    CUDA(cudaFree(x));
    CUDA(cudaFree(in));
    volumes();
    host_calls();
}
