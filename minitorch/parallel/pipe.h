/* pipe.h -- pipeline parallelism: the layers of a model are divided into stages, one a rank; a batch is divided into
 * micro-batches, so that the stages work on different ones at the same time.
 * Units: schedule.c, partition.c and pipe.c of solutions/14-model-parallel
 *
 * With p stages, m micro-batches and t seconds for forward and backward of one micro-batch in one stage, a step takes
 * (m + p - 1) t. Each stage computes for m t of it; the rest, (p - 1) / (m + p - 1) of the step, is called the bubble.
 * With `chunks` v, a rank has v stages of 1 / v of the layers each, and the bubble is (p - 1) / (v m + p - 1) of the
 * step.
 * Sources: Huang et al. 2019, arXiv:1811.06965 (GPipe); Narayanan et al. 2019, PipeDream (1F1B); Narayanan et al. 2021,
 * arXiv:2104.04473 (interleaved). */
#pragma once

#include "core/tensor.h"
#include "dist/comm.h"

MT_C_BEGIN

/* ---- the schedule --------------------------------------------------------------------------------- */

typedef enum mt_pipe_kind {
    MT_GPIPE,       /* all forwards, then all backwards: m micro-batches are live */
    MT_1F1B,        /* a backward as soon as there is one: at most stages - stage are live */
    MT_INTERLEAVED, /* 1F1B with several chunks a rank */
} mt_pipe_kind;

/* Part s of the model, 0 <= s < stages * chunks, is chunk s / stages of rank s % stages. */
typedef struct mt_pipe_action {
    bool backward; /* else forward */
    int micro, chunk;
} mt_pipe_action;

/* mt_pipe_schedule -- what a rank does in a step, in order: out [2 * micro * chunks]. Each (micro, chunk) has one
 * forward and later one backward. In each chunk both go through the micro-batches 0, 1, ... micro - 1, so that sums of
 * gradients have the order of one device. Depends on nothing else. micro < stages is allowed: the bubble is then most
 * of the step.
 *   MT_1F1B         min(stages - stage - 1, micro) forwards, then a forward and a backward in turn, then the rest
 *   MT_INTERLEAVED  the same with min(2 (stages - stage - 1) + (chunks - 1) stages, micro chunks) forwards. These go
 *                   through groups of `stages` micro-batches: a group in chunk 0, the same in chunk 1, ..., then the
 *                   next group. Backwards do, too, from the last chunk to the first.
 * Fails (MT_ERR_ARGUMENT, out unchanged): stages, micro or chunks < 1; stage not among stages; several chunks with
 * another kind than MT_INTERLEAVED; MT_INTERLEAVED with micro that stages do not divide. The message names the number
 * that is refused.   Lab 14.6-7 */
mt_status mt_pipe_schedule(mt_pipe_action *out, mt_pipe_kind kind, int stage, int stages, int micro, int chunks);

/* ---- the division of layers -------------------------------------------------------------------------- */

/* mt_pipe_partition -- begin [stages + 1]: stage s has layers begin[s] .. begin[s + 1] - 1, at least one. The largest
 * sum of costs of a stage is as small as possible: all others wait for that stage. cost [layers] >= 0, in any unit;
 * their sum fits an int64_t.
 * Fails (MT_ERR_ARGUMENT, begin unchanged): stages < 1, layers < stages.   Lab 14.8 */
mt_status mt_pipe_partition(int64_t *begin, const int64_t *cost, int64_t layers, int stages);

/* ---- the run ------------------------------------------------------------------------------------------- */

typedef struct mt_pipe_config {
    mt_pipe_kind kind;
    int micro, chunks;
    const mt_shape *shape; /* [stages * chunks - 1] f32: what part s passes on to part s + 1, of one micro-batch */

    /* One chunk of this rank for one micro-batch: x is what the part before passed on, NULL in the first part. The
     * last part returns the mean loss of the micro-batch, one element. Called in the thread that calls mt_pipe_step. */
    mt_tensor *(*forward)(void *user, int chunk, int micro, mt_tensor *x);
    void *user;

    /* A parameter that the first and the last part use (the embedding of a language model): each of these two ranks
     * has a copy, with the same values. Else, and on all other ranks, NULL. */
    mt_tensor *tied;

    mt_device device; /* of all tensors */
} mt_pipe_config;

typedef struct mt_pipe mt_pipe;

/* mt_pipe_new -- collective: rank r of comm is stage r. Copies config; shape is borrowed.
 * Fails, *out unchanged: as mt_pipe_schedule and the communicator; MT_ERR_ARGUMENT: several chunks on one rank, with
 * their number in the message. */
mt_status mt_pipe_new(mt_pipe **out, mt_comm *comm, const mt_pipe_config *config);
void mt_pipe_free(mt_pipe *pipe); /* NULL is allowed */

/* mt_pipe_step -- collective: forward and backward of all micro-batches. Adds to the gradients of this rank's
 * parameters those of the mean loss of all micro-batches: with the bits of one device that takes one micro-batch after
 * the other, but for `tied`, where the sum over both ranks has another order (and the same bits on both, if what is
 * there from earlier steps has). *loss is that mean on the last rank, and 0 on the others. Activations are live from
 * their forward to their backward.
 * Fails: as the communicator, and then in every later call.   Lab 14.9-11 */
mt_status mt_pipe_step(mt_pipe *pipe, double *loss);

/* mt_pipe_traffic -- what this rank has sent in its steps. Given. */
mt_traffic mt_pipe_traffic(const mt_pipe *pipe);

MT_C_END
