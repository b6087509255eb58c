/* texture.c -- texture objects over linear memory, rows with a pitch, and arrays of one or two dimensions. An array is
 * memory of the device whose layout CUDA does not tell; here its rows follow each other. */
#include <stdlib.h>
#include "emulator/api/graph.h"
#include "emulator/run/memory.h"

struct cudaArray {
    char *data;
    size_t width, height; /* in elements, rows */
    cudaChannelFormatDesc channels;
    struct cudaArray *next; /* of the list of all that are alive */
};
typedef struct object {
    cuemu_texture texture;
    bool alive;
} object;

static struct cudaArray *arrays;
static object *objects; /* cudaTextureObject_t is an index plus 1 */
static size_t count;

static size_t texel_size(const cudaChannelFormatDesc *c)
{
    return (size_t)(c->x + c->y + c->z + c->w) / 8;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width, size_t height,
                            unsigned flags)
{
    API_BEGIN();
    size_t texel = channels ? texel_size(channels) : 0, rows = height ? height : 1;
    if (flags || !texel || !width)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE,
                           "cudaMallocArray: an array of one or two dimensions has channels, a width and no flags"));
    struct cudaArray *made = malloc(sizeof *made);
    emu_allocation *a = made ? emu_allocate(width * rows * texel, EMU_DEVICE, HERE) : NULL;
    if (!a) {
        free(made);
        API_END(cudaErrorMemoryAllocation);
    }
    *made = (struct cudaArray){ a->begin, width, rows, *channels, arrays };
    arrays = *array = made;
    API_END(cudaSuccess);
}

/* The place in the list that points to this array; NULL: it is not an array. */
static struct cudaArray **find_array(cudaArray_const_t array)
{
    struct cudaArray **at = &arrays;
    while (*at && *at != array)
        at = &(*at)->next;
    return *at ? at : NULL;
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    API_BEGIN();
    struct cudaArray **at = find_array(array);
    if (!array)
        API_END(cudaSuccess);
    if (!at)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE, "cudaFreeArray: this is not an array (was it freed?)"));
    emu_release(emu_find(array->data), HERE);
    *at = array->next;
    free(array);
    API_END(cudaSuccess);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind)
{
    API_BEGIN();
    if (!find_array(to))
        API_END(emu_misuse(cudaErrorInvalidValue, HERE, "%s: this is not an array (was it freed?)", __func__));
    size_t row = to->width * texel_size(&to->channels);
    if (x > row || width > row - x || y > to->height || height > to->height - y)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE,
                           "%s: %zu rows of %zu bytes from row %zu, byte %zu, do not fit into %zu rows of %zu bytes",
                           __func__, height, width, y, x, to->height, row));
    emu_copy c = { to->data + y * row + x, from, row, 0, pitch, 0, width, height, 1, kind };
    API_END(emu_issue_copy(&c, NULL, true, HERE, __func__));
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* Finds the texels of the resource; false: it has none. */
static bool describe(cuemu_texture *t, const cudaResourceDesc *r, cudaChannelFormatDesc *channels)
{
    switch (r->resType) {
    case cudaResourceTypeLinear:
        *channels = r->res.linear.desc;
        t->data = r->res.linear.devPtr;
        t->height = 1;
        t->width = texel_size(channels) ? (long)(r->res.linear.sizeInBytes / texel_size(channels)) : 0;
        break;
    case cudaResourceTypePitch2D:
        *channels = r->res.pitch2D.desc;
        t->data = r->res.pitch2D.devPtr;
        t->width = (long)r->res.pitch2D.width;
        t->height = (long)r->res.pitch2D.height;
        t->pitch = (long)r->res.pitch2D.pitchInBytes;
        break;
    case cudaResourceTypeArray:
        if (!find_array(r->res.array.array))
            return false;
        *channels = r->res.array.array->channels;
        t->data = r->res.array.array->data;
        t->width = (long)r->res.array.array->width;
        t->height = (long)r->res.array.array->height;
        t->pitch = t->width * (long)texel_size(channels);
        break;
    default:
        return false;
    }
    t->texel = (int)texel_size(channels);
    return t->data && t->texel && t->width && t->height;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *made, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *texture, const struct cudaResourceViewDesc *view)
{
    API_BEGIN();
    cuemu_texture t = { 0 };
    cudaChannelFormatDesc channels;
    if (!made || !resource || !texture || view || !describe(&t, resource, &channels))
        API_END(emu_misuse(cudaErrorInvalidValue, HERE,
                           "%s: the emulator has textures of linear memory, of rows with a pitch, and of arrays of "
                           "cudaMallocArray",
                           __func__));
    t.linear = texture->filterMode == cudaFilterModeLinear && resource->resType != cudaResourceTypeLinear;
    t.normalized_coordinates = texture->normalizedCoords;
    if (texture->readMode == cudaReadModeNormalizedFloat && channels.f != cudaChannelFormatKindFloat)
        API_END(emu_misuse(cudaErrorNotSupported, HERE,
                           "%s: cudaReadModeNormalizedFloat is not emulated: read the integers, and divide", __func__));
    if (t.linear && (channels.f != cudaChannelFormatKindFloat || channels.x != 32))
        API_END(emu_misuse(cudaErrorInvalidValue, HERE, "%s: linear filtering needs texels of floats", __func__));
    for (int i = 0; i < 2; i++) {
        cudaTextureAddressMode mode = texture->addressMode[i];
        if (mode == cudaAddressModeMirror && t.normalized_coordinates)
            API_END(emu_misuse(cudaErrorNotSupported, HERE, "%s: cudaAddressModeMirror is not emulated", __func__));
        t.mode[i] = mode == cudaAddressModeBorder || (mode == cudaAddressModeWrap && t.normalized_coordinates)
                        ? (int)mode
                        : cudaAddressModeClamp;
    }
    object *grown = realloc(objects, (count + 1) * sizeof *grown);
    if (!grown)
        API_END(cudaErrorMemoryAllocation);
    objects = grown;
    objects[count++] = (object){ t, true };
    *made = count;
    API_END(cudaSuccess);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t named)
{
    API_BEGIN();
    if (named - 1 >= count || !objects[named - 1].alive)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE, "%s: this is not a texture object", __func__));
    objects[named - 1].alive = false;
    API_END(cudaSuccess);
}

cuemu_texture cuemu_texture_of(unsigned long long named, size_t size)
{
    emu_site here = { .pc = HERE };
    if (named - 1 >= count || !objects[named - 1].alive) {
        emu_error(EMU_BAD_POINTER, here, "%llu is not a texture object (was it destroyed?)", named);
        emu_kill(cudaErrorIllegalAddress);
    }
    const cuemu_texture *t = &objects[named - 1].texture;
    if ((size_t)t->texel != size) {
        emu_error(EMU_HOST_API, here, "the type that is read has %zu bytes, but a texel of this texture has %d", size,
                  t->texel);
        emu_kill(cudaErrorIllegalAddress);
    }
    return *t;
}
