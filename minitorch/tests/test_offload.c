/* test_offload.c -- activations that wait on the host: the bits of a step without it, exact bytes, the time that the
 * law says on a simulated bus, and clear words where the host has no room. */
#include "autograd/tape.h"
#include "amp/autocast.h"
#include "core/scope.h"
#include "core/span.h"
#include "fused/fused.h"
#include "memory/offload.h"
#include "memory/segment.h"
#include "models/gpt2.h"
#include "must.h"
#include "ops/ops.h"
#include "testing/bus_sim.h"
#include "testing/compare.h"

#include <stdlib.h>

TestSuite(offload, .init = mt_fused_use);

enum {
    B = 2,
    T = 8,
    C = 16,
    HEADS = 2,
    TOKENS = 11,
    LAYERS = 5,
    MOST = 40000,
    LAYER = 4 * B * T * (16 * C + HEADS + 4)
};

typedef struct results {
    float value[MOST];
    int64_t count, kept, peak, clock;
} results;

static mt_bus *bus; /* NULL: nothing is offloaded */

static void add_flops(void *user, const mt_span *span)
{
    (void)user;
    mt_bus_sim_compute(bus, span->flops);
}

static void keep(results *r, const mt_tensor *t)
{
    cr_assert(t && r->count + mt_numel(t) <= MOST);
    memcpy(r->value + r->count, mt_f32(t), (size_t)mt_numel(t) * sizeof *r->value);
    r->count += mt_numel(t);
}

static void step(results *r, mt_module *model, mt_dtype dtype)
{
    int32_t ids[B * T + 1];
    for (int i = 0; i <= B * T; i++)
        ids[i] = i * i % TOKENS;
    *r = (results){ 0 };
    mt_scope_begin();
    mt_tensor *x = mt_from(MT_SHAPE(B, T), MT_I32, ids), *y = mt_from(MT_SHAPE(B, T), MT_I32, ids + 1);
    int64_t before = mt_live_bytes(MT_CPU);
    mt_peak_reset(MT_CPU);
    mt_autocast_begin(dtype);
    mt_tensor *loss = mt_gpt2_loss(model, x, y);
    mt_autocast_end();
    r->kept = mt_live_bytes(MT_CPU) - before;
    mt_backward(loss);
    r->peak = mt_peak_bytes(MT_CPU) - before;
    keep(r, loss);
    mt_scope_end();
    mt_state params = mt_module_params(model);
    for (int64_t p = 0; p < params.count; p++) {
        keep(r, params.item[p].tensor->grad);
        mt_clear(mt_f32(params.item[p].tensor->grad), mt_numel(params.item[p].tensor) * 4, MT_CPU);
    }
    mt_state_free(&params);
}

/* The second of two steps, in which the gradients have their memory. inside: the run of the blocks before. */
static void train(results *r, const char *chosen, mt_dtype dtype, mt_tensor *(*inside)(mt_module *, mt_tensor *))
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ TOKENS, 16, T, LAYERS, HEADS, C }, &rng);
    mt_module *h = model->child[MT_GPT2_H];
    bool out[LAYERS] = { false };
    mt_offload *o = NULL;
    for (int l = 0; l < LAYERS; l++) {
        h->child[l]->run = inside;
        out[l] = chosen && chosen[l] == '1';
    }
    if (chosen)
        o = mt_offload_new(bus, h->child, out, LAYERS);
    for (int n = 0; n < 2; n++)
        step(r, model, dtype);
    mt_offload_free(o);
    for (int l = 0; l < LAYERS; l++)
        cr_expect_eq(h->child[l]->run, inside);
    mt_module_free(model);
    cr_expect_eq(mt_live_bytes(MT_CPU), 0, "%s leaves memory", chosen ? chosen : "nothing");
}

static const char *const choices[] = { "00000", "10000", "01100", "10101", "11110", "11111" };

static int count(const char *chosen, int below)
{
    int n = 0;
    for (int l = 0; l < below; l++)
        n += chosen[l] == '1';
    return n;
}

/* The activations of a block are f32: 16 C + H + 4 numbers a token (test_recompute). What the last one sends comes too
 * late to free its memory, and is not fetched. At the peak, of the last block's backward, those of the two last are
 * there. */
