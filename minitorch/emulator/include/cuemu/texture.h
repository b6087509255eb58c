/* texture.h -- reads of texture objects: tex1Dfetch, tex1D, tex2D, as the programming guide defines them ("Texture
 * Fetching"). A texel is read from where it is in device memory, so every check applies to it. */
#ifndef CUEMU_TEXTURE_H
#define CUEMU_TEXTURE_H

namespace cuemu
{

/* The index that stands for i; -1: the border. */
CUEMU_INLINE long texel_index(long i, long count, int mode)
{
    if (i >= 0 && i < count)
        return i;
    if (mode == cudaAddressModeWrap)
        return (i % count + count) % count;
    return mode == cudaAddressModeBorder ? -1 : i < 0 ? 0 : count - 1;
}

template <class T> CUEMU_INLINE T texel(const cuemu_texture &t, long x, long y)
{
    x = texel_index(x, t.width, t.mode[0]);
    y = texel_index(y, t.height, t.mode[1]);
    if (x < 0 || y < 0)
        return T{};
    return __ldg((const T *)(t.data + y * t.pitch + x * t.texel));
}

/* The weights of linear filtering have 8 bits. */
template <class T> CUEMU_INLINE T filtered(const cuemu_texture &t, float x, float y)
{
    enum { CHANNELS = sizeof(T) / sizeof(float) };
    const float left = floorf(x - 0.5f), top = floorf(y - 0.5f);
    const float a = rintf((x - 0.5f - left) * 256) / 256, b = rintf((y - 0.5f - top) * 256) / 256;
    const float weight[4] = { (1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b };
    float sum[CHANNELS] = {};
    for (int corner = 0; corner < 4; corner++) {
        if (weight[corner] == 0) /* such a texel is not read: it may lie outside of linear memory */
            continue;
        T value = texel<T>(t, (long)left + corner % 2, (long)top + corner / 2);
        float channel[CHANNELS];
        __builtin_memcpy(channel, &value, sizeof value);
        for (int i = 0; i < CHANNELS; i++)
            sum[i] += weight[corner] * channel[i];
    }
    T result;
    __builtin_memcpy(&result, sum, sizeof result);
    return result;
}

template <class T> CUEMU_INLINE T sample(cudaTextureObject_t object, float x, float y)
{
    const cuemu_texture t = cuemu_texture_of(object, sizeof(T));
    if (t.normalized_coordinates)
        x *= t.width, y *= t.height;
    if constexpr (sizeof(T) % sizeof(float) == 0)
        if (t.linear)
            return filtered<T>(t, x, y);
    return texel<T>(t, (long)floorf(x), (long)floorf(y));
}

} // namespace cuemu

/* An element of linear memory, which may not lie outside. */
template <class T> CUEMU_INLINE T tex1Dfetch(cudaTextureObject_t object, int i)
{
    const cuemu_texture t = cuemu_texture_of(object, sizeof(T));
    return i >= 0 && i < t.width ? cuemu::texel<T>(t, i, 0) : T{};
}
template <class T> CUEMU_INLINE T tex1D(cudaTextureObject_t object, float x)
{
    return cuemu::sample<T>(object, x, 0.5f);
}
template <class T> CUEMU_INLINE T tex2D(cudaTextureObject_t object, float x, float y)
{
    return cuemu::sample<T>(object, x, y);
}

/* ---- host ---- */

CUEMU_INLINE cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind)
{
    return { x, y, z, w, kind };
}
template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc()
{
    return { 0, 0, 0, 0, cudaChannelFormatKindNone };
}
#define CUEMU_CHANNELS(T, bits, kind)                                   \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() \
    {                                                                   \
        return { bits, 0, 0, 0, cudaChannelFormatKind##kind };          \
    }
#define CUEMU_CHANNELS4(T, bits, kind)                                     \
    CUEMU_CHANNELS(T##1, bits, kind)                                       \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T##2>() \
    {                                                                      \
        return { bits, bits, 0, 0, cudaChannelFormatKind##kind };          \
    }                                                                      \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T##4>() \
    {                                                                      \
        return { bits, bits, bits, bits, cudaChannelFormatKind##kind };    \
    }
CUEMU_CHANNELS(float, 32, Float)
CUEMU_CHANNELS(int, 32, Signed)
CUEMU_CHANNELS(unsigned, 32, Unsigned)
CUEMU_CHANNELS(short, 16, Signed)
CUEMU_CHANNELS(unsigned short, 16, Unsigned)
CUEMU_CHANNELS(signed char, 8, Signed)
CUEMU_CHANNELS(char, 8, Signed)
CUEMU_CHANNELS(unsigned char, 8, Unsigned)
CUEMU_CHANNELS4(float, 32, Float)
CUEMU_CHANNELS4(int, 32, Signed)
CUEMU_CHANNELS4(uint, 32, Unsigned)
CUEMU_CHANNELS4(ushort, 16, Unsigned)
CUEMU_CHANNELS4(uchar, 8, Unsigned)
#undef CUEMU_CHANNELS
#undef CUEMU_CHANNELS4

#endif
