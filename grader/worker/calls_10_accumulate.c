/* calls_10_accumulate.c -- how the worker calls accumulation: a linear layer is to map rows of D numbers to one number,
 * by the mean of the squares. */
#include "nn/module.h"
#include "ops/ops.h"
#include "memory/accumulate.h"
#include "worker/calls_10.h"

#include <math.h>
#include <string.h>

typedef struct batches {
    const float *x, *y;           /* [samples,D], [samples] */
    const int64_t *size;          /* [count] samples of each */
    int64_t next, count, D, each; /* targets of a sample */
} batches;

static mt_tensor *squares(mt_module *model, mt_tensor *x, mt_tensor *y)
{
    mt_tensor *apart = mt_sub(mt_forward(model, x), y);
    return mt_mean(mt_mul(apart, apart));
}

static bool next_batch(void *source, mt_batch *batch)
{
    batches *b = source;
    if (b->next == b->count)
        return false;
    int64_t n = b->size[b->next++];
    *batch = (mt_batch){ .x = mt_from(MT_SHAPE(n, b->D), MT_F32, b->x),
                         .y = mt_from(MT_SHAPE(n, 1), MT_F32, b->y),
                         .count = n };
    b->x += n * b->D;
    b->y += n;
    return true;
}

static int64_t targets(void *source, int64_t ahead)
{
    const batches *b = source;
    return b->next + ahead < b->count ? b->each * b->size[b->next + ahead] : 0;
}

/* The values of weight and bias, or their gradients. */
static void copy(mt_module *model, float *grad, const float *value)
{
    for (int i = 0; i < 2; i++) {
        mt_tensor *t = model->param[i];
        size_t bytes = (size_t)mt_numel(t) * sizeof(float);
        if (value) {
            memcpy(mt_f32(t), value, bytes);
            value += mt_numel(t);
        } else {
            memset(grad, 0, bytes);
            if (t->grad)
                memcpy(grad, mt_f32(t->grad), bytes);
            grad += mt_numel(t);
        }
    }
}

/* Around a batch: its loss is multiplied by a power of two. */
static double scale(void *exponent)
{
    return ldexp(1, (int)*(const int64_t *)exponent);
}

typedef bool gradients(mt_step_result *sum, const mt_training *t);

/* gradients [D+1], loss [1], facts [4]: returned, samples, batches left, peak bytes; x [samples,D], y [samples], sizes
 * [batches], first [D+1]; batches before, micro, targets of a sample (0: not given), exponent of the scale; samples and
 * loss that *sum has at first, which the latter of the results is without */
static void call(const mg_value *v, gradients *made)
{
    int64_t D = ARRAY(first)->count - 1;
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_linear_layer(D, 1, &rng);
    mt_optim *optim = mt_optim_new(MT_SGD, (mt_hyper){ .lr = 1 });
    mt_step_result sum = { 0 };
    int64_t exponent = N(exponent);
    copy(model, NULL, F(first));
    mt_optim_add(optim, "weight", model->param[0]);
    mt_optim_add(optim, "bias", model->param[1]);
    batches data = { F(x), F(y), I64(sizes), 0, ARRAY(sizes)->count, D, N(targets) };
    mt_training t = { .model = model,
                      .optim = optim,
                      .loss = squares,
                      .next = next_batch,
                      .targets = N(targets) ? targets : NULL,
                      .source = &data,
                      .micro = N(before),
                      .around = { .begin = scale, .user = &exponent } };
    while (data.next < N(before)) /* these belong to an earlier step */
        mt_train_batch(&sum, &t, 1);
    mt_optim_zero_grad(optim);
    sum = (mt_step_result){ .loss = S(loss before), .samples = N(samples before) };
    t.micro = N(micro);
    int64_t before = mt_live_bytes(MT_CPU);
    mt_peak_reset(MT_CPU);
    bool all = made(&sum, &t);
    memcpy(I64(facts), (int64_t[]){ all, sum.samples, data.count - data.next, mt_peak_bytes(MT_CPU) - before },
           4 * sizeof(int64_t));
    F(loss)[0] = (float)(sum.loss - (double)S(loss before));
    copy(model, F(gradients), NULL);
    mt_optim_free(optim);
    mt_module_free(model);
}

void mg_call_accumulate(const mg_value *v)
{
    call(v, mt_train_accumulate);
}

/* The same from lab 08's unit alone, equal shares. */
static bool equal_shares(mt_step_result *sum, const mt_training *t)
{
    bool more = true;
    for (int64_t m = 0; m < t->micro && more; m++)
        more = mt_train_batch(sum, t, 1 / (float)t->micro);
    return more;
}

void mg_call_shares(const mg_value *v)
{
    call(v, equal_shares);
}
