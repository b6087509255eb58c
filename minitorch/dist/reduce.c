/* reduce.c -- mt_reduce_into; see collectives.h. */
#include "dist/collectives.h"

#include <math.h>

#include "core/dtype.h"

/* +0 is larger than -0, and NaN larger than any number, whichever comes first. */
static float larger(float a, float b)
{
    if (a == b)
        return signbit(a) ? b : a;
    return a > b || isnan(a) ? a : b;
}

#define REDUCE_INTEGERS(type, wide)                                                            \
    do {                                                                                       \
        type *a = into;                                                                        \
        const type *b = from;                                                                  \
        for (int64_t i = 0; i < n; i++)                                                        \
            a[i] = op == MT_SUM ? (type)((wide)a[i] + (wide)b[i]) : a[i] > b[i] ? a[i] : b[i]; \
    } while (0)

#define REDUCE_HALVES(type, widen, narrow)                      \
    do {                                                        \
        type *a = into;                                         \
        const type *b = from;                                   \
        for (int64_t i = 0; i < n; i++) {                       \
            float x = widen(a[i]), y = widen(b[i]);             \
            a[i] = narrow(op == MT_SUM ? x + y : larger(x, y)); \
        }                                                       \
    } while (0)

static void reduce_f32(float *a, const float *b, int64_t n, mt_reduce op)
{
    if (op == MT_SUM)
        for (int64_t i = 0; i < n; i++)
            a[i] += b[i];
    else
        for (int64_t i = 0; i < n; i++)
            a[i] = larger(a[i], b[i]);
}

void mt_reduce_into(void *into, const void *from, int64_t n, mt_dtype dtype, mt_reduce op)
{
    switch (dtype) {
    case MT_F32:
        reduce_f32(into, from, n, op);
        return;
    case MT_F16:
        REDUCE_HALVES(mt_f16, mt_f16_to_f32, mt_f16_from_f32);
        return;
    case MT_BF16:
        REDUCE_HALVES(mt_bf16, mt_bf16_to_f32, mt_bf16_from_f32);
        return;
    case MT_I32:
        REDUCE_INTEGERS(int32_t, uint32_t);
        return;
    case MT_I64:
        REDUCE_INTEGERS(int64_t, uint64_t);
        return;
    case MT_U8:
        REDUCE_INTEGERS(uint8_t, uint32_t);
        return;
    }
}
