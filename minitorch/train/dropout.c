/* dropout.c -- see dropout.h. */
#include "train/dropout.h"

#include "models/gpt2.h"
#include "ops/ops.h"

static mt_tensor *dropped(mt_module *m, mt_tensor *x)
{
    return m->mode == MT_TRAIN ? mt_dropout(x, m->scalar[0], &m->rng) : x;
}

static mt_tensor *before(mt_module *m, mt_tensor *x)
{
    return m->kind->forward(m, dropped(m, x));
}

static mt_tensor *after(mt_module *m, mt_tensor *x)
{
    return dropped(m, m->kind->forward(m, x));
}

/* Number `index` of the model's modules that drop. */
static void add(mt_module *m, mt_tensor *(*run)(mt_module *m, mt_tensor *x), double p, int64_t seed, int64_t index)
{
    mt_rng all = mt_rng_new((uint64_t)seed, MT_STREAM_DROPOUT);
    MT_CHECK(!m->run && m->rng.stream == 0, "dropout: a %s is run by something else", m->kind->name);
    m->run = run;
    m->rng = mt_rng_substream(&all, (uint64_t)index);
    m->scalar[0] = (float)p;
}

void mt_gpt2_dropout(mt_module *model, double p, int64_t seed)
{
    mt_module *h = model->child[MT_GPT2_H];
    if (p == 0)
        return;
    add(h, before, p, seed, 0);
    for (int64_t l = 0; l < h->children; l++) {
        add(h->child[l]->child[MT_GPT2_ATTN], after, p, seed, 1 + 2 * l);
        add(h->child[l]->child[MT_GPT2_MLP], after, p, seed, 2 + 2 * l);
    }
}

void mt_mlp_dropout(mt_module *model, double p, int64_t seed)
{
    for (int64_t i = 1; i < model->children && p > 0; i += 2) /* between the linear layers */
        add(model->child[i], after, p, seed, i);
}