Test(offload, bits_and_bytes_on_a_file)
{
    static results want, got;
    train(&want, NULL, MT_F32, NULL);
    for (int i = 0; i < MT_COUNT(choices); i++) {
        const char *chosen = choices[i];
        cr_assert_eq(mt_bus_open(&bus, MT_CPU), MT_OK);
        train(&got, chosen, MT_F32, NULL);
        must(mt_compare_bits(chosen, got.value, want.value, want.count));
        cr_expect_eq(bus->out, 2 * LAYER * count(chosen, LAYERS), "%s: %d", chosen, (int)bus->out);
        cr_expect_eq(bus->in, 2 * LAYER * count(chosen, LAYERS - 1), "%s: %d", chosen, (int)bus->in);
        cr_expect_eq(want.kept - got.kept, LAYER * count(chosen, LAYERS - 1), "%s", chosen);
        cr_expect_eq(want.peak - got.peak, LAYER * count(chosen, LAYERS - 2), "%s: %d", chosen,
                     (int)(want.peak - got.peak));
        mt_bus_free(bus);
    }
}

Test(offload, other_types_and_runs_inside)
{
    static results want, got;
    mt_tensor *(*const inside[])(mt_module *, mt_tensor *) = { NULL, mt_selective_forward, mt_segment_forward };
    for (int i = 0; i < MT_COUNT(inside); i++)
        for (int half = 0; half < 2; half++) {
            train(&want, NULL, half ? MT_BF16 : MT_F32, inside[i]);
            bus = mt_bus_sim_open(1);
            train(&got, "11011", half ? MT_BF16 : MT_F32, inside[i]);
            must(mt_compare_bits("offloaded", got.value, want.value, want.count));
            cr_expect_lt(got.kept, want.kept);
            cr_expect_eq(mt_bus_sim_host_bytes(bus), 0);
            mt_bus_free(bus);
        }
}

/* The law of mt_offload_stall, on a bus from slow to fast. FLOPs of a layer's forward: test_recompute. Those of its
 * backward follow from the slowest bus, and must explain the others. */
Test(offload, the_bus_costs_what_the_law_says)
{
    static results got;
    const int64_t forward = B * T * (24 * C * C + 2 * (T + 1) * C + 2 * C);
    int64_t backward = -1;
    for (int64_t rate = 30; rate >= 0; rate -= 3) {
        bus = mt_bus_sim_open(rate);
        mt_span_listen(add_flops, NULL);
        train(&got, "00000", MT_F32, NULL);
        int64_t plain = mt_bus_sim_now(bus);
        train(&got, "11010", MT_F32, NULL);
        mt_span_listen(NULL, NULL);
        int64_t waited = (mt_bus_sim_now(bus) - 2 * plain) / (2 * 3), copy = LAYER * rate;
        if (backward < 0)
            backward = 2 * copy - forward - waited;
        cr_assert(backward > 2 * forward && backward < 5 * forward / 2, "%d", (int)backward);
        const mt_offload_segment like = { LAYER, forward, backward }, pair[] = { like, like };
        cr_expect_eq(waited, mt_offload_stall(pair, 2, 0, rate), "rate %d: %d", (int)rate, (int)waited);
        cr_expect_eq(mt_bus_sim_freed(bus), 0);
        mt_bus_free(bus);
    }
}

/* Without a backward, twice before one, and freed before one: nothing is lost. */
Test(offload, any_order_of_forward_and_backward)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ TOKENS, 16, T, LAYERS, HEADS, C }, &rng);
    mt_module *h = model->child[MT_GPT2_H];
    bool all[LAYERS] = { true, true, true, true };
    static results want, got;
    for (int offloaded = 0; offloaded < 2; offloaded++) {
        results *r = offloaded ? &got : &want;
        mt_rng data = mt_rng_new(2, MT_STREAM_TEST);
        cr_assert_eq(mt_bus_open(&bus, MT_CPU), MT_OK);
        mt_offload *o = offloaded ? mt_offload_new(bus, h->child, all, LAYERS) : NULL;
        mt_scope_begin();
        mt_tensor *x = mt_normal(MT_SHAPE(B, T, C), 0, 1, &data), *dout = mt_normal(MT_SHAPE(B, T, C), 0, 1, &data);
        mt_forward(h, x); /* lost */
        mt_tensor *one = mt_forward(h, x), *two = mt_forward(h, mt_gelu(x));
        mt_backward_from(one, dout);
        mt_backward_from(two, dout);
        mt_tensor *three = mt_forward(h, x);
        mt_offload_free(o);
        mt_backward_from(three, dout);
        mt_scope_end();
        mt_bus_free(bus);
        mt_state params = mt_module_params(h);
        for (int64_t p = 0; p < params.count; p++) {
            keep(r, params.item[p].tensor->grad);
            mt_zero_grad(params.item[p].tensor);
        }
        mt_state_free(&params);
    }
    must(mt_compare_bits("gradients", got.value, want.value, want.count));
    mt_module_free(model);
    cr_expect_eq(mt_live_bytes(MT_CPU), 0);
}

