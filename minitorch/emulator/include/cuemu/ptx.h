/* ptx.h -- targets of rewritten inline PTX: one function per instruction that has no CUDA function. */
#ifndef CUEMU_PTX_H
#define CUEMU_PTX_H

namespace cuemu
{
/* cp.async [shared], [global], size{, bytes that are read: the rest is zero}; `shared` is a 32-bit shared address. */
CUEMU_INLINE void ptx_copy_async(size_t shared, const void *global, int size)
{
    cuemu_copy_async(cuemu_shared_address(shared), global, size, 0);
}
CUEMU_INLINE void ptx_copy_async(size_t shared, const void *global, int size, int read)
{
    cuemu_copy_async(cuemu_shared_address(shared), global, size, size - read);
}
CUEMU_INLINE void ptx_copy_commit()
{
    cuemu_copy_commit();
}
CUEMU_INLINE void ptx_copy_wait(int groups_left)
{
    cuemu_copy_wait(groups_left);
}
CUEMU_INLINE void ptx_copy_wait_all()
{
    cuemu_copy_commit();
    cuemu_copy_wait(0);
}
CUEMU_INLINE void ptx_barrier(int, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    cuemu_barrier(file, line);
}
CUEMU_INLINE void ptx_fence()
{
    cuemu_fence(1);
}
template <class T> CUEMU_INLINE T ptx_move(T value)
{
    return value;
}
CUEMU_INLINE float ptx_reciprocal(float x)
{
    return 1.0f / x;
}
CUEMU_INLINE float ptx_load(const void *at)
{
    return *(const float *)at;
}
CUEMU_INLINE void ptx_store(void *at, float value)
{
    *(float *)at = value;
}
} // namespace cuemu

#endif
