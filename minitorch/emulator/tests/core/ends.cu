// ends.cu N -- case N never ends, crashes or prints endlessly: it is reported with its line, and the program ends.
#include <cstdio>
#include <cstdlib>

__global__ void loops(volatile int *p)
{
    while (p[0] == 0) { // END 1
    }
}
__global__ void meets(volatile int *p)
{
    // clang-format off
    while (p[0] == 0) { __syncthreads(); } // END 2
    // clang-format on
}
__global__ void waits_for_nobody(int *p)
{
    if (threadIdx.x == 0)
        while (atomicAdd(p, 0) == 0) { // END 3
        }
}
__global__ void floods(int *p)
{
    for (int i = 0; p[0] == 0 || i < 1; i++)
        printf("again %d\n", i); // END 4
}
__device__ int deeper(volatile int *p, int n)
{                                                 // END 5
    volatile int here[64];                        // END 5
    here[n % 64] = p[0] + n;                      // END 5
    return deeper(p, n + 1) + here[(n + 1) % 64]; // END 5
}
__global__ void recurses(volatile int *p)
{
    p[1] = deeper(p, 0);
}
__global__ void divides(int *p)
{
    p[1] = 5 / p[0]; // END 6
}
__global__ void traps(int *p)
{
    if (p[0] == 0)
        __trap(); // END 7
}
__global__ void follows_null(int **p)
{
    *p[1] = 1; // END 8
}
__global__ void far_out(int *p)
{
    p[1 << 28] = 1; // END 9
}
__global__ void naps(volatile int *p)
{
    while (p[0] == 0)     // END 11
        __nanosleep(100); // END 11
}

int main(int, char **argument)
{
    int *p;
    cudaMalloc(&p, 64);
    cudaMemset(p, 0, 64);
    switch (atoi(argument[1])) {
    case 1:
        loops<<<3, 64>>>(p);
        break;
    case 2:
        meets<<<1, 64>>>(p);
        break;
    case 3:
        waits_for_nobody<<<1, 64>>>(p);
        break;
    case 4:
        floods<<<1, 32>>>(p);
        break;
    case 5:
        recurses<<<1, 1>>>(p);
        break;
    case 6:
        divides<<<1, 1>>>(p);
        break;
    case 7:
        traps<<<1, 1>>>(p);
        break;
    case 8:
        follows_null<<<1, 1>>>((int **)p);
        break;
    case 9:
        far_out<<<1, 1>>>(p);
        break;
    case 10:
        printf("%d\n", p[0]); // END 10
        break;
    case 11:
        naps<<<1, 1>>>(p); // most of its time is in switches
        break;
    }
    printf("then: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