static mt_tensor *identity(mt_module *module, mt_tensor *x)
{
    (void)module;
    return x;
}

/* The first block is frozen, and nothing before it has a gradient; the third returns what it gets. Both are chosen. Of
 * the second one x stays, which has no gradient. */
Test(offload, segments_without_a_record)
{
    static results want, got;
    const bool all[LAYERS] = { true, true, true, true };
    const int64_t moved = 2 * LAYER - 4 * B * T * C;
    for (int offloaded = 0; offloaded < 2; offloaded++) {
        results *r = offloaded ? &got : &want;
        mt_rng rng = mt_rng_new(1, MT_STREAM_INIT), data = mt_rng_new(2, MT_STREAM_TEST);
        mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ TOKENS, 16, T, LAYERS, HEADS, C }, &rng);
        mt_module *h = model->child[MT_GPT2_H];
        mt_state frozen = mt_module_params(h->child[0]), params = mt_module_params(h);
        for (int64_t p = 0; p < frozen.count; p++)
            frozen.item[p].tensor->requires_grad = false;
        h->child[2]->run = identity;
        cr_assert_eq(mt_bus_open(&bus, MT_CPU), MT_OK);
        mt_offload *o = offloaded ? mt_offload_new(bus, h->child, all, LAYERS) : NULL;
        for (int n = 0; n < 2; n++) {
            mt_scope_begin();
            mt_tensor *x = mt_normal(MT_SHAPE(B, T, C), 0, 1, &data), *dout = mt_normal(MT_SHAPE(B, T, C), 0, 1, &data);
            int64_t before = mt_live_bytes(MT_CPU);
            mt_tensor *out = mt_forward(h, x);
            r->kept = mt_live_bytes(MT_CPU) - before;
            mt_backward_from(out, dout);
            mt_scope_end();
        }
        for (int64_t p = 0; p < params.count; p++)
            if (params.item[p].tensor->grad)
                keep(r, params.item[p].tensor->grad);
        mt_offload_free(o);
        cr_expect_eq(bus->out, offloaded ? 2 * moved : 0, "%d", (int)bus->out);
        mt_bus_free(bus);
        mt_state_free(&frozen);
        mt_state_free(&params);
        mt_module_free(model);
    }
    must(mt_compare_bits("gradients", got.value, want.value, want.count));
    cr_expect_eq(want.kept - got.kept, moved, "%d", (int)(want.kept - got.kept));
}

Test(offload, a_folder_that_is_not_there)
{
    void *host = &host;
    cr_assert_eq(mt_bus_open(&bus, MT_CPU), MT_OK);
    setenv("TMPDIR", "/dev/null", 1);
    cr_expect_eq(mt_bus_host(bus, &host, 1 << 20), MT_ERR_IO);
    cr_expect_str_eq(mt_last_error(), "/dev/null: no file of 1048576 bytes for offloaded activations: Not a "
                                      "directory. Name a folder with room in TMPDIR, or offload less");
    cr_expect_eq(host, &host);
    static results want, got; /* the segments stay, and the results are right */
    train(&want, NULL, MT_F32, NULL);
    train(&got, "11110", MT_F32, NULL);
    must(mt_compare_bits("without room", got.value, want.value, want.count));
    cr_expect_eq(got.kept, want.kept);
    cr_expect_eq(bus->out, 0);
    mt_bus_free(bus);
    setenv("TMPDIR", "/tmp", 1);
}
