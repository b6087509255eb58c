/* calls_10_choose.c -- how the worker calls the choice of options. */
#include "memory/choose.h"
#include "worker/calls_10.h"

#include <stdio.h>
#include <stdlib.h>

/* blocks[L] from options [L] and their numbers [L,MT_MEMORY_OPTIONS,3]. */
static mt_memory_block *blocks_of(const mg_value *options, const mg_value *numbers)
{
    mt_memory_block *blocks = calloc((size_t)options->count + 1, sizeof *blocks);
    MT_CHECK(blocks, "out of memory");
    const int64_t *from = numbers->i64s;
    for (int64_t i = 0; i < options->count; i++) {
        blocks[i].options = (int)options->i64s[i];
        for (int k = 0; k < MT_MEMORY_OPTIONS; k++, from += 3)
            blocks[i].option[k] = (mt_memory_option){ from[0], from[1], from[2] };
    }
    return blocks;
}

/* status [N], choice [N,3], option [N,L], message [N,bytes]; options [L], numbers [L,options,3], budgets [N] */
void mg_call_choose(const mg_value *v)
{
    int64_t L = v[4].count, N = v[6].count, bytes = v[3].count / N;
    mt_memory_block *blocks = blocks_of(&v[4], &v[5]);
    int *option = calloc((size_t)L + 1, sizeof *option);
    for (int64_t n = 0; n < N; n++) {
        mt_memory_choice choice = { -1, -1, -1 };
        for (int64_t i = 0; i < L; i++)
            option[i] = -1;
        v[0].i64s[n] = mt_memory_choose(&choice, option, blocks, L, v[6].i64s[n]);
        v[1].i64s[3 * n] = choice.peak;
        v[1].i64s[3 * n + 1] = choice.kept;
        v[1].i64s[3 * n + 2] = choice.flops;
        for (int64_t i = 0; i < L; i++)
            v[2].i64s[n * L + i] = option[i];
        snprintf((char *)v[3].u8 + n * bytes, (size_t)bytes, "%s", v[0].i64s[n] == MT_OK ? "" : mt_last_error());
    }
    free(option);
    free(blocks);
}

void mg_call_least(const mg_value *v) /* least [1]; options [L], numbers [L,options,3] */
{
    mt_memory_block *blocks = blocks_of(&v[1], &v[2]);
    v[0].i64s[0] = mt_memory_least(blocks, v[1].count);
    free(blocks);
}
