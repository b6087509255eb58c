/* library_types.h -- element types as CUDA's libraries name them. cuBLAS computes with the first three. */
#ifndef CUEMU_LIBRARY_TYPES_H
#define CUEMU_LIBRARY_TYPES_H

typedef enum cudaDataType {
    CUDA_R_32F = 0,
    CUDA_R_16F = 2,
    CUDA_R_16BF = 14,
    CUDA_R_64F = 1,
    CUDA_R_8I = 3,
    CUDA_R_32I = 10
} cudaDataType;
typedef cudaDataType cudaDataType_t;

#endif
