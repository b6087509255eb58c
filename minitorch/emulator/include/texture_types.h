/* texture_types.h -- types of texture objects, in C and C++. Numbers are CUDA's own. */
#ifndef CUEMU_TEXTURE_TYPES_H
#define CUEMU_TEXTURE_TYPES_H

#include <stddef.h>

typedef enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone
} cudaChannelFormatKind;
typedef struct cudaChannelFormatDesc {
    int x, y, z, w; /* bits of the channels; 0: there is none */
    cudaChannelFormatKind f;
} cudaChannelFormatDesc;

typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
#define cudaArrayDefault 0u

typedef enum cudaResourceType {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray, /* not emulated */
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D
} cudaResourceType;
typedef struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
} cudaResourceDesc;

typedef enum cudaTextureAddressMode {
    cudaAddressModeWrap,
    cudaAddressModeClamp,
    cudaAddressModeMirror, /* not emulated */
    cudaAddressModeBorder
} cudaTextureAddressMode;
typedef enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear } cudaTextureFilterMode;
typedef enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat } cudaTextureReadMode;
typedef struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4]; /* no effect: 0 */
    int normalizedCoords;
    unsigned maxAnisotropy;
} cudaTextureDesc;
struct cudaResourceViewDesc; /* only NULL */

typedef unsigned long long cudaTextureObject_t;

#endif
