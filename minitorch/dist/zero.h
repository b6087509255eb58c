/* zero.h -- data parallel training in which each rank has the optimizer's state (stage 1), the gradients (stage 2), and
 * the parameters themselves (stage 3) of its part only. Unit: solutions/13-data-parallel/zero.c
 *
 *     status = mt_zero_new(&zero, comm, optim, &params, &config);     // instead of mt_ddp (dist/ddp.h)
 *     for (each step) {
 *         mt_zero_begin(zero, micro, samples);
 *         ... micro times mt_backward ...
 *         status = mt_zero_step(zero, max_norm, &norm);               // gradients, clipping, update, parameters
 *     }
 *
 * The gradients are divided into buckets (mt_buckets_plan), each bucket into a part for every rank. A complete bucket
 * is reduced so that each rank gets the mean of its part (reduce-scatter); the rank updates that part of the
 * parameters, and all get all parts (all-gather): as many bytes as an all-reduce: 2 (N - 1) / N of the
 * parameters' bytes for each rank and step.
 * With Adam, each of N ranks holds so many bytes for a parameter, in f32:
 *     data parallel   4 parameter, 4 gradient, 8 state        16 bytes
 *     stage 1                              8 / N state         8 + 8 / N
 *     stage 2                 4 / N gradient, 8 / N state      4 + 12 / N
 *     stage 3     4 / N parameter, 4 / N gradient, 8 / N state    16 / N
 * and, for a short time, a bucket with the messages of its reduction; in stage 3 two whole buckets of parameters, too,
 * and 3 (N - 1) / N of the parameters' bytes on the wire (dist/zero3.h). Gradients are whole until the last of several
 * micro-batches. Source: Rajbhandari et al. 2019, arXiv:1910.02054. */
#pragma once

#include "dist/ddp.h"
#include "optim/optim.h"

MT_C_BEGIN

/* mt_zero_part -- the elements of a bucket that belong to rank `rank` of `size`: *begin .. *end - 1 of the flat
 * gradients. With n elements in the bucket all parts have n / size of them, rounded up, but for those at its end, which
 * may be shorter or empty.   Lab 13.10 */
void mt_zero_part(int64_t *begin, int64_t *end, const mt_bucket *bucket, int rank, int size);

typedef struct mt_zero mt_zero; /* opaque */

typedef struct mt_zero_config {
    int stage; /* 1, 2, 3 */
    int64_t bucket_bytes;

    /* ---- extension point: as mt_ddp_config's, in stage 1: this rank's part of the bucket's gradients becomes the mean
     * over the ranks, where it is. NULL: by a reduce-scatter */
    mt_status (*send)(void *user, int64_t bucket, float share);
    void *user;
} mt_zero_config;

/* mt_zero_new -- collective: as mt_ddp_new; and in the optimizer's list, of the same parameters in the same order, each
 * is replaced by this rank's part of it, with its state at zero. Stage 1 requires mt_flat_gradients before; the others
 * do not. Borrows comm and optim.
 * Aborts: another stage; as mt_ddp_new; a parameter list that is not the optimizer's; Adafactor or Muon. */
mt_status mt_zero_new(mt_zero **out, mt_comm *comm, mt_optim *optim, const mt_state *params,
                      const mt_zero_config *config);
void mt_zero_free(mt_zero *zero); /* before optim and comm; NULL is allowed */

/* mt_zero_begin -- as mt_ddp_begin; it releases the gradients of the step before. In stage 3 ranks read parameters
 * together: one that has no samples left runs as many micro-batches as the others, of any samples, and passes 0 for
 * `samples`: its gradients count as zeros.   Aborts: stage 3, micro = 0. */
void mt_zero_begin(mt_zero *zero, int64_t micro, int64_t samples);

/* mt_zero_step -- the rest of the step: what was not sent yet, the norm of all gradients (*norm, the same bits on all
 * ranks; may be NULL), which are scaled to max_norm when it is above that (as in optim/clip.h, without an eps),
 * mt_optim_step, and the parameters of all ranks. A norm that is not finite changes no parameter, on no rank. Gradients
 * are undefined afterwards.
 * max_norm: >= 0, INFINITY for no limit.   Fails: as mt_ddp_finish; parameters are undefined then.   Lab 13.11-12 */
mt_status mt_zero_step(mt_zero *zero, double max_norm, double *norm);

/* The halves of mt_zero_step, for a caller that clips and calls mt_optim_step itself: its norm is that of more ranks.
 * mt_zero_finish -- what was not sent yet; the gradients of the optimizer's parameters, which are this rank's parts,
 * are complete afterwards.   mt_zero_updated -- after mt_optim_step: the parameters of all ranks.
 * mt_zero_ddp -- lent: the buckets, for mt_ddp_bucket, and for mt_ddp_hold after mt_zero_begin. */
mt_status mt_zero_finish(mt_zero *zero);
mt_status mt_zero_updated(mt_zero *zero);
mt_ddp *mt_zero_ddp(mt_zero *zero);

/* mt_zero_whole -- collective: until the next mt_zero_begin every rank has all parameters, and may read them alone: to
 * evaluate, to save. In stages 1 and 2 this always holds.   Fails: as the communicator.
 * mt_zero_changed -- between the two: the parameters were changed, on all ranks alike (a checkpoint was loaded). Stage
 * 3 forgets their new values otherwise. Afterwards they are not whole. */
mt_status mt_zero_whole(mt_zero *zero);
void mt_zero_changed(mt_zero *zero);

/* ---- checkpoints: each rank saves mt_optim_state of its optimizer ------------------------------------------
 * To continue with another number of ranks, each new rank takes what it needs from the list of every old one:
 *
 *     for (int old = 0; old < old_size; old++) {
 *         mt_state saved = mt_zero_saved(zero, old, old_size);         // tensors of the sizes that rank had
 *         status = ... read them ...
 *         mt_zero_take(zero, &saved, old, old_size);
 *         mt_state_free(&saved);
 *     } */

/* mt_zero_piece -- elements *from .. *to - 1 of parameter number `param` of the list belong to rank `rank` of `size`;
 * returns the parameter's bucket. */
int64_t mt_zero_piece(const mt_zero *zero, int64_t param, int rank, int size, int64_t *from, int64_t *to);

/* mt_zero_saved -- the list that rank `rank` of `size` had saved in a run with the same parameters and bucket_bytes;
 * its tensors are new and zero, its integers are those of the optimizer. For one rank (0, 1) it is mt_optim_state of
 * a run without ZeRO. */
mt_state mt_zero_saved(mt_zero *zero, int rank, int size);

/* mt_zero_gather -- collective: the tensors of whole, a list mt_zero_saved(zero, 0, 1) of rank 0, get the state that
 * the ranks have. Other ranks pass NULL.   Fails: as the communicator. */
mt_status mt_zero_gather(mt_zero *zero, const mt_state *whole);

/* mt_zero_take -- copies what this rank now has out of such a list. */
void mt_zero_take(mt_zero *zero, const mt_state *saved, int rank, int size);

/* mt_zero_overlap -- into [end - begin] stands for elements begin .. end - 1 of an array, and `from` for elements
 * from_begin .. from_end - 1 of the same array: copies those that both have; the others of `into` are unchanged.
 * Lab 13.13 */
void mt_zero_overlap(float *into, int64_t begin, int64_t end, const float *from, int64_t from_begin, int64_t from_end);

MT_C_END
