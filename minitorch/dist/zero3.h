/* zero3.h -- parameters of which each rank has a part only: stage 3 of ZeRO, a part of dist/zero.h.
 * Unit: solutions/13-data-parallel/zero3.c
 *
 * The parameters of a bucket (dist/ddp.h) become views of one array. A rank keeps its part of each bucket
 * (mt_zero_part). When forward or backward reads a parameter whose bucket is closed, the bucket is opened: all ranks
 * gather it. At most the two buckets that were read last are open: an op may read two parameters at once, not more. A
 * step gathers every bucket for forward and again for backward, except those that are still open when backward begins,
 * and reduces the gradients: at most 3 (N - 1) / N of the parameters' bytes a rank.
 *
 * All ranks must read the same parameters in the same order, and use the same ones, since each opening is a collective
 * between those of the gradients: after mt_zero3_whole one rank may read alone. Reading cannot return a failure: the
 * parameters are undefined then, and mt_zero3_status says it. Copies of parameters in 16 bits are released with the
 * bucket; those that backward will read stay until then. */
#pragma once

#include "dist/ddp.h"

MT_C_BEGIN

typedef struct mt_zero3 mt_zero3; /* opaque */

/* mt_zero3_new -- param and place (where each parameter begins in the flat order) are borrowed; when it is called, all
 * ranks must have the same values. Frees the memory that the parameters had. */
mt_zero3 *mt_zero3_new(mt_comm *comm, const mt_ddp *ddp, mt_tensor *const *param, const int64_t *place);
void mt_zero3_free(mt_zero3 *z); /* NULL is allowed; parameters have memory only if mt_zero3_whole was called last */

/* mt_zero3_part -- elements first .. first + n - 1 of this rank's part of a bucket, over its memory; the caller's. What
 * an optimizer updates, while all buckets are closed. */
mt_tensor *mt_zero3_part(const mt_zero3 *z, int64_t bucket, int64_t first, int64_t n);

/* mt_zero3_whole -- collective: opens all buckets, which stay open until mt_zero3_close.   Lab 13.19 */
mt_status mt_zero3_whole(mt_zero3 *z);
void mt_zero3_close(mt_zero3 *z); /* closes all buckets */

/* mt_zero3_read -- a parameter is about to be read: opens its bucket, closes others. What mt_storage_data calls, with
 * the memory of the bucket.   Lab 13.20 */
void mt_zero3_read(mt_storage *memory);
void mt_zero3_keep(mt_zero3 *z); /* takes this rank's parts from parameters that are open, and closes them */

mt_status mt_zero3_status(const mt_zero3 *z); /* of the first collective that failed */

MT_C_END
