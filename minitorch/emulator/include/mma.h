/* mma.h -- nvcuda::wmma for 16x16x16, 32x8x16 and 8x32x16: f16 or bf16 in, f32 (or f16) out.
 *
 * A fragment is distributed over the warp in 8x8 blocks: lane l has row l / 4 and columns 2 (l % 4) and 2 (l % 4) + 1
 * of every block, and loads the two as one access. The GPU's (undocumented) layout is similar but not equal, so the
 * traffic of load_matrix_sync is approximate. */
#ifndef CUEMU_MMA_H
#define CUEMU_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda
{
namespace wmma
{

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

/* Not CUDA's names: hidden from `using namespace nvcuda::wmma`. */
namespace emulated
{

/* The matrix as stored: R rows of C contiguous elements. For a col_major operand that is the transpose. */
template <class Use, int M, int N, int K, class Layout> struct stored;
template <int M, int N, int K> struct stored<matrix_a, M, N, K, row_major> {
    enum { R = M, C = K };
};
template <int M, int N, int K> struct stored<matrix_a, M, N, K, col_major> {
    enum { R = K, C = M };
};
template <int M, int N, int K> struct stored<matrix_b, M, N, K, row_major> {
    enum { R = K, C = N };
};
template <int M, int N, int K> struct stored<matrix_b, M, N, K, col_major> {
    enum { R = N, C = K };
};
template <int M, int N, int K> struct stored<accumulator, M, N, K, void> {
    enum { R = M, C = N };
};

/* Row and column, in memory, of element e of a lane's fragment. */
template <class Shape> CUEMU_INLINE constexpr int row_of(int lane, int e)
{
    return e / 2 / (Shape::C / 8) * 8 + lane / 4;
}
template <class Shape> CUEMU_INLINE constexpr int column_of(int lane, int e)
{
    return e / 2 % (Shape::C / 8) * 8 + lane % 4 * 2 + e % 2;
}

template <class Shape> CUEMU_INLINE constexpr int place(int lane, int e)
{
    return row_of<Shape>(lane, e) * Shape::C + column_of<Shape>(lane, e);
}

template <class T> struct alignas(2 * sizeof(T)) two {
    T first, second;
};

/* One lane's part of the warp's product d = a b + c; sums are in float, in the order of k. */
template <int M, int N, int K, class T, class LA, class LB, class TC> struct product {
    const T *a, *b;
    const TC *c;
    TC *d;
    CUEMU_UNTRACED static void combine(void *lanes[32])
    {
        typedef stored<matrix_a, M, N, K, LA> shape_a;
        typedef stored<matrix_b, M, N, K, LB> shape_b;
        typedef stored<accumulator, M, N, K, void> shape_c;
        float A[M * K], B[K * N], C[M * N]; /* as stored in memory */
        for (int lane = 0; lane < 32; lane++) {
            const product *p = (const product *)lanes[lane];
            for (int e = 0; e < M * K / 32; e++)
                A[place<shape_a>(lane, e)] = (float)p->a[e];
            for (int e = 0; e < K * N / 32; e++)
                B[place<shape_b>(lane, e)] = (float)p->b[e];
            for (int e = 0; e < M * N / 32; e++)
                C[place<shape_c>(lane, e)] = (float)p->c[e];
        }
        const bool a_rows = std::is_same<LA, row_major>::value, b_rows = std::is_same<LB, row_major>::value;
        for (int i = 0; i < M; i++)
            for (int k = 0; k < K; k++)
                for (int j = 0; j < N; j++)
                    C[i * N + j] += A[a_rows ? i * K + k : k * M + i] * B[b_rows ? k * N + j : j * K + k];
        for (int lane = 0; lane < 32; lane++)
            for (int e = 0; e < M * N / 32; e++)
                ((const product *)lanes[lane])->d[e] = (TC)C[place<shape_c>(lane, e)];
    }
};

} // namespace emulated

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static_assert(K == 16 && ((M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32)),
                  "the emulator has wmma for m16n16k16, m32n8k16 and m8n32k16");
    typedef emulated::stored<Use, M, N, K, Layout> shape;
    typedef T element_type;
    enum { num_elements = shape::R * shape::C / 32 };
    T x[num_elements];
};

template <class F, class V> CUEMU_INLINE void fill_fragment(F &f, V value)
{
    for (int e = 0; e < F::num_elements; e++)
        f.x[e] = (typename F::element_type)value;
}

template <class F, class T> CUEMU_INLINE void load_pairs(F &f, const T *from, unsigned ldm)
{
    int lane = (int)cuemu_lane();
    cuemu_matrix_access(from, ldm * sizeof(T));
    for (int e = 0; e < F::num_elements; e += 2) {
        size_t at = (size_t)emulated::row_of<typename F::shape>(lane, e) * ldm +
                    emulated::column_of<typename F::shape>(lane, e);
        emulated::two<T> pair = *(const emulated::two<T> *)(from + at);
        f.x[e] = pair.first;
        f.x[e + 1] = pair.second;
    }
}
template <class Use, int M, int N, int K, class T, class L>
CUEMU_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, L> &f, const T *from, unsigned ldm)
{
    load_pairs(f, from, ldm);
}
template <int M, int N, int K, class T>
CUEMU_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *from, unsigned ldm, layout_t layout)
{
    typedef emulated::stored<accumulator, M, N, K, void> shape;
    int lane = (int)cuemu_lane();
    if (layout == mem_row_major) {
        load_pairs(f, from, ldm);
        return;
    }
    cuemu_matrix_access(from, ldm * sizeof(T));
    for (int e = 0; e < shape::R * shape::C / 32; e++)
        f.x[e] = from[(size_t)emulated::column_of<shape>(lane, e) * ldm + emulated::row_of<shape>(lane, e)];
}
template <int M, int N, int K, class T>
CUEMU_INLINE void store_matrix_sync(T *to, const fragment<accumulator, M, N, K, T> &f, unsigned ldm, layout_t layout)
{
    typedef emulated::stored<accumulator, M, N, K, void> shape;
    int lane = (int)cuemu_lane();
    cuemu_matrix_access(to, ldm * sizeof(T));
    for (int e = 0; e < shape::R * shape::C / 32; e += 2) {
        size_t row = (size_t)emulated::row_of<shape>(lane, e), column = (size_t)emulated::column_of<shape>(lane, e);
        if (layout == mem_row_major) {
            emulated::two<T> pair{ f.x[e], f.x[e + 1] };
            *(emulated::two<T> *)(to + row * ldm + column) = pair;
        } else {
            to[column * ldm + row] = f.x[e];
            to[(column + 1) * ldm + row] = f.x[e + 1];
        }
    }
}

template <int M, int N, int K, class T, class LA, class LB, class TC>
CUEMU_INLINE void mma_sync(fragment<accumulator, M, N, K, TC> &d, const fragment<matrix_a, M, N, K, T, LA> &a,
                           const fragment<matrix_b, M, N, K, T, LB> &b, const fragment<accumulator, M, N, K, TC> &c)
{
    emulated::product<M, N, K, T, LA, LB, TC> mine{ a.x, b.x, c.x, d.x };
    cuemu_warp_together(emulated::product<M, N, K, T, LA, LB, TC>::combine, &mine);
}

} // namespace wmma
} // namespace nvcuda

#endif
