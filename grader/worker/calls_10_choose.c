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

void mg_call_choose(const mg_value *v)
{
    int64_t L = ARRAY(options)->count, N = ARRAY(budgets)->count, bytes = ARRAY(message)->count / N;
    mt_memory_block *blocks = blocks_of(ARRAY(options), ARRAY(kept, work, flops));
    int *option = calloc((size_t)L + 1, sizeof *option);
    for (int64_t n = 0; n < N; n++) {
        mt_memory_choice choice = { -1, -1, -1 };
        for (int64_t i = 0; i < L; i++)
            option[i] = -1;
        I64(status)[n] = mt_memory_choose(&choice, option, blocks, L, I64(budgets)[n]);
        I64(choice)[3 * n] = choice.peak;
        I64(choice)[3 * n + 1] = choice.kept;
        I64(choice)[3 * n + 2] = choice.flops;
        for (int64_t i = 0; i < L; i++)
            I64(option)[n * L + i] = option[i];
        snprintf((char *)U8(message) + n * bytes, (size_t)bytes, "%s", I64(status)[n] == MT_OK ? "" : mt_last_error());
    }
    free(option);
    free(blocks);
}

void mg_call_least(const mg_value *v)
{
    mt_memory_block *blocks = blocks_of(ARRAY(options), ARRAY(kept, work, flops));
    I64(least)[0] = mt_memory_least(blocks, ARRAY(options)->count);
    free(blocks);
}
