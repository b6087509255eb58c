/* test_offload_cuda.c -- activations in pinned memory of the host while the device computes: the bits of a step without
 * it, exact bytes; in traced builds no race between the stream of copies and that of kernels. With MT_BUS_DEAF=1 in the
 * environment nothing waits for a copy: the emulator must report that (test_cuda_traced.sh). */
#include "autograd/tape.h"
#include "core/scope.h"
#include "fused/fused.h"
#include "memory/caching.h"
#include "memory/offload.h"
#include "models/gpt2.h"
#include "models/kernels_gpt2.h"
#include "must.h"
#include "testing/compare.h"

#include <stdlib.h>
#include <string.h>

TestSuite(offload_cuda, .init = mt_fused_use);

enum { B = 2, T = 8, C = 16, HEADS = 2, TOKENS = 11, LAYERS = 4, MOST = 40000 };

typedef struct results {
    float value[MOST];
    int64_t count, kept;
} results;

static void keep(results *r, const mt_tensor *t)
{
    cr_assert(t && r->count + mt_numel(t) <= MOST);
    mt_copy(r->value + r->count, MT_CPU, mt_f32(t), MT_CUDA, mt_numel(t) * (int64_t)sizeof *r->value);
    r->count += mt_numel(t);
}

static void step(results *r, mt_module *model)
{
    int32_t ids[B * T + 1];
    for (int i = 0; i <= B * T; i++)
        ids[i] = i * i % TOKENS;
    *r = (results){ 0 };
    mt_scope_begin();
    mt_tensor *x = mt_from(MT_SHAPE(B, T), MT_I32, ids), *y = mt_from(MT_SHAPE(B, T), MT_I32, ids + 1);
    x = mt_to_device(x, MT_CUDA);
    y = mt_to_device(y, MT_CUDA);
    int64_t before = mt_live_bytes(MT_CUDA);
    mt_tensor *loss = mt_gpt2_loss(model, x, y);
    r->kept = mt_live_bytes(MT_CUDA) - before;
    mt_backward(loss);
    keep(r, loss);
    mt_state params = mt_module_params(model);
    for (int64_t p = 0; p < params.count; p++) {
        keep(r, params.item[p].tensor->grad);
        mt_zero_grad(params.item[p].tensor);
    }
    mt_state_free(&params);
    mt_scope_end();
}

static void train(results *r, mt_bus *bus)
{
    static const bool chosen[LAYERS] = { true, true, true, false };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ TOKENS, 16, T, LAYERS, HEADS, C }, &rng);
    mt_module_to_device(model, MT_CUDA);
    mt_offload *o = bus ? mt_offload_new(bus, model->child[MT_GPT2_H]->child, chosen, LAYERS) : NULL;
    for (int n = 0; n < 2; n++)
        step(r, model);
    mt_offload_free(o);
    mt_module_free(model);
    cr_expect_eq(mt_live_bytes(MT_CUDA), 0);
}

static void wait_for_nothing(mt_bus *bus, int64_t mark)
{
    (void)bus, (void)mark;
}

/* From a pool, freed memory is used again at once. */
Test(offload_cuda, bits_and_bytes, .timeout = 120)
{
    static results want, got;
    mt_bus *bus;
    must(mt_device_open(MT_CUDA) == MT_OK ? NULL : mt_last_error());
    mt_caching_begin(MT_CUDA);
    train(&want, NULL);
    cr_assert_eq(mt_bus_open(&bus, MT_CUDA), MT_OK, "%s", mt_last_error());
    mt_bus_kind deaf = *bus->kind;
    const char *set = getenv("MT_BUS_DEAF");
    if (set && set[0] == '1')
        deaf.wait = wait_for_nothing, bus->kind = &deaf;
    train(&got, bus);
    must(mt_compare_bits("offloaded", got.value, want.value, want.count));
    const int64_t layer = 4 * (B * T * (16 * C + 4) + mt_gpt2_kernels(MT_CUDA)->attention_saved(B, T, HEADS));
    cr_expect_eq(want.kept - got.kept, 3 * layer, "%d bytes less", (int)(want.kept - got.kept));
    cr_expect_eq(bus->out, 2 * 3 * layer, "%d bytes", (int)bus->out);
    cr_expect_eq(bus->in, 2 * 3 * layer, "%d bytes", (int)bus->in);
    mt_bus_free(bus);
    mt_caching_end(MT_CUDA);
}
