// counts.cu -- compares the emulator's counts with traffic that was computed by hand.
//
// Every expected figure is a formula beside its kernel: one request per warp and access, 32-byte sectors, 32 banks.
// run_counts.sh builds this at -O1, -O2 and -O3 and runs it with one and two CPU threads; all must agree.
#include "expect.h"

// ---- vector addition: 4, 32 and 16 sectors per request

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void add_strided(const float *a, const float *b, float *c, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t % (n / 32) * 32 + t / (n / 32);
    if (t < n)
        c[i] = a[i] + b[i];
}

__global__ void add_vec4(const float4 *a, const float4 *b, float4 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 x = a[i], y = b[i];
        c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

__global__ void add_shifted(const float *a, float *c)
{
    c[threadIdx.x] = a[threadIdx.x + 1]; // 128 bytes that begin 4 bytes into a sector: 5 sectors
}

// Block 0 copies all, the others exit: what the busiest block accesses does not depend on the idle ones.
__global__ void copy_in_one_block(const float *a, float *c, int n)
{
    for (int i = threadIdx.x; i < n && blockIdx.x == 0; i += blockDim.x)
        c[i] = a[i];
}

static void busiest(const char *what, uint64_t bytes)
{
    uint64_t most = emu_counts_last()->busiest;
    most == bytes ? passed++ : failed++;
    if (most != bytes)
        printf("FAIL %s: the busiest block accesses %lu bytes, expected %lu\n", what, (unsigned long)most,
               (unsigned long)bytes);
}

static void vector_addition()
{
    const int n = 1 << 14;
    float *a = device<float>(n), *b = device<float>(n), *c = device<float>(n);
    add<<<n / 256, 256>>>(a, b, c, n);
    expect("add", 2 * n / 32, 2 * n / 32 * 4, GLOBAL, LOAD);
    expect("add", n / 32, n / 32 * 4, GLOBAL, STORE);
    busiest("add", 256 * 12);
    copy_in_one_block<<<100, 256>>>(a, c, n);
    busiest("copy in one of 100 blocks", 8 * n);
    add_strided<<<n / 256, 256>>>(a, b, c, n);
    expect("add strided", 2 * n / 32, 2 * n, GLOBAL, LOAD);
    expect("add strided", n / 32, n, GLOBAL, STORE);
    add_vec4<<<n / 4 / 256, 256>>>((float4 *)a, (float4 *)b, (float4 *)c, n / 4);
    expect("add float4", 2 * n / 128, 2 * n / 128 * 16, GLOBAL, LOAD);
    expect("add float4", n / 128, n / 128 * 16, GLOBAL, STORE);
    add<<<1, 64>>>(a, b, c, 40); // 32 + 8 lanes: 4 + 1 sectors
    expect("add, partial warp", 4, 10, GLOBAL, LOAD);
    add_shifted<<<1, 32>>>(a, c);
    expect("add, misaligned", 1, 5, GLOBAL, LOAD);
}

// ---- transposition: stores of 32 sectors; through shared memory 4, at 32 wavefronts or, padded, 1

enum { TILE = 32, ROWS = 8 };

__global__ void transpose_naive(const float *in, float *out, int w, int h)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * h + y + j] = in[(y + j) * w + x];
}

template <int PAD> __global__ void transpose_tiled(const float *in, float *out, int w, int h)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

static void transposition()
{
    const int w = 128, h = 256, warps = w * h / 32;
    float *in = device<float>(w * h), *out = device<float>(w * h);
    dim3 grid(w / TILE, h / TILE), block(TILE, ROWS);
    transpose_naive<<<grid, block>>>(in, out, w, h);
    expect("transpose naive", warps, 4 * warps, GLOBAL, LOAD);
    expect("transpose naive", warps, 32 * warps, GLOBAL, STORE);
    transpose_tiled<0><<<grid, block>>>(in, out, w, h);
    expect("transpose tiled", warps, 4 * warps, GLOBAL, STORE);
    expect("transpose tiled", warps, warps, SHARED, STORE);
    expect("transpose tiled", warps, 32 * warps, SHARED, LOAD);
    transpose_tiled<1><<<grid, block>>>(in, out, w, h);
    expect("transpose padded", warps, 4 * warps, GLOBAL, STORE);
    expect("transpose padded", warps, warps, SHARED, LOAD);
}

