/* 10-accumulate.c -- how the checks of accumulation run (step 10.1): the gradients of a linear layer that maps rows of
 * D numbers to one number, by the mean of the squares, are those of all samples together, computed in double.
 * Rows: 10-memory.c. */
#include "checks/10-memory.h"
#include "checks/fill.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 300 /* batches */ };

/* The parameters of a call. */
typedef struct request {
    const char *function;
    int64_t D, before, micro, batches; /* `before` of the batches belong to an earlier step */
    int64_t size[MOST], exponent;      /* samples of each; the loss is multiplied by 2^exponent */
    int64_t targets;                   /* of a sample, as the source tells; 0: it tells nothing */
    int64_t had;                       /* samples that *sum has at first, and halves of its loss */
} request;

/* What one call should give: values and bounds. Gradients are of the weights, then of the bias. */
typedef struct expected {
    double *grad, *grad_e, loss, loss_e;
    int64_t samples;
} expected;

static int64_t sum(const int64_t *size, int64_t from, int64_t to)
{
    int64_t all = 0;
    for (int64_t i = from; i < to; i++)
        all += size[i];
    return all;
}

/* The mean over these n samples, and its gradients. Each term passes a product and a sum over D, a sum over samples,
 * the mean, the share and a sum over micro-batches: `terms` bounds the operations behind it. */
static expected of_samples(const request *r, const float *x, const float *y, const float *w, int64_t n)
{
    expected want = { mg_doubles(r->D + 1), mg_doubles(r->D + 1), .samples = n };
    double scale = ldexp(1, (int)r->exponent) / (double)n, rounding = mg_gamma(n + r->micro + 10);
    for (int64_t i = 0; i < n; i++, x += r->D) {
        double apart = (double)w[r->D] - y[i], size = fabs(w[r->D]) + fabs(y[i]);
        for (int64_t d = 0; d < r->D; d++) {
            apart += (double)w[d] * x[d];
            size += fabs((double)w[d] * x[d]);
        }
        double e = mg_gamma(r->D + 3) * size;
        want.loss += apart * apart / (double)n;
        want.loss_e += (2 * fabs(apart) * e + e * e + apart * apart * rounding) / (double)n;
        for (int64_t d = 0; d <= r->D; d++) {
            double by = 2 * scale * (d < r->D ? x[d] : 1);
            want.grad[d] += by * apart;
            want.grad_e[d] += fabs(by) * (e + fabs(apart) * rounding);
        }
    }
    return want;
}

static expected describe(mg_run *run, const request *r)
{
    mt_rng *rng = mg_rng(run);
    int64_t samples = sum(r->size, 0, r->batches), first = sum(r->size, 0, r->before);
    mg_begin(run, r->function);
    mg_out(run, "gradients", MT_F32, MT_SHAPE(r->D + 1));
    mg_out(run, "loss", MT_F32, MT_SHAPE(1));
    mg_out(run, "facts", MT_I64, MT_SHAPE(4));
    float *x = mg_in(run, "x", MT_F32, MT_SHAPE(samples, r->D)), *y = mg_in(run, "y", MT_F32, MT_SHAPE(samples));
    int64_t *size = mg_in(run, "sizes", MT_I64, MT_SHAPE(r->batches));
    float *w = mg_in(run, "first", MT_F32, MT_SHAPE(r->D + 1));
    mg_fill(rng, x, samples * r->D, (mg_dist)NORMAL(0, 1));
    mg_fill(rng, y, samples, (mg_dist)NORMAL(1, 2));
    mg_fill(rng, w, r->D + 1, (mg_dist)NORMAL(0, 1));
    memcpy(size, r->size, (size_t)r->batches * sizeof *size);
    mg_i64(run, "before", r->before);
    mg_i64(run, "micro", r->micro);
    mg_i64(run, "targets", r->targets);
    mg_i64(run, "exponent", r->exponent);
    mg_i64(run, "samples before", r->had);
    mg_f32(run, "loss before", (float)r->had / 2);
    return of_samples(r, x + first * r->D, y + first, w,
                      sum(r->size, r->before, mt_min(r->before + r->micro, r->batches)));
}

