/* gpt2.c -- GPT-2: its sizes, its modules and their first weights. What they compute: unit model.c of lab 08. */
#include "models/gpt2.h"
#include "models/gpt2_ops.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sizes -------------------------------------------------------------------------------------------- */

#define GPT2_TOKENS 50257

static const struct {
    const char *name;
    mt_gpt2_config config;
} sizes[] = {
    { "toy", { GPT2_TOKENS, 0, 64, 4, 4, 128 } },
    { "gpt2", { GPT2_TOKENS, 0, 1024, 12, 12, 768 } },
    { "gpt2-medium", { GPT2_TOKENS, 0, 1024, 24, 16, 1024 } },
    { "gpt2-large", { GPT2_TOKENS, 0, 1024, 36, 20, 1280 } },
    { "gpt2-xl", { GPT2_TOKENS, 0, 1024, 48, 25, 1600 } },
};

const mt_gpt2_config *mt_gpt2_size(const char *name)
{
    for (int64_t i = 0; i < MT_COUNT(sizes); i++)
        if (strcmp(name, sizes[i].name) == 0)
            return &sizes[i].config;
    mt_fail(MT_ERR_ARGUMENT, "there is no size \"%s\": use toy, gpt2, gpt2-medium, gpt2-large or gpt2-xl", name);
    return NULL;
}

mt_status mt_gpt2_fill(mt_gpt2_config *config, const char *name)
{
    const mt_gpt2_config *size = mt_gpt2_size(name);
    if (!size)
        return MT_ERR_ARGUMENT;
    config->layers = config->layers ? config->layers : size->layers;
    config->heads = config->heads ? config->heads : size->heads;
    config->width = config->width ? config->width : size->width;
    config->block = config->block ? config->block : size->block;
    return MT_OK;
}

mt_status mt_gpt2_check(const mt_gpt2_config *c)
{
    enum { MOST = 1 << 24 };
    const int64_t sizes_of[] = { c->vocabulary, c->block, c->layers, c->heads, c->width };
    static const char *const names[] = { "the vocabulary", "the context", "layers", "heads", "the width" };
    for (int64_t i = 0; i < MT_COUNT(sizes_of); i++)
        if (sizes_of[i] < 1 || sizes_of[i] > MOST)
            return mt_fail(MT_ERR_ARGUMENT, "GPT-2: %s must be from 1 to %d, not %" PRId64, names[i], MOST,
                           sizes_of[i]);
    if (c->width % c->heads != 0)
        return mt_fail(MT_ERR_ARGUMENT, "GPT-2: %" PRId64 " heads cannot share a width of %" PRId64, c->heads,
                       c->width);
    if (c->rows != 0 && (c->rows < c->vocabulary || c->rows > MOST))
        return mt_fail(MT_ERR_ARGUMENT, "GPT-2: a table of %" PRId64 " rows for %" PRId64 " tokens", c->rows,
                       c->vocabulary);
    return MT_OK;
}

void mt_gpt2_state(mt_state *state, mt_gpt2_config *c)
{
    mt_state_integer(state, &c->vocabulary, "vocabulary");
    mt_state_integer(state, &c->rows, "vocabulary rows");
    mt_state_integer(state, &c->block, "block");
    mt_state_integer(state, &c->layers, "layers");
    mt_state_integer(state, &c->heads, "heads");
    mt_state_integer(state, &c->width, "width");
}

/* ---- modules ------------------------------------------------------------------------------------------ */

/* A linear layer with GPT-2's weights. */
static mt_module *projection(int64_t inputs, int64_t outputs, float deviation, mt_rng *rng)
{
    mt_module *m = mt_linear_layer(inputs, outputs, rng);
    mt_rng_fill_normal(rng, mt_f32(m->param[0]), mt_numel(m->param[0]), 0, deviation);
    return m;
}

static const mt_module_class attention_class = { "attention", mt_gpt2_attention_forward };
static const mt_module_class mlp_class = { "mlp", mt_gpt2_mlp_forward };
static const mt_module_class block_class = { "block", mt_gpt2_block_forward };
static const mt_module_class gpt2_class = { "gpt2", mt_gpt2_forward };

#define DEVIATION 0.02f

static mt_module *block_new(const mt_gpt2_config *c, mt_rng *rng)
{
    float writer = DEVIATION / sqrtf(2 * (float)c->layers);
    mt_module *attn = mt_module_new(&attention_class), *mlp = mt_module_new(&mlp_class);
    attn->size = c->heads;
    mt_module_child(attn, "c_attn", projection(c->width, 3 * c->width, DEVIATION, rng));
    mt_module_child(attn, "c_proj", projection(c->width, c->width, writer, rng));
    mt_module_child(mlp, "c_fc", projection(c->width, 4 * c->width, DEVIATION, rng));
    mt_module_child(mlp, "c_proj", projection(4 * c->width, c->width, writer, rng));
    mt_module *block = mt_module_new(&block_class);
    mt_module_child(block, "ln_1", mt_layernorm_layer(c->width));
    mt_module_child(block, "attn", attn);
    mt_module_child(block, "ln_2", mt_layernorm_layer(c->width));
    mt_module_child(block, "mlp", mlp);
    return block;
}

static mt_module *table(int64_t rows, int64_t columns, mt_rng *rng)
{
    mt_module *m = mt_table_layer(rows, columns, rng);
    mt_rng_fill_normal(rng, mt_f32(m->param[0]), rows * columns, 0, DEVIATION);
    return m;
}

mt_module *mt_gpt2_new(const mt_gpt2_config *config, mt_rng *rng)
{
    MT_CHECK(mt_gpt2_check(config) == MT_OK, "%s", mt_last_error());
    mt_gpt2_config *c = mt_calloc(1, sizeof *c);
    *c = *config;
    c->rows = c->rows ? c->rows : (c->vocabulary + 63) / 64 * 64;
    mt_module *model = mt_module_new(&gpt2_class), *blocks = mt_sequential(0);
    model->config = c;
    mt_module_child(model, "wte", table(c->rows, c->width, rng));
    mt_module_child(model, "wpe", table(c->block, c->width, rng));
    for (int64_t l = 0; l < c->layers; l++)
        mt_module_child(blocks, NULL, block_new(c, rng));
    mt_module_child(model, "h", blocks);
    mt_module_child(model, "ln_f", mt_layernorm_layer(c->width));
    return model;
}

const mt_gpt2_config *mt_gpt2_config_of(const mt_module *model)
{
    MT_CHECK(model->kind == &gpt2_class, "a %s is not a GPT-2", model->kind->name);
    return model->config;
}
