/* compress.h -- fewer bytes for gradients: one bit an element, or the largest elements only. What is not sent is not
 * lost: each rank adds it to its next gradient (error feedback). Unit: solutions/13-data-parallel/compress.c
 *
 * Error feedback: error [n], zeros before the first step, is what was not sent so far. In each step
 *     v = x + error,   sent = an approximation of v,   error = v - sent
 * both rounded once to f32. After any number of steps the sum of all that was sent is the sum of all x but for the
 * present error (and rounding): no gradient is lost, it only comes later.
 * Sources: Seide et al. 2014 (1-bit SGD); Karimireddy et al. 2019, arXiv:1901.09847 (error feedback). */
#pragma once

#include "dist/comm.h"

MT_C_BEGIN

/* ---- one bit ------------------------------------------------------------------------------------ */

/* The bytes of a message of n elements: one f32, and one bit for each element. */
static inline int64_t mt_onebit_bytes(int64_t n)
{
    return (int64_t)sizeof(float) + (n + 7) / 8;
}

/* mt_onebit_pack -- v = x + error as signs and one size: sent = scale where v >= 0, else -scale; scale is the mean of
 * |v|, summed in double: no other scale leaves a smaller sum of squares of the error.
 *   message  [mt_onebit_bytes(n)]  overwritten: scale; bit i % 8 (1 << i % 8) of byte 4 + i / 8: v[i] >= 0; the bits
 *                                  that are left over are 0. Any alignment
 *   error    [n]  updated;   x [n].   No elements: scale 0.   Lab 13.14 */
void mt_onebit_pack(uint8_t *message, float *error, const float *x, int64_t n);

/* mt_onebit_unpack -- out [n] becomes what was sent.   Lab 13.14 */
void mt_onebit_unpack(float *out, const uint8_t *message, int64_t n);

/* mt_onebit_all_reduce -- data [n] becomes an approximation of the mean over all ranks, with the same bits on each.
 * In two phases: every rank sends each other rank its part of data (mt_part_begin, dist/collectives.h) packed, and that
 * one unpacks and averages what it gets, in order of rank; then it packs the mean and sends it to all. A rank
 * treats its own part like the others. 2 (size - 1) messages a rank, each of one part: n / 8 bytes for 4 n of an
 * all-reduce. If each rank sent everything to all others at once, it would be n (size - 1) / 8: more than a ring sends
 * for size > 64.
 *   error       [n]          of the first phase, of this rank
 *   part_error  [n / size, rounded up]   of the second, of this rank's part
 * Fails: as the communicator, with no message after one that failed; the arrays are undefined then.   Lab 13.15 */
mt_status mt_onebit_all_reduce(mt_comm *comm, float *data, int64_t n, float *error, float *part_error);

/* ---- the largest elements ------------------------------------------------------------------------- */

/* mt_topk_pack -- the k elements of v = x + error with the largest |v| (ties: the first), which are sent exactly.
 *   index  [k] overwritten, increasing;   value [k] overwritten: v there
 *   error  [n] updated: 0 where v was sent, v elsewhere;   x [n] finite
 * Needs no other memory.   Aborts: not 0 <= k <= n, n above 2^31 - 1.   Lab 13.16 */
void mt_topk_pack(int32_t *index, float *value, float *error, const float *x, int64_t n, int64_t k);

/* mt_topk_all_reduce -- data [n] becomes the mean over all ranks of what each sends with mt_topk_pack, with the same
 * bits on each. 8 k (size - 1) bytes a rank: index and value of each element.
 *   error [n] of this rank.   Fails: as the communicator; the arrays are undefined then.   Lab 13.16 */
mt_status mt_topk_all_reduce(mt_comm *comm, float *data, int64_t n, int64_t k, float *error);

MT_C_END
