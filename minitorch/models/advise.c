/* advise.c -- see cost.h. */
#include "models/cost.h"

#include <inttypes.h>
#include <stdlib.h>

/* The largest batch that a plan takes, 0 if none does; each smaller one fits, too. Its micro-batches keep the windows
 * of a step. */
typedef bool fits(void *user, const mt_gpt2_batch *batch);

static mt_gpt2_batch with(const mt_gpt2_batch *batch, int64_t samples)
{
    mt_gpt2_batch b = *batch;
    b.samples = samples;
    b.micro = mt_ceil_div(batch->micro * batch->samples, samples);
    return b;
}

static int64_t largest(const mt_gpt2_batch *batch, fits *fit, void *user)
{
    int64_t low = 0, high = batch->samples + 1;
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        mt_gpt2_batch b = with(batch, middle);
        *(fit(user, &b) ? &low : &high) = middle;
    }
    return low;
}

typedef struct request {
    const mt_gpt2_config *config;
    const mt_recompute *recompute; /* as it is */
    mt_recompute *chosen;
    int64_t budget;
} request;

static bool fits_as_it_is(void *user, const mt_gpt2_batch *batch)
{
    const request *r = user;
    return mt_gpt2_cost_of(r->config, batch, r->recompute).peak_bytes <= r->budget;
}

static bool fits_if_computed_again(void *user, const mt_gpt2_batch *batch)
{
    const request *r = user;
    return mt_gpt2_choose(r->chosen, r->config, batch, r->budget) == MT_OK;
}

static void put_batch(FILE *out, const mt_gpt2_batch *batch, int64_t samples)
{
    if (samples < batch->samples)
        fprintf(out, " --batch %" PRId64 " --micro-batches %" PRId64, samples, with(batch, samples).micro);
}

void mt_gpt2_advise(FILE *out, const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute,
                    int64_t had)
{
    request r = { config, recompute, malloc((size_t)config->layers * sizeof *r.chosen), had / 41 * 40 };
    int64_t plain = largest(batch, fits_as_it_is, &r), again = largest(batch, fits_if_computed_again, &r);
    fprintf(out, "By the plan a step fits into the %.1f MB that there were", (double)had / 1e6);
    if (again == 0) {
        fprintf(out, " with no --batch: use a smaller --block or --size\n");
    } else {
        fprintf(out, " with");
        put_batch(out, batch, again);
        fprintf(out, " --recompute %" PRId64 "kB", r.budget / 1000);
        if (plain > 0) {
            fprintf(out, ", or with");
            put_batch(out, batch, plain);
        }
        fputc('\n', out);
    }
    free(r.chosen);
}
