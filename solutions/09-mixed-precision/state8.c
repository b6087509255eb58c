/* state8.c -- Adam's moments in 8 bits: the code of a number, the scale of a block, and the update between them.
 *
 * A level is an f32 whose mantissa ends after 3 bits, so a code is the upper bits of an f32 with another origin:
 *
 *   f32    s eeeeeeee mmm mmmmmmmmmmmmmmmmmmmm    1 is 0x3f8 in the upper 12 bits
 *   m      s     eeee mmm                         1 is 127
 *   v           eeeee mmm                         1 is 255 */
#include "amp/state8.h"

#include <math.h>
#include <string.h>

enum {
    ONE = 0x3f8,           /* the upper 12 bits of 1.0f */
    DROPPED = 20,          /* bits of an f32 behind those of a level */
    PIECE = 16 * MT_BLOCK8 /* elements: both moments of a piece take 32 KiB in f32, which stay in the cache */
};

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- one number ------------------------------------------------------------------------------------ */

/* The count of level 1. */
static inline int top(bool sign)
{
    return sign ? 127 : 255;
}

static inline uint8_t to_code(float x, float scale, bool sign, uint32_t threshold)
{
    uint32_t bits = bits_of(x / scale), size = bits & 0x7fffffff;
    /* LAB 09.11 BEGIN  The count of the level, and the sign.
     * Hint: add the threshold to `size` and drop the bits behind a level's: a carry rounds up, into the exponent, too.
     * What is left counts levels from those of 0.0f on; yours counts them so that 1 is top(sign). What is below 1 then
     * is below the smallest level (state8.h). */
    int count = (int)((size + threshold) >> DROPPED) - (ONE - top(sign));
    int least = !sign && x > 0;
    return (uint8_t)((sign ? bits >> 31 << 7 : 0) | (uint32_t)(count > least ? count : least));
    /* LAB 09.11 END */
}

static inline float from_code(uint8_t code, bool sign)
{
    /* LAB 09.11 BEGIN  Its level, exactly.
     * Hint: the way back. Count 0 is 0, with either sign. */
    uint32_t count = sign ? code & 0x7f : code;
    uint32_t size = count > 0 ? (count + (uint32_t)(ONE - top(sign))) << DROPPED : 0;
    return float_of(size | (sign ? (uint32_t)(code & 0x80) << 24 : 0));
    /* LAB 09.11 END */
}

/* ---- blocks ---------------------------------------------------------------------------------------- */

/* The least power of two above all |x|; 1 for zeros. */
static float scale_of(const float *x, int64_t n)
{
    /* LAB 09.11 BEGIN  The scale of a block.
     * Hint: frexpf gives the exponent of such a power of two, and ldexpf the power. The bits of positive floats, as
     * integers, have the order of the numbers, and the compiler vectorises a maximum of integers. */
    uint32_t largest = 0;
    int exponent;
    for (int64_t i = 0; i < n; i++)
        largest = (bits_of(x[i]) & 0x7fffffff) > largest ? bits_of(x[i]) & 0x7fffffff : largest;
    (void)frexpf(float_of(largest), &exponent);
    return ldexpf(1, exponent);
    /* LAB 09.11 END */
}

void mt_encode8_cpu(const mt_moment8 *out, const float *x, int64_t n, int64_t step, int64_t first)
{
    for (int64_t block = 0; block < n; block += MT_BLOCK8) {
        const int64_t end = mt_min(n, block + MT_BLOCK8);
        const float scale = out->scale[block / MT_BLOCK8] = scale_of(x + block, end - block);
        for (int64_t i = block; i < end; i++)
            out->code[i] = to_code(x[i], scale, out->sign, mt_threshold8(step, first + i));
    }
}

void mt_decode8_cpu(float *out, const mt_moment8 *x, int64_t n)
{
    for (int64_t block = 0; block < n; block += MT_BLOCK8)
        for (int64_t i = block; i < mt_min(n, block + MT_BLOCK8); i++)
            out[i] = x->scale[block / MT_BLOCK8] * from_code(x->code[i], x->sign);
}

/* ---- the update ------------------------------------------------------------------------------------ */

void mt_adam8_update_cpu(const mt_update *u, mt_update_fn *rule, const mt_moment8 moment[MT_UPDATE_STATES])
{
    int64_t n = mt_update_count(u);
    /* LAB 09.11 BEGIN  For each piece: decode both moments, update, encode them.
     * Hint: as in 09.8 a piece is an update of its own, of one row. Its moments are arrays of PIECE floats, which each
     * thread has on its stack; its codes begin at the piece's first element, and its scales at its first block. */
#pragma omp parallel for if (n > PIECE)
    for (int64_t i = 0; i < n; i += PIECE) {
        float state[MT_UPDATE_STATES][PIECE];
        mt_update piece = *u;
        piece.param += i;
        piece.grad += i;
        piece.rows = 1;
        piece.cols = mt_min(PIECE, n - i);
        mt_moment8 of_piece[MT_UPDATE_STATES];
        for (int s = 0; s < MT_UPDATE_STATES; s++) {
            of_piece[s] = (mt_moment8){ moment[s].code + i, moment[s].scale + i / MT_BLOCK8, moment[s].sign };
            mt_decode8_cpu(state[s], &of_piece[s], piece.cols);
            piece.state[s] = state[s];
        }
        rule(&piece);
        for (int s = 0; s < MT_UPDATE_STATES; s++)
            mt_encode8_cpu(&of_piece[s], state[s], piece.cols, u->step, i);
    }
    /* LAB 09.11 END */
}