// ---- reduction with interleaved addressing: lane t uses word 2st, so at stride s, 2s lanes share a bank (32 at most)

__global__ void reduce_strided(const float *in, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int stride = 1; stride < 256; stride *= 2) {
        int i = 2 * stride * t;
        if (i < 256)
            s[i] += s[i + stride];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

static void reduction()
{
    const int blocks = 4;
    float *in = device<float>(256 * blocks), *out = device<float>(blocks);
    reduce_strided<<<blocks, 256>>>(in, out);
    uint64_t requests = 0, waves = 0;
    for (int stride = 1; stride < 256; stride *= 2)
        for (int left = 256 / (2 * stride); left > 0; left -= 32) {
            int lanes = left < 32 ? left : 32, period = 2 * stride < 32 ? 32 / (2 * stride) : 1;
            requests++;
            waves += (lanes + period - 1) / period;
        }
    expect("reduce strided", blocks * (8 + requests), blocks * (8 + waves), SHARED, STORE);
    expect("reduce strided", blocks * (2 * requests + 1), blocks * (2 * waves + 1), SHARED, LOAD);
}

// ---- matrix product, n x n

__global__ void matmul_naive(const float *a, const float *b, float *c, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

__global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[32][32], bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += 32) {
        as[ty][tx] = a[y * n + k0 + tx];
        bs[ty][tx] = b[(k0 + ty) * n + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

// 64 x 64 tile, 8 deep, 4 x 4 results per thread, everything in float4
__global__ void matmul_register(const float *a, const float *b, float *c, int n)
{
    __shared__ __align__(16) float as[8][64];
    __shared__ __align__(16) float bs[8][64];
    float sum[4][4] = {};
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    for (int k0 = 0; k0 < n; k0 += 8) {
        if (t < 128) {
            int r = t / 2, q = t % 2 * 4;
            float4 v = *(const float4 *)&a[(blockIdx.y * 64 + r) * n + k0 + q];
            as[q][r] = v.x, as[q + 1][r] = v.y, as[q + 2][r] = v.z, as[q + 3][r] = v.w;
        } else {
            int r = (t - 128) / 16, q = (t - 128) % 16 * 4;
            *(float4 *)&bs[r][q] = *(const float4 *)&b[(k0 + r) * n + blockIdx.x * 64 + q];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 u = *(const float4 *)&as[k][ty * 4], v = *(const float4 *)&bs[k][tx * 4];
            float x[4] = { u.x, u.y, u.z, u.w }, y[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *(float4 *)&c[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4] =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

static void matrix_product()
{
    const uint64_t n = 128, warps = n * n / 32, blocks = n / 64 * (n / 64), steps = n / 8;
    float *a = device<float>(n * n), *b = device<float>(n * n), *c = device<float>(n * n);
    dim3 grid(n / 32, n / 32), block(32, 32);
    matmul_naive<<<grid, block>>>(a, b, c, n);
    expect("matmul naive", 2 * n * warps, 5 * n * warps, GLOBAL, LOAD); // one word of a, 128 bytes of b
    matmul_tiled<<<grid, block>>>(a, b, c, n);
    expect("matmul tiled", 2 * n / 32 * warps, 8 * n / 32 * warps, GLOBAL, LOAD);
    expect("matmul tiled", 2 * n / 32 * warps, 2 * n / 32 * warps, SHARED, STORE);
    expect("matmul tiled", 2 * n * warps, 2 * n * warps, SHARED, LOAD);
    matmul_register<<<dim3(n / 64, n / 64), 256>>>(a, b, c, n);
    // a: 4 warps read 16 rows of 32 bytes; b: 4 warps read 2 rows of 256 bytes
    expect("matmul register", blocks * steps * 8, blocks * steps * (4 * 16 + 4 * 16), GLOBAL, LOAD);
    // as: lanes 2i and 2i+1 store 4 rows apart, 256 words: the same bank, 2 wavefronts; bs: 4 quarters
    expect("matmul register", blocks * steps * (4 * 4 + 4), blocks * steps * (4 * 4 * 2 + 4 * 4), SHARED, STORE);
    expect("matmul register", blocks * steps * 8 * 8 * 2, blocks * steps * 8 * 8 * (4 + 4), SHARED, LOAD);
    expect("matmul register", blocks * 8 * 4, blocks * 8 * 4 * 16, GLOBAL, STORE);
}

// ---- sparse rows of different lengths: lanes leave the inner loop at different times and reconverge after it

__global__ void spmv(const int *start, const int *column, const float *value, const float *x, float *y, int rows)
{
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
        float sum = 0;
        int end = start[r + 1];
        for (int j = start[r]; j < end; j++)
            sum += value[j] * x[column[j]];
        y[r] = sum;
    }
}

// What the steps touch, lane by lane: the row bounds, then column, value and (column being 0) one word of x.
static uint64_t sectors(const std::vector<int> &start, int rows)
{
    uint64_t sum = 0;
    for (int r = 0; r < rows; r += 32) {
        sum += 4 + 5; // start[r .. r + 31], and the same one further
        for (int k = 0;; k++) {
            std::set<int> touched;
            for (int lane = 0; lane < 32; lane++)
                if (start[r + lane] + k < start[r + lane + 1])
                    touched.insert((start[r + lane] + k) / 8);
            if (touched.empty())
                break;
            sum += 2 * touched.size() + 1;
        }
    }
    return sum;
}

static void sparse()
{
    const int rows = 512, threads = 128;
    std::vector<int> start(rows + 1, 0);
    for (int r = 0; r < rows; r++)
        start[r + 1] = start[r] + r * 7919 % 23;
    int *dstart = device<int>(rows + 1), *column = device<int>(start[rows]);
    float *value = device<float>(start[rows]), *x = device<float>(rows), *y = device<float>(rows);
    cudaMemcpy(dstart, start.data(), (rows + 1) * sizeof(int), cudaMemcpyHostToDevice);
    spmv<<<threads / 64, 64>>>(dstart, column, value, x, y, rows);
    uint64_t inner = 0; // a warp takes as many steps as the longest of its 32 rows
    for (int r = 0; r < rows; r += 32) {
        int longest = 0;
        for (int lane = 0; lane < 32; lane++)
            longest = std::max(longest, start[r + lane + 1] - start[r + lane]);
        inner += longest;
    }
    expect("spmv", 3 * inner + 2 * (rows / 32), sectors(start, rows), GLOBAL, LOAD);
    expect("spmv", rows / 32, rows / 32 * 4, GLOBAL, STORE);
}

// ---- ldmatrix: 8 rows of 16 bytes are one wavefront if they lie in different banks; rows of 128 bytes are in the same

template <int PAD> __global__ void matrices(uint32_t *out)
{
    __shared__ __align__(16) uint16_t s[16][64 + PAD];
    int t = threadIdx.x;
    for (int i = t; i < 16 * 64; i += 32)
        s[i / 64][i % 64] = (uint16_t)i;
    __syncwarp();
    uint32_t r[4], row = (uint32_t)__cvta_generic_to_shared(&s[t % 16][t / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(row));
    out[t] = r[0] + r[1] + r[2] + r[3];
}

// ---- atomics, broadcasts, 8-byte accesses

__global__ void misc(int *counter, const double *in, double *out)
{
    __shared__ double s[32];
    int t = threadIdx.x;
    s[t] = in[0];          // one word for all: 1 sector; two half warps: 2 wavefronts
    atomicAdd(counter, 1); // one request, one sector
    __syncwarp();
    out[t] = s[(t * 2) % 32]; // every half warp strides over 16 pairs of banks, each twice: 2 wavefronts a half
}

static void miscellaneous()
{
    misc<<<1, 32>>>(device<int>(1), device<double>(1), device<double>(32));
    expect("misc", 1, 1, GLOBAL, LOAD);
    expect("misc", 1, 1, GLOBAL, ATOMIC);
    expect("misc", 1, 8, GLOBAL, STORE);
    expect("misc", 1, 2, SHARED, STORE);
    expect("misc", 1, 4, SHARED, LOAD);
    matrices<0><<<1, 32>>>(device<uint32_t>(32));
    expect("ldmatrix", 2, 4 * 8 + 2 * 8, SHARED, LOAD);
    matrices<8><<<1, 32>>>(device<uint32_t>(32));
    expect("ldmatrix padded", 2, 4 + 2, SHARED, LOAD);
}

int main()
{
    vector_addition();
    transposition();
    reduction();
    matrix_product();
    sparse();
    miscellaneous();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
