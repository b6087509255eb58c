/* state8.h -- Adam's moments in 8 bits: 2.03 bytes a parameter in place of 8.
 *
 * A moment is stored as a code of 8 bits for each number and a scale for each block of 256. A code is a small float,
 * the number over its block's scale with 3 bits of mantissa:
 *
 *   m   s eeee mmm    levels from 1 down to 1.25 2^-16
 *   v     eeeee mmm   no number is negative: levels from 1 down to 1.25 2^-32
 *
 * So a number is off by less than 1/8 of itself, however much smaller than the largest of its block it is. What does
 * not vanish must not: where v became 0 and m did not, m / (sqrt(v) + eps) would be as large as m / eps. So v is at
 * least its smallest level, and m, below its own, is 0: both make a step shorter.
 *
 * A step changes v by a thousandth: rounded to nearest, 0.999 v would be v again, for ever. So a number between two
 * levels becomes the upper one with a chance that grows with its distance from the lower one (stochastic rounding): its
 * mean is the number, and errors of steps cancel. A scale is a power of two: dividing by it rounds nothing, and a
 * number that has not changed stays the level that it is when the scale changes.
 *
 * How large errors are in a long training: one rounding has a variance of at most d (D - d), where D, at most 1/8 of
 * the number, is the distance of the levels, and d that from the nearer one. With steady gradients v leaves its level
 * by d = (1 - beta2) |g^2 - v|, in the mean at most 2 (1 - beta2) v, and errors of k steps ago have the weight beta2^k:
 * together the variance is at most 2 (1 - beta2) v v / 8 / (1 - beta2^2), about v^2 / 8. So v is off by at most 0.36 of
 * itself (root mean square), and sqrt(v) by 0.18. One rounding of m has at most (m / 16)^2: m is off by at most
 * 1 / (16 sqrt(1 - beta1^2)) = 0.15 of its own root mean square. Without any rounding, m of ten gradients without a
 * common direction is all noise, and v of 1,000 has 0.03.
 * Source: Dettmers et al. 2022, arXiv:2110.02861: blocks with a scale each, a code of nearly equal relative errors. */
#pragma once

#include "optim/optim.h"

MT_C_BEGIN

enum { MT_BLOCK8 = 256 };

/* n numbers. Zeros in code and scale are the number 0. */
typedef struct mt_moment8 {
    uint8_t *code; /* [n] */
    float *scale;  /* [(n + 255) / 256] */
    bool sign;     /* numbers may be negative */
} mt_moment8;

static inline int64_t mt_blocks8(int64_t n)
{
    return (n + MT_BLOCK8 - 1) / MT_BLOCK8;
}

/* mt_state8_bytes -- both moments of a parameter of n numbers: 2 n, and 8 for each block. */
static inline int64_t mt_state8_bytes(int64_t n)
{
    return 2 * n + 2 * (int64_t)sizeof(float) * mt_blocks8(n);
}

/* mt_threshold8 -- the threshold of number i of a parameter in this step, from 0 to 2^20 - 1, as if drawn by chance: a
 * hash of both, so that it needs no state. A number is rounded up if its threshold and what it has above the lower
 * level, in parts of 2^-20 of the distance to the next one, are 2^20 or more. (A sequence that fills the range more
 * evenly would be worse: what v becomes would depend on the thresholds before, and a v that decays was 16 % too small
 * after 2,500 steps.)   Source of the hash: Wellons 2018, lowbias32. */
static inline uint32_t mt_threshold8(int64_t step, int64_t i)
{
    uint32_t hash = 0x9e3779b1u * (uint32_t)step + 0x85ebca77u * (uint32_t)i;
    hash = 0x7feb352du * (hash ^ hash >> 16);
    hash = 0x846ca68bu * (hash ^ hash >> 15);
    return hash >> 12;
}

/* mt_encode8_cpu -- x [n] as numbers first, first + 1, ... of a parameter in this step.
 *   out.code [n], out.scale [(n + 255) / 256]  overwritten;  x [n] finite, below 2^127; negative only where out.sign
 * The scale of a block is the least power of two above all |x|; 1 if all are 0.
 * The code is that of x / scale: with a sign its upper bit is x's sign bit, and the others, 7 or 8, count levels: 0 is
 * the number 0, and the largest count, 127 or 255, is level 1. There are 8 levels in each factor of two, at equal
 * distances. Between two levels, mt_threshold8 decides: bits of mantissa are dropped after adding it to them. What is
 * below the smallest level after that: 0 where there is a sign, else the smallest level, but for x = 0. (So a number
 * just below the smallest level may become it, and of v an x that is not 0 does, even if x / scale is 0 in f32.) A
 * scale may be subnormal.   Lab 09.11 */
void mt_encode8_cpu(const mt_moment8 *out, const float *x, int64_t n, int64_t step, int64_t first);

/* mt_decode8_cpu -- out [n] = the level of each code times the scale of its block.   Lab 09.11 */
void mt_decode8_cpu(float *out, const mt_moment8 *x, int64_t n);

/* mt_adam8_update_cpu -- the update of `rule`, mt_adam_update_cpu or mt_adamw_update_cpu, with moments of 8 bits: they
 * are decoded, updated, used for the parameter, and encoded, numbers of this step (u->step).
 *   u->state is not read;  moment[0] is m, with a sign;  moment[1] is v, without
 * The parameter's update reads the moments before they are rounded. The same bits for any number of threads. Several
 * threads may call it at once, for different parameters. Needs memory for no more than a piece of each moment.
 * Moves 16.06 B per element: reads p g m v, writes p m v.   Aborts: as the rule, t < 1.
 * Unit of all three: solutions/09-mixed-precision/state8.c   Lab 09.11 */
void mt_adam8_update_cpu(const mt_update *u, mt_update_fn *rule, const mt_moment8 moment[MT_UPDATE_STATES]);

/* ---- given, amp/state8.c: the moments of all parameters ----------------------------------------------------- */

typedef struct mt_state8 mt_state8; /* opaque */

/* mt_state8_new -- moments of 8 bits, zero, for each parameter of adam or adamw; the optimizer, which is borrowed, has
 * none of f32 from then on.   Aborts: another rule; not on the CPU. */
mt_state8 *mt_state8_new(mt_optim *optim);
void mt_state8_free(mt_state8 *s);

/* mt_state8_apply -- updates each parameter with a gradient, and sets the gradient in updates to NULL. */
void mt_state8_apply(mt_state8 *s, mt_update *updates);

/* mt_state8_state -- append codes and scales: "0.weight/exp_avg8" (u8), "0.weight/exp_avg8_scale" (f32), and so on. */
void mt_state8_state(mt_state *state, const mt_state8 *s);

MT_C_END
