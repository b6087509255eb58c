/* calls_15.c -- the functions of lab 15 that the worker calls. */
#include "models/cost.h"
#include "worker/calls_15.h"

static void cost(const mg_value *v) /* [3]: parameters, copies, FLOPs; vocabulary, block, layers, heads, width */
{
    const mt_gpt2_config config = { N(1), 0, N(2), N(3), N(4), N(5) };
    mt_gpt2_cost cost = mt_gpt2_cost_of(&config, &(mt_gpt2_batch){ 1, config.block, 1, MT_BF16 }, NULL);
    v[0].i64s[0] = cost.parameters;
    v[0].i64s[1] = cost.copy_bytes;
    v[0].i64s[2] = cost.flops;
}

const mg_function mg_calls_15[] = {
    { "mt_gpt2_cost_of", cost },
    { NULL, NULL },
};
