/* embedding.c -- a row for each token plus a row for its position, forward and backward. Tokens repeat, so backward
 * adds several rows of dout to one row: threads split columns, never the occurrences of a token. */
#include "models/kernels_gpt2.h"

#include <inttypes.h>

enum { THREADS_FROM = 1 << 15, COLUMNS = 64 }; /* elements from which threads pay off; columns that one thread adds */

void mt_embedding_fwd_cpu(float *out, const int32_t *id, const float *wte, const float *wpe, int64_t B, int64_t T,
                          int64_t V, int64_t C)
{
    for (int64_t n = 0; n < B * T; n++)
        MT_CHECK(id[n] >= 0 && id[n] < V, "embedding: id[%" PRId64 "] is %" PRId32 ", but the tokens are 0 .. %" PRId64,
                 n, id[n], V - 1);
#pragma omp parallel for if (B * T * C >= THREADS_FROM)
    for (int64_t n = 0; n < B * T; n++) {
        /* TODO 08.4: Row n: the token's row of wte plus the row of wpe of its position.
         * Hint: there are T rows a sample: which position has row n in its sample? */
        MT_TODO("08.4"); /* delete this line when yours stands here */
    }
}

void mt_embedding_bwd_cpu(float *dwte, float *dwpe, const float *dout, const int32_t *id, int64_t B, int64_t T,
                          int64_t C)
{
#pragma omp parallel for if (B * T * C >= THREADS_FROM)
    for (int64_t begin = 0; begin < C; begin += COLUMNS) {
        int64_t end = mt_min(begin + COLUMNS, C);
        for (int64_t n = 0; n < B * T; n++) {
            /* TODO 08.4: What row n adds to the rows of its token and of its position, columns begin to end - 1.
             * Hint: add, do not assign: the same token occurs again. Either gradient may be NULL. */
            MT_TODO("08.4"); /* delete this line when yours stands here */
        }
    }
}
