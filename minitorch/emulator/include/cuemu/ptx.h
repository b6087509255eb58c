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
/* A register is any variable of 32 bits. */
template <class T> CUEMU_INLINE uint32_t get_register(const T &from)
{
    static_assert(sizeof(T) == 4, "a register of ldmatrix and mma has 32 bits");
    uint32_t bits;
    __builtin_memcpy(&bits, &from, 4);
    return bits;
}
template <class T> CUEMU_INLINE void set_register(T &to, uint32_t bits)
{
    static_assert(sizeof(T) == 4, "a register of ldmatrix and mma has 32 bits");
    __builtin_memcpy(&to, &bits, 4);
}
/* ldmatrix.x1, x2 and x4: the results, then the shared address of the lane's row. */
template <bool TRANS, class R> CUEMU_INLINE void ptx_ldmatrix(R &a, size_t shared)
{
    uint32_t r[1];
    cuemu_load_matrix(r, shared, 1, TRANS);
    set_register(a, r[0]);
}
template <bool TRANS, class R> CUEMU_INLINE void ptx_ldmatrix(R &a, R &b, size_t shared)
{
    uint32_t r[2];
    cuemu_load_matrix(r, shared, 2, TRANS);
    set_register(a, r[0]), set_register(b, r[1]);
}
template <bool TRANS, class R> CUEMU_INLINE void ptx_ldmatrix(R &a, R &b, R &c, R &d, size_t shared)
{
    uint32_t r[4];
    cuemu_load_matrix(r, shared, 4, TRANS);
    set_register(a, r[0]), set_register(b, r[1]), set_register(c, r[2]), set_register(d, r[3]);
}
/* A sum in f32: a float, or its bits in an integer register. */
template <class T> CUEMU_INLINE float get_sum(T value)
{
    if constexpr (std::is_floating_point<T>::value)
        return (float)value;
    uint32_t bits = get_register(value);
    float sum;
    __builtin_memcpy(&sum, &bits, 4);
    return sum;
}
template <class T> CUEMU_INLINE void set_sum(T &to, float sum)
{
    __builtin_memcpy(&to, &sum, 4);
}
/* mma m16n8k16 and m16n8k8 with sums in f32: d, a, b, c. */
template <bool BF16, class D, class A, class B, class C>
CUEMU_INLINE void ptx_mma(D &d0, D &d1, D &d2, D &d3, A a0, A a1, A a2, A a3, B b0, B b1, C c0, C c1, C c2, C c3)
{
    uint32_t a[4] = { get_register(a0), get_register(a1), get_register(a2), get_register(a3) };
    uint32_t b[2] = { get_register(b0), get_register(b1) };
    float d[4], c[4] = { get_sum(c0), get_sum(c1), get_sum(c2), get_sum(c3) };
    cuemu_mma(d, a, b, c, 16, BF16);
    set_sum(d0, d[0]), set_sum(d1, d[1]), set_sum(d2, d[2]), set_sum(d3, d[3]);
}
template <bool BF16, class D, class A, class B, class C>
CUEMU_INLINE void ptx_mma(D &d0, D &d1, D &d2, D &d3, A a0, A a1, B b0, C c0, C c1, C c2, C c3)
{
    uint32_t a[2] = { get_register(a0), get_register(a1) }, b[1] = { get_register(b0) };
    float d[4], c[4] = { get_sum(c0), get_sum(c1), get_sum(c2), get_sum(c3) };
    cuemu_mma(d, a, b, c, 8, BF16);
    set_sum(d0, d[0]), set_sum(d1, d[1]), set_sum(d2, d[2]), set_sum(d3, d[3]);
}
template <class T> CUEMU_INLINE T ptx_move(T value)
{
    return value;
}
CUEMU_INLINE float ptx_reciprocal(float x)
{
    return 1.0f / x;
}
template <class T, bool CONSTANT = false> CUEMU_INLINE T ptx_load(const void *at)
{
    return CONSTANT ? __ldg((const T *)at) : *(const T *)at;
}
template <class V, bool CONSTANT = false, class T> CUEMU_INLINE void ptx_load4(T &a, T &b, T &c, T &d, const void *at)
{
    V v = ptx_load<V, CONSTANT>(at);
    a = v.x, b = v.y, c = v.z, d = v.w;
}
CUEMU_INLINE void ptx_store4(void *at, float a, float b, float c, float d)
{
    *(float4 *)at = make_float4(a, b, c, d);
}
/* `length` bits from bit `from` on; those beyond the word are 0, or copies of the sign. */
template <class T> CUEMU_INLINE T ptx_bits(T x, unsigned from, unsigned length)
{
    from &= 255, length &= 255;
    unsigned end = from + length < 32 ? from + length : 32;
    if (length == 0)
        return 0;
    if (from >= 32)
        return x < 0 ? (T)-1 : 0;
    return (T)((T)((unsigned)x << (32 - end)) >> (32 - end + from));
}
/* prmt: byte i of the result is one of the 8 bytes of b and a. Without a mode, digit i of the selector names it, and a
 * digit's bit 3 replicates that byte's sign; a mode derives the bytes from the selector's lowest 2 bits. */
enum ptx_permute_mode { PTX_PICK, PTX_F4E, PTX_B4E, PTX_RC8, PTX_ECL, PTX_ECR, PTX_RC16 };
template <ptx_permute_mode MODE> CUEMU_INLINE unsigned ptx_permute(unsigned a, unsigned b, unsigned selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    unsigned result = 0, s = selector & 3;
    for (unsigned i = 0; i < 4; i++) {
        unsigned digit = MODE == PTX_PICK  ? selector >> 4 * i & 15
                         : MODE == PTX_F4E ? s + i
                         : MODE == PTX_B4E ? (s - i) & 7
                         : MODE == PTX_RC8 ? s
                         : MODE == PTX_ECL ? (i > s ? i : s)
                         : MODE == PTX_ECR ? (i < s ? i : s)
                                           : (s & 1) * 2 + (i & 1);
        unsigned byte = (unsigned)(bytes >> (digit & 7) * 8) & 255;
        result |= (digit & 8 ? (byte & 128 ? 255u : 0) : byte) << 8 * i;
    }
    return result;
}
/* The bit of the result for bits a, b, c is bit 4a + 2b + c of the table. */
CUEMU_INLINE unsigned ptx_logic(unsigned a, unsigned b, unsigned c, unsigned table)
{
    unsigned result = 0;
    for (unsigned i = 0; i < 8; i++)
        result |= table >> i & 1 ? (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c) : 0;
    return result;
}
/* Where a GPU that is otherwise idle may place the block. */
CUEMU_INLINE unsigned ptx_multiprocessor()
{
    const uint3 grid = cuemu_grid_dim(), block = cuemu_block_idx();
    return ((block.z * grid.y + block.y) * grid.x + block.x) % cuemu_multiprocessors();
}
CUEMU_INLINE void ptx_store(void *at, float value)
{
    *(float *)at = value;
}
} // namespace cuemu

#endif
