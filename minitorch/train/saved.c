/* saved.c -- see saved.h. A model is made of the sizes in the manifest; then its weights are loaded. */
#include "train/saved.h"

#include "ckpt/checkpoint.h"
#include "models/classifier.h"
#include "models/gpt2.h"
#include "models/mlp.h"

/* The integers of `sizes`, of a checkpoint of this program. Frees the list. */
static mt_status load_sizes(mt_state *sizes, const char *dir, int64_t step, const char *program)
{
    const mt_state none = { 0 };
    mt_state_setting(sizes, "program", "%s", program);
    mt_status status = mt_checkpoint_load(dir, step, sizes, &none);
    mt_state_free(sizes);
    return status;
}

static mt_status load_weights(mt_module **out, mt_module *model, const char *dir, int64_t step)
{
    char decay[32];
    mt_state params = mt_module_params(model), averages = { 0 };
    /* A run with moving averages evaluates these (train/ema.h). */
    if (mt_checkpoint_text(decay, sizeof decay, dir, step, "ema") == MT_OK) {
        for (const mt_state_item *p = params.item; p < params.item + params.count; p++)
            mt_state_tensor(&averages, p->tensor, "%s/ema", p->name);
        mt_state_free(&params);
    }
    mt_status status = mt_checkpoint_load(dir, step, &params, &averages);
    mt_state_free(&params);
    mt_state_free(&averages);
    if (status == MT_OK)
        *out = model;
    else
        mt_module_free(model);
    return status;
}

mt_status mt_saved_gpt2(mt_module **out, const char *dir, int64_t step)
{
    mt_gpt2_config config = { 0 };
    mt_state sizes = { 0 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_gpt2_state(&sizes, &config);
    MT_TRY(load_sizes(&sizes, dir, step, "train_gpt2"));
    MT_TRY(mt_gpt2_check(&config));
    return load_weights(out, mt_gpt2_new(&config, &rng), dir, step);
}

mt_status mt_saved_mlp(mt_module **out, const char *dir, int64_t step)
{
    int64_t width[MT_MLP_MOST + 1], layers;
    mt_state sizes = { 0 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_mlp_state(&sizes, width, &layers);
    MT_TRY(load_sizes(&sizes, dir, step, "train_mnist"));
    bool good = layers >= 1 && layers <= MT_MLP_MOST && width[layers] == MT_CLASSES;
    for (int64_t l = 0; good && l <= layers; l++)
        good = width[l] >= 1 && width[l] <= 1 << 20;
    if (!good)
        return mt_fail(MT_ERR_FORMAT, "%s/step-%d: there is no such perceptron", dir, (int)step);
    return load_weights(out, mt_mlp_new(width, (int)layers, &rng), dir, step);
}
