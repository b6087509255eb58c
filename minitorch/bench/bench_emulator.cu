/* bench_emulator.cu -- the cost of emulation: a tiled product and a kernel that consists of barriers only, in CPU
 * seconds.
 *
 *     bench_emulator product|blocks|barriers     prints "cpu-seconds wall-seconds work", of the least of ROUNDS
 *     launches
 *
 * product: 256^3 in tiles of 16 x 16; work: accesses to memory. blocks: 512 x 512 results, 1024 blocks. barriers: work:
 * barriers times threads. CPU seconds are those of all threads together: other programs do not count, and neither does
 * waiting. It is plain CUDA: bench_emulator.sh builds it with cuemu, traced and not, and with a peer. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

enum { TILE = 16, ROUNDS = 2, BARRIERS = 500 };

__global__ void product(float *c, const float *a, const float *b, int n, int depth)
{
    __shared__ float s[TILE][TILE], t[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * TILE + x, i = blockIdx.y * TILE + y;
    float sum = 0;
    for (int k0 = 0; k0 < depth; k0 += TILE) {
        s[y][x] = a[i * n + k0 + x];
        t[y][x] = b[(k0 + y) * n + j];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += s[y][k] * t[k][x];
        __syncthreads();
    }
    c[i * n + j] = sum;
}

__global__ void barriers(int *out)
{
    for (int i = 0; i < BARRIERS; i++)
        __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *why)
{
    fprintf(stderr, "bench_emulator: %s\n", why);
    exit(1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const bool waits = !strcmp(what, "barriers");
    const int n = !strcmp(what, "blocks") ? 512 : 256, depth = 256, threads = TILE * TILE, count = n * n;
    double least[2] = { 1e9, 1e9 }, work = (double)n * n * (2 * depth + 4 * (depth / TILE) + 1);
    float *a, *b, *c, *host = (float *)malloc(count * sizeof *host);
    if (!waits && strcmp(what, "product") && strcmp(what, "blocks"))
        die("usage: bench_emulator product|blocks|barriers");
    for (int i = 0; i < count; i++)
        host[i] = 1;
    cudaMalloc(&a, count * sizeof *a);
    cudaMalloc(&b, count * sizeof *b);
    cudaMalloc(&c, count * sizeof *c);
    cudaMemcpy(a, host, count * sizeof *a, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, count * sizeof *b, cudaMemcpyHostToDevice);
    for (int round = 0; round < ROUNDS; round++) {
        double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
        if (waits)
            barriers<<<8, threads>>>((int *)c);
        else
            product<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(c, a, b, n, depth);
        if (cudaDeviceSynchronize() != cudaSuccess)
            die(cudaGetErrorString(cudaGetLastError()));
        cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu, wall = now(CLOCK_MONOTONIC) - wall;
        least[0] = cpu < least[0] ? cpu : least[0];
        least[1] = wall < least[1] ? wall : least[1];
    }
    cudaMemcpy(host, c, count * sizeof *host, cudaMemcpyDeviceToHost);
    if (!waits && host[count - 1] != (float)depth)
        die("wrong value");
    printf("%.6f %.6f %.0f\n", least[0], least[1], waits ? 8.0 * threads * BARRIERS : work);
    cudaFree(a), cudaFree(b), cudaFree(c);
    free(host);
    return 0;
}
