/* mlp.c -- the perceptron as a sequence of modules. */
#include "models/mlp.h"

#include "ops/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const double mt_mlp_usual_rate[MT_UPDATE_KINDS] = {
    [MT_SGD] = 0.15,   [MT_MOMENTUM] = 0.02, [MT_NESTEROV] = 0.02,  [MT_RMSPROP] = 1e-3, [MT_ADAM] = 1e-3,
    [MT_ADAMW] = 1e-3, [MT_LION] = 1e-4,     [MT_ADAFACTOR] = 0.01, [MT_MUON] = 1e-3,
};

mt_module *mt_mlp_new(const int64_t *width, int layers, mt_rng *rng)
{
    MT_CHECK(layers >= 1, "mlp: %d layers; there must be at least one", layers);
    for (int l = 0; l <= layers; l++)
        MT_CHECK(width[l] >= 1, "mlp: width[%d] is %" PRId64 "; it must be at least 1", l, width[l]);
    mt_module *model = mt_sequential(0);
    for (int l = 0; l < layers; l++) {
        mt_module_child(model, NULL, mt_linear_layer(width[l], width[l + 1], rng));
        if (l < layers - 1)
            mt_module_child(model, NULL, mt_function_layer(mt_relu));
    }
    return model;
}

void mt_mlp_state(mt_state *state, int64_t *width, int64_t *layers)
{
    mt_state_integer(state, layers, "layers");
    for (int l = 0; l <= MT_MLP_MOST; l++)
        mt_state_integer(state, &width[l], "width %d", l);
}

mt_status mt_mlp_hidden(const char *text, void *width)
{
    long long first, second = 0;
    int end = 0, fields = sscanf(text, "%lld%n,%lld%n", &first, &end, &second, &end);
    if (fields < 1 || text[end] || first < 1 || first > 65536 || second > 65536 || (fields == 2 && second < 1))
        return mt_fail(MT_ERR_ARGUMENT, "'%.40s' is not one or two widths, such as 256,128", text);
    memcpy(width, (int64_t[]){ first, second }, 2 * sizeof(int64_t));
    return MT_OK;
}

int64_t mt_mlp_flops(const int64_t *width, int layers)
{
    int64_t flops = 0;
    for (int l = 0; l < layers; l++)
        flops += (l == 0 ? 4 : 6) * width[l] * width[l + 1];
    return flops;
}
