/* calls_08_model.c -- how the worker reaches the block, the model and the training step of lab 08. */
#include "autograd/tape.h"
#include "core/scope.h"
#include "models/gpt2.h"
#include "ops/ops.h"
#include "models/step.h"
#include "worker/calls_08.h"

#include <string.h>

/* A parameter array in the order of mt_module_params, into or out of a module: its values, or its gradients. */
static void copy_params(const mt_module *module, float *to, const float *from)
{
    mt_state params = mt_module_params(module);
    for (int64_t i = 0; i < params.count; i++) {
        mt_tensor *t = params.item[i].tensor;
        size_t bytes = (size_t)mt_numel(t) * sizeof(float);
        if (from) {
            memcpy(mt_f32(t), from, bytes);
            from += mt_numel(t);
        } else {
            memset(to, 0, bytes);
            if (t->grad)
                memcpy(to, mt_f32(t->grad), bytes);
            to += mt_numel(t);
        }
    }
    mt_state_free(&params);
}

static void copy_out(const mg_value *to, mt_tensor *from)
{
    MT_CHECK(mt_numel(from) == to->count, "the result has %lld elements, not %lld", (long long)mt_numel(from),
             (long long)to->count);
    memcpy(to->f32, mt_f32(mt_contiguous(from)), (size_t)to->count * sizeof(float));
}

void mg_call_gpt2_block(const mg_value *v)
{
    mt_shape shape = MT_SHAPE(N(B), N(T), N(C));
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ 1, 1, N(T), 1, N(H), N(C) }, &rng);
    mt_module *block = model->child[MT_GPT2_H]->child[0];
    copy_params(block, NULL, F(params));
    mt_scope_begin();
    mt_tensor *x = mt_from(shape, MT_F32, F(x));
    x->requires_grad = true;
    mt_tensor *out = mt_gpt2_block_forward(block, x);
    copy_out(ARRAY(out), out);
    if (out->node)
        mt_backward(mt_sum(mt_mul(out, mt_from(shape, MT_F32, F(dout)))));
    memset(F(dx), 0, (size_t)ARRAY(dx)->count * sizeof(float));
    if (x->grad)
        memcpy(F(dx), mt_f32(x->grad), (size_t)ARRAY(dx)->count * sizeof(float));
    copy_params(block, F(dparams), NULL);
    mt_scope_end();
    mt_module_free(model);
}

/* The gradients of a loss, in the order of copy_params. */
static void gradients_of(float *to, const mt_module *model, mt_tensor *loss)
{
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count; i++)
        mt_zero_grad(params.item[i].tensor);
    mt_state_free(&params);
    if (loss->node)
        mt_backward(loss);
    copy_params(model, to, NULL);
}

/* hidden [B,T,C], logits [B,T,V], loss [1], dparams of the loss and of the same through the logits [P]; ids, targets
 * [B,T], params [P]; V, rows, layers, H, C, B, block. Another model, with an id and a head more, is used first. */
