/* parts.h -- a GPT-2 that is divided among ranks: its blocks among the stages of a pipeline (parallel/pipe.h), the
 * matrices of each block and the token table among the ranks of a stage (parallel/tensor_parallel.h), and what is
 * between the products by tokens, if they are (parallel/sequence_parallel.h).
 *
 * Part s of the model, 0 <= s < stages * chunks, has some neighbouring blocks; the first part also both embeddings, the
 * last one the last layernorm and the head, which is the token table once more. A stage has `chunks` parts
 * (mt_pipe_schedule). */
#pragma once

#include "parallel/pipe.h"
#include "parallel/sequence_parallel.h"
#include "models/gpt2.h"

MT_C_BEGIN

typedef struct mt_gpt2_parts_config {
    int stage, stages, chunks; /* 0, 1 and 1: no pipeline */
    mt_comm *tensor;           /* the ranks of this stage, borrowed */
    bool whole_table;          /* each of them has all of the token table, and the same gradients of it */
    bool sequence; /* each has its part of the tokens outside the products, and with whole_table in the head */
} mt_gpt2_parts_config;

typedef struct mt_gpt2_parts mt_gpt2_parts; /* those of one rank */

/* mt_gpt2_parts_check -- MT_ERR_ARGUMENT: fewer layers than parts, or heads that the ranks of a stage do not divide. */
mt_status mt_gpt2_parts_check(const mt_gpt2_config *config, int parts, int ranks);

/* mt_gpt2_divide -- only the parameters of this rank stay in the model, with their names; parts without parameters are
 * empty modules. The largest work of a stage is as small as possible. Borrows the model, on the CPU.
 * Fails, with the model unchanged: as mt_gpt2_parts_check. */
mt_status mt_gpt2_divide(mt_gpt2_parts **out, mt_module *model, const mt_gpt2_parts_config *config);
void mt_gpt2_parts_free(mt_gpt2_parts *parts); /* after the last forward; NULL is allowed */

/* mt_gpt2_parts_forward -- one chunk of this rank. x [B,T,C]: what the part before gives; the first part reads ids
 * instead, i32 [B,T]. The last part gives the mean loss [] of targets i32 [B,T], the others [B,T,C]. Several ranks of a
 * stage have the same result; but with `sequence` what parts pass on is [B T / size,C], the tokens of a rank. Aborts if
 * size does not divide B T.
 * mt_gpt2_parts_sum -- after backward, collective: with `sequence`, gradients of what all ranks of a stage have become
 * the sums over their tokens; else nothing.
 * mt_gpt2_parts_status -- MT_OK, or the first failure between them: results are undefined then. */
mt_tensor *mt_gpt2_parts_forward(mt_gpt2_parts *parts, int chunk, mt_tensor *x, mt_tensor *ids, mt_tensor *targets);
void mt_gpt2_parts_sum(mt_gpt2_parts *parts);
mt_status mt_gpt2_parts_status(const mt_gpt2_parts *parts);

/* mt_gpt2_parts_tied -- the token table, if this rank has the first or the last one of several parts; else NULL.
 * Lent. */
mt_tensor *mt_gpt2_parts_tied(const mt_gpt2_parts *parts);

/* mt_gpt2_parts_copy -- copies f32 values that belong to a parameter (itself, its gradient, a moment) between all of
 * them, `whole` [n], and the part of rank `tensor` of a stage: to whole, or from it. name: the parameter's, or that
 * followed by '/' and more. Returns the elements of that part; part NULL: only that.
 * mt_gpt2_parts_divides -- whether the ranks of a stage have different values of it. */
int64_t mt_gpt2_parts_copy(const mt_gpt2_parts *parts, const char *name, float *whole, int64_t n, float *part,
                           int tensor, bool to_whole);
bool mt_gpt2_parts_divides(const mt_gpt2_parts *parts, const char *name);

MT_C_END
