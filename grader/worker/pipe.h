/* pipe.h -- the numbers by which worker and checker know a pipeline. They follow those of worker/ranks.h.
 *
 * Each rank has one array of floats: the weights of all parts, part s [width s, width s + 1]; the table
 * [width 0, width 0]; the samples [micro, rows, width 0]. After the run gradients are in the place of the weights of
 * its own parts, and in that of the table, if it has a part that uses it. */
#pragma once

#include "worker/ranks.h"

enum {
    MG_PIPE_OPS = 384 /* of a rank, at most */,
    MG_PIPE_PARTS = 8,
    MG_PIPE_WORK = 64 /* micro-batches times chunks, at most */
};

enum {
    MG_PIPE_KIND = MG_CALL_NUMBERS,
    MG_PIPE_MICRO,
    MG_PIPE_CHUNKS,
    MG_PIPE_ROWS,
    MG_PIPE_TIED,  /* the first and the last part use the table */
    MG_PIPE_STEPS, /* 0: the pipeline is made, and freed */
    MG_PIPE_WIDTH, /* and those of the other parts */
    MG_PIPE_NUMBERS = MG_PIPE_WIDTH + MG_PIPE_PARTS + 1,
};

/* The outputs of each rank. */
enum {
    MG_PIPE_LOSS,  /* the bits of the double */
    MG_PIPE_MADE,  /* *out of mt_pipe_new was written */
    MG_PIPE_AGAIN, /* after a failed step: what another one returns */
    MG_PIPE_SAID_MESSAGES,
    MG_PIPE_SAID_BYTES,
    MG_PIPE_FREED, /* 1 + the row of a message whose buffer was freed before it was waited for; 0: none */
    MG_PIPE_LEFT,  /* bytes of tensors that all ranks together have not freed */
    MG_PIPE_RESULTS,
};