void mg_call_gpt2_model(const mg_value *v)
{
    mt_shape shape = MT_SHAPE(N(B), ARRAY(ids)->count / mt_max(N(B), 1));
    const mt_gpt2_config config = { N(vocabulary), N(rows), N(block), N(layers), N(heads), N(width) };
    const mt_gpt2_config larger = { N(vocabulary) + 1, N(rows), shape.dim[1] + 1, 1, N(heads) + 1, N(width) * 6 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *other = mt_gpt2_new(&larger, &rng), *model = mt_gpt2_new(&config, &rng);
    copy_params(model, NULL, F(params));
    mt_scope_begin();
    mt_tensor *ids = mt_from(shape, MT_I32, I32(ids)), *targets = mt_from(shape, MT_I32, I32(targets));
    mt_no_grad_begin();
    mt_gpt2_logits(other, ids);
    mt_gpt2_loss(other, ids, targets);
    copy_out(ARRAY(hidden), mt_gpt2_forward(model, ids));
    copy_out(ARRAY(logits), mt_gpt2_logits(model, ids));
    mt_no_grad_end();
    mt_tensor *loss = mt_gpt2_loss(model, ids, targets);
    F(loss)[0] = (float)mt_item(loss);
    gradients_of(F(dparams), model, loss);
    int64_t N = mt_numel(ids);
    mt_tensor *logits = mt_reshape(mt_gpt2_logits(model, ids), MT_SHAPE(N, config.vocabulary));
    gradients_of(F(dparams through the logits), model, mt_cross_entropy(logits, mt_reshape(targets, MT_SHAPE(N))));
    mt_scope_end();
    mt_module_free(model);
    mt_module_free(other);
}

/* ---- training: a linear layer fits numbers ---------------------------------------------------------------- */

static mt_tensor *squares(mt_module *model, mt_tensor *x, mt_tensor *y)
{
    mt_tensor *apart = mt_sub(mt_forward(model, x), y);
    return mt_mean(mt_mul(apart, apart));
}

typedef struct batches {
    const float *x, *y;  /* of the next batch: [rows,D], [rows,1] */
    const int64_t *rows; /* [count] */
    int64_t next, count, D;
} batches;

static bool next_batch(void *source, mt_batch *batch)
{
    batches *b = source;
    if (b->next == b->count)
        return false;
    int64_t rows = b->rows[b->next++];
    *batch = (mt_batch){ .x = mt_from(MT_SHAPE(rows, b->D), MT_F32, b->x),
                         .y = mt_from(MT_SHAPE(rows, 1), MT_F32, b->y),
                         .count = rows };
    b->x += rows * b->D;
    b->y += rows;
    return true;
}

/* Each of several micro-batches counts by its number of rows. */
static bool several(mt_step_result *sum, const mt_training *t)
{
    const batches *b = t->source;
    int64_t first = b->next, all = 0;
    for (int64_t m = 0; m < t->micro; m++)
        all += first + m < b->count ? b->rows[first + m] : 0;
    for (int64_t m = 0; m < t->micro; m++)
        if (b->next == b->count || !mt_train_batch(sum, t, (float)((double)b->rows[b->next] / (double)all)))
            return false;
    return true;
}

/* params [steps,D+1]: after each step; loss, samples, more [steps], kept [1], rate [steps]: of the optimizer after each
 * step; x [all rows,D], y [all rows], first [D+1], rows [batches]; lr, clip, momentum, decay, warmup, number of the
 * first step, what *result holds before, micro, period: of a triangular schedule from 0, or 0: a constant one.
 * Gradients are 1 at first. Before each step the rate is 1, or 0 where the schedule begins with 0. */
void mg_call_train_step(const mg_value *v)
{
    int64_t steps = ARRAY(loss)->count, D = ARRAY(first)->count - 1;
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_linear_layer(D, 1, &rng);
    mt_hyper hyper = { .lr = 1, .momentum = S(momentum), .weight_decay = S(weight decay) };
    mt_optim *optim = mt_optim_new(hyper.momentum > 0 ? MT_MOMENTUM : MT_SGD, hyper);
    copy_params(model, NULL, F(first));
    mt_optim_add(optim, "weight", model->param[0]);
    mt_optim_add(optim, "bias", model->param[1]);
    batches data = { F(x), F(y), I64(rows), 0, ARRAY(rows)->count, D };
    mt_training t = { .model = model, .optim = optim, .loss = squares, .next = next_batch, .source = &data };
    t.micro = N(micro);
    t.gradients = t.micro > 1 ? several : NULL;
    t.schedule = (mt_schedule){ N(period) ? MT_SCHEDULE_TRIANGULAR : MT_SCHEDULE_CONSTANT, .lr = S(lr),
                                .period = N(period), .warmup = N(warmup) };
    t.clip = S(clip);
    int64_t live = 0;
    mt_scope_begin();
    mt_backward(mt_add(mt_sum(model->param[0]), mt_sum(model->param[1])));
    mt_scope_end();
    for (int64_t s = 0; s < steps; s++) {
        mt_step_result result = { (double)N(result before), N(result before) };
        mt_optim_set_lr(optim, N(period) ? 0 : 1);
        I64(more)[s] = mt_train_step(&result, &t, N(first step) + s);
        F(rate)[s] = (float)mt_optim_lr(optim);
        F(loss)[s] = (float)result.loss;
        I64(samples)[s] = result.samples;
        memcpy(F(params) + s * (D + 1), mt_f32(model->param[0]), (size_t)D * sizeof(float));
        F(params)[s * (D + 1) + D] = mt_f32(model->param[1])[0];
        live = s == 0 ? mt_live_bytes(MT_CPU) : live;
    }
    I64(kept)[0] = mt_live_bytes(MT_CPU) - live;
    mt_optim_free(optim);
    mt_module_free(model);
}

void mg_call_train_batch(const mg_value *v)
{
    int64_t D = ARRAY(first)->count - 1;
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_linear_layer(D, 1, &rng);
    copy_params(model, NULL, F(first));
    batches data = { F(x), F(y), I64(rows), 0, ARRAY(rows)->count, D };
    mt_optim *optim = mt_optim_new(MT_SGD, (mt_hyper){ .lr = 1 });
    mt_training t = {
        .model = model, .optim = optim, .loss = squares, .next = next_batch, .source = &data, .micro = 1
    };
    mt_step_result sum = { 0 };
    I64(samples, batches)[1] = 0;
    while (mt_train_batch(&sum, &t, (float)S(share)))
        I64(samples, batches)[1]++;
    I64(samples, batches)[0] = sum.samples;
    F(loss)[0] = (float)sum.loss;
    copy_params(model, F(gradients), NULL);
    mt_optim_free(optim);
    mt_module_free(model);
}
