/* mlp.c -- the perceptron as a sequence of modules. */
#include "models/mlp.h"

#include "ops/ops.h"

#include <inttypes.h>
#include <stdio.h>

static void append(mt_module *sequence, mt_module *layer)
{
    char name[16];
    snprintf(name, sizeof name, "%d", sequence->children);
    mt_module_child(sequence, name, layer);
}

mt_module *mt_mlp_new(const int64_t *width, int layers, mt_rng *rng)
{
    MT_CHECK(layers >= 1, "mlp: %d layers; there must be at least one", layers);
    for (int l = 0; l <= layers; l++)
        MT_CHECK(width[l] >= 1, "mlp: width[%d] is %" PRId64 "; it must be at least 1", l, width[l]);
    mt_module *model = mt_sequential(0);
    for (int l = 0; l < layers; l++) {
        append(model, mt_linear_layer(width[l], width[l + 1], rng));
        if (l < layers - 1)
            append(model, mt_function_layer(mt_relu));
    }
    return model;
}

int64_t mt_mlp_flops(const int64_t *width, int layers)
{
    int64_t flops = 0;
    for (int l = 0; l < layers; l++)
        flops += (l == 0 ? 4 : 6) * width[l] * width[l + 1];
    return flops;
}
