/* ddp.h -- data parallel training: each rank computes the gradients of its own samples, and they are averaged over the
 * ranks while backward still runs. Unit: solutions/13-data-parallel/ddp.c
 *
 *     mt_tensor *block = mt_flat_gradients(&params);             // the gradients are views of it (memory/flat.h)
 *     status = mt_ddp_new(&ddp, comm, &params, &config);         // all ranks have the parameters of rank 0 now
 *     for (each step) {
 *         mt_optim_zero_grad(optim);
 *         mt_ddp_begin(ddp, micro, samples);
 *         ... micro times mt_backward: the gradient of the mean loss of this rank's samples ...
 *         status = mt_ddp_finish(ddp);                           // the mean over the samples of all ranks
 *         mt_optim_step(optim);
 *     }
 *
 * The gradients are divided into buckets, so that one all-reduce moves many small ones. Backward completes gradients
 * roughly from the last parameter to the first: buckets are numbered in this order, and a bucket is sent as soon as it
 * and those before it are complete. With backward in time T, K equal buckets of b bytes and an all-reduce of t(b)
 * seconds, communication that backward does not hide takes
 *     t(b)  if t(b) <= T / K,    else  T / K + K t(b) - T.
 * Source: Li et al. 2020, arXiv:2006.15704. */
#pragma once

#include "core/state.h"
#include "dist/comm.h"

MT_C_BEGIN

typedef struct mt_bucket {
    int64_t first, last; /* parameters first .. last - 1 */
    int64_t begin, end;  /* elements of the flat gradients, with the gaps between parameters */
} mt_bucket;

/* mt_buckets_plan -- divide parameters into buckets: from the last to the first, and a bucket is closed when it has at
 * least `limit` elements. Returns the number of buckets; 0 for no parameters.
 *   out    [count]      overwritten: bucket 0 has the last parameters
 *   begin  [count + 1]  where each parameter begins in the flat array; begin[count]: its end
 * Lab 13.6 */
int64_t mt_buckets_plan(mt_bucket *out, const int64_t *begin, int64_t count, int64_t limit);

typedef struct mt_ddp mt_ddp; /* opaque */

typedef struct mt_ddp_config {
    int64_t bucket_bytes; /* the least that is worth a message of its own: larger for a network of larger latency */

    /* ---- extension point (dist/zero.h): what is done with a complete bucket, instead of an all-reduce of its slice of
     * the flat gradients, which then need not exist. NULL: that */
    mt_status (*send)(void *user, int64_t bucket, float share);
    void *user;
} mt_ddp_config;

/* mt_ddp_new -- collective: every rank gets the parameters of rank 0. Borrows comm; params, a list as
 * mt_module_params makes it, may be freed, its tensors must stay. Call it after mt_flat_gradients, in the thread that
 * runs backward.
 * Aborts: a parameter that is not f32, or not on the device of the others; without config->send, flat gradients that
 * are not there, or in another order.
 * A failure of the communicator is returned; free *out then, too.   Lab 13.7 */
mt_status mt_ddp_new(mt_ddp **out, mt_comm *comm, const mt_state *params, const mt_ddp_config *config);

void mt_ddp_free(mt_ddp *ddp); /* in the same thread; NULL is allowed */

int64_t mt_ddp_buckets(const mt_ddp *ddp);
const mt_bucket *mt_ddp_bucket(const mt_ddp *ddp, int64_t bucket); /* lent */

/* mt_ddp_begin -- before the first forward of a step: `micro` calls of backward follow, which together give the
 * gradient of the mean loss of `samples` samples (tokens, for a language model). During the last of them a bucket is
 * sent when all its gradients are complete, never before an earlier bucket. A rank that has no samples left calls it
 * with 0 and 0, no backward, and mt_ddp_finish.   Lab 13.8 */
void mt_ddp_begin(mt_ddp *ddp, int64_t micro, int64_t samples);

/* mt_ddp_hold -- after mt_ddp_begin: in this step the gradient of this parameter, lent, changes once more after the
 * last backward. Its bucket, and those behind it, are sent by mt_ddp_finish. Given. */
void mt_ddp_hold(mt_ddp *ddp, const mt_tensor *param);

/* mt_ddp_finish -- after the last backward: sends the buckets that are still there and waits for all. Every parameter
 * has a gradient afterwards, with the same bits on all ranks: sum over ranks of samples / (samples of all) * gradient,
 * in which a rank that did not use the parameter counts with zeros.   Fails: as the communicator, or in this step none
 * of the ranks had a sample; gradients are undefined then.   Lab 13.9 */
mt_status mt_ddp_finish(mt_ddp *ddp);

MT_C_END
