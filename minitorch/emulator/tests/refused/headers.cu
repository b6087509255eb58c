#include <cub/cub.cuh>     // REFUSED: <cub/cub.cuh> is not supported
#include <thrust/sort.h>   // REFUSED: write the algorithm yourself
#include <curand_kernel.h> // REFUSED: Philox
#include <cuda/barrier>    // REFUSED: libcu++
#include <cuda_fp8.h>      // REFUSED: 8-bit floats
