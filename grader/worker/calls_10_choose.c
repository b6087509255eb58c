/* calls_10_choose.c -- how the worker calls the choice of options. */
#include "memory/offload.h"
#include "worker/calls_10.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* segments [L] from [L,3]: bytes, FLOPs of forward and of backward. */
static mt_offload_segment *segments_of(const mg_value *numbers)
{
    int64_t L = numbers->count / 3;
    mt_offload_segment *segment = calloc((size_t)mt_max(L, 1), sizeof *segment);
    MT_CHECK(segment, "out of memory");
    for (int64_t s = 0; s < L; s++)
        segment[s] = (mt_offload_segment){ numbers->i64s[3 * s], numbers->i64s[3 * s + 1], numbers->i64s[3 * s + 2] };
    return segment;
}

void mg_call_stall(const mg_value *v)
{
    int64_t L = ARRAY(stall)->count;
    mt_offload_segment *segment = segments_of(ARRAY(bytes, forward, backward));
    for (int64_t s = 0; s < L; s++)
        I64(stall)[s] = mt_offload_stall(segment, L, s, N(rate));
    free(segment);
}

void mg_call_offload_choose(const mg_value *v)
{
    int64_t L = ARRAY(bytes, forward, backward)->count / 3, N = ARRAY(budgets)->count,
            bytes = ARRAY(message)->count / N;
    mt_offload_segment *segment = segments_of(ARRAY(bytes, forward, backward));
    bool *chosen = calloc((size_t)L + 1, sizeof *chosen);
    MT_CHECK(chosen, "out of memory");
    for (int64_t n = 0; n < N; n++) {
        mt_memory_choice choice = { -1, -1, -1 };
        for (int64_t s = 0; s < L; s++)
            chosen[s] = s % 2; /* as they are where a budget is refused */
        I64(status)[n] = mt_offload_choose(&choice, chosen, segment, L, I64(budgets)[n], N(rate));
        memcpy(I64(choice) + 3 * n, (int64_t[]){ choice.peak, choice.kept, choice.flops }, 3 * sizeof(int64_t));
        for (int64_t s = 0; s < L; s++)
            I64(chosen)[n * L + s] = chosen[s];
        snprintf((char *)U8(message) + n * bytes, (size_t)bytes, "%s", I64(status)[n] == MT_OK ? "" : mt_last_error());
    }
    free(chosen);
    free(segment);
}