static bool judge(mg_run *run, const request *r, const expected *want)
{
    const int64_t *facts = mg_result(run, "facts");
    int64_t left = r->batches - r->before - r->micro;
    if (left >= 0 && facts[2] != left)
        return mg_fail(run, "%lld batches of the source are left after %lld micro-batches, expected %lld",
                       (long long)facts[2], (long long)r->micro, (long long)left);
    if (facts[0] != (left >= 0))
        return mg_fail(run, "the result is %s, and the source had %lld batches for %lld micro-batches",
                       facts[0] ? "true" : "false", (long long)(r->batches - r->before), (long long)r->micro);
    if (left < 0)
        return true;
    if (facts[1] != r->had + want->samples) {
        if (facts[1] == want->samples)
            mg_hint(run, "add to *sum: it may hold batches already");
        return mg_fail(run, "%lld samples, expected %lld and the %lld that *sum had", (long long)facts[1],
                       (long long)want->samples, (long long)r->had);
    }
    return mg_expect(run, "gradients", want->grad, want->grad_e) && mg_expect(run, "loss", &want->loss, &want->loss_e);
}

static bool check(mg_run *run, const request *r)
{
    expected want = describe(run, r);
    bool good = mg_call(run) && judge(run, r, &want);
    free(want.grad);
    free(want.grad_e);
    return good;
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

/* micro batches of n samples. */
static request equal(mg_run *run, int64_t micro, int64_t n)
{
    request r = { "mt_train_accumulate", .D = mg_pick(mg_rng(run), 2, 5), .micro = micro, .batches = micro };
    for (int64_t i = 0; i < r.batches; i++)
        r.size[i] = n;
    return r;
}

/* One, some, or so many that neither an int nor a float holds them. */
static int64_t some_targets(mt_rng *rng)
{
    const int64_t many = (INT64_C(1) << 31) + mg_pick(rng, 1, 1 << 30) * 2 + 1;
    return mg_pick(rng, 0, 2) ? many : mg_pick(rng, 1, 1024);
}

/* Targets for which one of `micro` equal shares differs from 1 / micro when it is rounded twice: as n (1 / (micro n)),
 * and as n / (micro n) of numbers that are rounded to f32 before. */
static int64_t targets_rounded_twice(mt_rng *rng, int64_t micro, int64_t samples)
{
    int64_t targets = some_targets(rng);
    for (int tries = 0; tries < 1000; tries++, targets = some_targets(rng)) {
        float n = (float)(targets * samples), all = (float)(micro * targets * samples), share = 1 / (float)micro;
        if (n * (1 / all) != share && n / all != share)
            break;
    }
    return targets;
}

/* Some batches before, some of them in the step, some after. */
static request any_sizes(mg_run *run)
{
    mt_rng *rng = mg_rng(run);
    request r = equal(run, mg_pick(rng, 2, 6), 0);
    r.before = mg_pick(rng, 0, 4), r.targets = some_targets(rng);
    r.batches = r.before + r.micro + mg_pick(rng, 0, 4);
    for (int64_t i = 0; i < r.batches; i++)
        r.size[i] = mg_pick(rng, 1, 12);
    return r;
}

/* Three batches of which the first and the last have as many samples, and the other has less, or more. */
static request around(mg_run *run, int64_t outer, int64_t inner)
{
    request r = equal(run, 3, outer);
    r.size[1] = inner, r.targets = 1;
    return r;
}

/* Twice the same call; the first makes the gradients with lab 08's unit alone. */
static bool same_bits(mg_run *run, request r)
{
    static const char *const names[] = { "gradients", "loss" };
    const mt_rng start = *mg_rng(run);
    request shares = r;
    double *bits[2];
    shares.function = "mt_train_batch with shares";
    if (!check(run, &shares))
        return false;
    for (int i = 0; i < 2; i++)
        bits[i] = mg_lift(mg_result(run, names[i]), i ? 1 : r.D + 1);
    *mg_rng(run) = start;
    bool good = check(run, &r);
    const float *got[] = { mg_result(run, names[0]), mg_result(run, names[1]) };
    for (int i = 0; i < 2; i++) {
        for (int64_t k = 0; k < (i ? 1 : r.D + 1) && good; k++)
            if (got[i][k] != bits[i][k]) {
                mg_fail(run, "%s[%lld] is %a, with shares of exactly 1 / %lld it is %a", names[i], (long long)k,
                        (double)got[i][k], (long long)r.micro, bits[i][k]);
                good = false;
            }
        free(bits[i]);
    }
    return good;
}

/* The peak of so many equal micro-batches, above what was there before; -1: the run has its verdict. */
static int64_t peak_of(mg_run *run, int64_t micro)
{
    enum { N = 64, D = 48 };
    request r = equal(run, micro, N);
    r.D = D, r.targets = 1;
    int64_t least = N * D * (int64_t)sizeof(float);
    if (!check(run, &r))
        return -1;
    int64_t peak = ((const int64_t *)mg_result(run, "facts"))[3];
    if (peak >= least)
        return peak;
    mg_fail(run, "a peak of %lld bytes, but a batch alone has %lld", (long long)peak, (long long)least);
    return -1;
}

static void memory(mg_run *run)
{
    mg_part(run, "many micro-batches",
            "%d micro-batches: their number has no limit, so no array of a fixed size holds them", MOST);
    int64_t many = peak_of(run, MOST);
    mg_part(run, NULL, NULL);
    int64_t two = many < 0 ? -1 : peak_of(run, 2);
    if (two >= 0 && many > two)
        mg_fail(run, "%d micro-batches take %lld bytes at their peak, two take %lld", MOST, (long long)many,
                (long long)two);
    else if (two >= 0)
        mg_note(run, "%lld bytes at the peak of 2 and of %d micro-batches", (long long)many, MOST);
}

/* The same call twice: what is wrong in the second was kept from the first. */
static bool keeps_nothing(mg_run *run)
{
    const request r = equal(run, 3, 4);
    const mt_rng start = *mg_rng(run);
    bool good = check(run, &r);
    *mg_rng(run) = start;
    mg_part(run, "the same call again",
            "the call before was the same, and was right: keep nothing (a static sum) from call to call");
    return good && check(run, &r);
}

/* Equal batches: those of one micro-batch, and of others whose shares are rounded. */
static void bits(mg_run *run)
{
    static const struct {
        const char *part;
        int64_t micro, samples;
    } equals[] = { { "one micro-batch", 1, 4 }, { NULL, 5, 3 }, { NULL, 5, 6 }, { NULL, 7, 7 } };
    bool good = true;
    for (int i = 0; i < MT_COUNT(equals) && good; i++) {
        request r = equal(run, equals[i].micro, equals[i].samples);
        mg_part(run, equals[i].part, NULL);
        good = same_bits(run, r);
        mg_part(run, "numbers of targets", "the share is 1 / micro, whatever the number of targets, rounded once");
        r.targets = targets_rounded_twice(mg_rng(run), r.micro, r.size[0]);
        good = good && same_bits(run, r);
    }
}

void mg_10_accumulate(mg_run *run, const void *one_case)
{
    enum { ANY, AROUND, AT_ONCE };
    static const mg_idea tries[] = {
        { .times = 7 },
        { "three batches, of which the second is smaller", NULL, AROUND, 1 << ACCUMULATE_ANY },
        { "no batches", "the source may end before the first micro-batch", AT_ONCE, 1 << ACCUMULATE_ENDS, 2 },
    };
    accumulate_about about = ((const accumulate_case *)one_case)->about;
    mt_rng *rng = mg_rng(run);
    if (about == ACCUMULATE_MEMORY || about == ACCUMULATE_BITS) {
        (about == ACCUMULATE_MEMORY ? memory : bits)(run);
        return;
    }
    bool good = about != ACCUMULATE_EQUAL || keeps_nothing(run);
    for (mg_ideas t = { 0 }; good && MG_NEXT(run, &t, tries, about);) {
        request r = equal(run, mg_pick(rng, 2, 6), mg_pick(rng, 2, 9));
        if (about == ACCUMULATE_ANY || about == ACCUMULATE_SCALED)
            r = t.is == AROUND ? around(run, 6, 2) : any_sizes(run);
        if (about == ACCUMULATE_ANY)
            r.had = mg_pick(rng, 1, 99);
        if (about == ACCUMULATE_SCALED)
            r.exponent = mg_pick(rng, -12, 20);
        if (about == ACCUMULATE_ENDS)
            r.targets = mg_pick(rng, 0, 1), r.batches = t.is == AT_ONCE ? 0 : mg_pick(rng, 0, r.micro - 1);
        if (about == ACCUMULATE_LAST) {
            r.targets = some_targets(rng);
            r.size[r.batches - 1] = mg_pick(rng, 1, r.size[0] - 1);
        }
        good = check(run, &r);
    }
}
