/* 10-recompute.c -- how the checks of recomputation run (steps 10.2 to 10.4, 10.13): a tower of blocks of GPT-2
 * (worker/recompute.h) as it is, and with segments, selective recomputation or offload. Rows: 10-memory.c.
 *
 * The values of both are compared with 10-tower.c, then every bit of the second with the first. */
#include "checks/10-memory.h"
#include "checks/10-tower.h"
#include "checks/fill.h"
#include "worker/recompute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *function;
    int64_t setting[MG_RC_SETTINGS];
} request;

/* What one call gave. */
typedef struct outcome {
    float *value; /* out, dx, dparams, one after the other */
    int64_t count, facts[MG_RC_COUNTED];
} outcome;

/* ---- a call ----------------------------------------------------------------------------------------------------- */

/* Weights of about 1 / sqrt(C), gains about 1. */
static void fill(mt_rng *rng, float *params, const mg_gpt2_part *part, int64_t C)
{
    for (int i = 0; i < MG_BLOCK_PARTS; i++) {
        bool weight = strstr(part[i].name, "weight"), gain = weight && strstr(part[i].name, "ln_");
        mg_fill(rng, params + part[i].at, part[i].count,
                (mg_dist)NORMAL(gain ? 1 : 0, weight && !gain ? 1 / sqrt((double)C) : 0.3));
    }
}

static void take(outcome *got, const float *from, int64_t n)
{
    got->value = realloc(got->value, (size_t)(got->count + n) * sizeof *from);
    memcpy(got->value + got->count, from, (size_t)n * sizeof *from);
    got->count += n;
}

/* False: the run has its verdict. */
static bool one_call(mg_run *run, const request *r, outcome *got)
{
    const int64_t *setting = r->setting;
    tower t = { .setting = setting,
                .g = { .B = setting[MG_RC_B], .T = setting[MG_RC_T], .C = setting[MG_RC_C], .H = setting[MG_RC_H] } };
    mg_gpt2_part part[MG_BLOCK_PARTS];
    mt_shape shape = MT_SHAPE(setting[MG_RC_B], setting[MG_RC_T], setting[MG_RC_C]);
    int parts = mg_gpt2_block_parts(part, &t.per_layer, &t.g);
    int64_t count = setting[MG_RC_LAYERS] * t.per_layer;
    MT_CHECK(parts == MG_BLOCK_PARTS, "a block has %d parameters", parts);
    t.n = mt_shape_numel(shape);
    mg_begin(run, r->function);
    mg_answer answer[] = { mg_overwritten(run, "out", shape), mg_overwritten(run, "dx", shape),
                           mg_overwritten(run, "dparams", MT_SHAPE(count)) };
    mg_out(run, "facts", MT_I64, MT_SHAPE(MG_RC_COUNTED));
    t.x = mg_lift(mg_input(run, "x", shape, (mg_dist)NORMAL(0.5, 2)), t.n);
    t.dout = mg_input(run, "dout", shape, (mg_dist)NORMAL(0, 1));
    float *params = mg_in(run, "params", MT_F32, MT_SHAPE(count));
    for (int64_t l = 0; l < setting[MG_RC_LAYERS]; l++)
        fill(mg_rng(run), params + l * t.per_layer, part, setting[MG_RC_C]);
    t.params = mg_lift(params, count);
    memcpy(mg_in(run, "setting", MT_I64, MT_SHAPE(MG_RC_SETTINGS)), setting, sizeof r->setting);
    mg_10_expect(answer, &t, part);
    free(t.x);
    free(t.params);
    if (!mg_call_and_judge(run, answer, MT_COUNT(answer)))
        return false;
    take(got, mg_result(run, "out"), t.n);
    take(got, mg_result(run, "dx"), t.n);
    take(got, mg_result(run, "dparams"), count);
    memcpy(got->facts, mg_result(run, "facts"), sizeof got->facts);
    return true;
}

/* ---- what a row looks at -------------------------------------------------------------------------------------- */

static bool same_bits(mg_run *run, const outcome *got, const outcome *plain, const request *r)
{
    int64_t n = r->setting[MG_RC_B] * r->setting[MG_RC_T] * r->setting[MG_RC_C];
    for (int64_t i = 0; i < got->count; i++)
        if (memcmp(got->value + i, plain->value + i, sizeof(float)) != 0) {
            int64_t at = i < n ? i : i < 2 * n ? i - n : i - 2 * n;
            return mg_fail(run, "%s[%lld] is %a, without recomputation it is %a: every bit must be the same",
                           i < n       ? "out"
                           : i < 2 * n ? "dx"
                                       : "dparams",
                           (long long)at, (double)got->value[i], (double)plain->value[i]);
        }
    return true;
}

static bool equal(mg_run *run, const char *what, int64_t got, int64_t want)
{
    if (got != want)
        mg_fail(run, "%s: %lld, expected %lld", what, (long long)got, (long long)want);
    return got == want;
}

/* FLOPs of forward of all layers: products with 12 C^2 weights, two of attention over T (T + 1) / 2 pairs, two sums. */
static int64_t planned_flops(const int64_t *setting)
{
    int64_t C = setting[MG_RC_C], tokens = setting[MG_RC_B] * setting[MG_RC_T];
    return setting[MG_RC_LAYERS] * tokens * (24 * C * C + 2 * (setting[MG_RC_T] + 1) * C + 2 * C);
}

static bool judge_flops(mg_run *run, const outcome *got, const outcome *plain, const request *r, bool segments)
{
    int64_t forward = planned_flops(r->setting), more = segments ? forward : 0;
    if (!equal(run, "FLOPs of forward", plain->facts[MG_RC_FLOPS], forward) ||
        !equal(run, "FLOPs of forward", got->facts[MG_RC_FLOPS], forward) ||
        !equal(run, "FLOPs of backward", got->facts[MG_RC_FLOPS_BACKWARD], plain->facts[MG_RC_FLOPS_BACKWARD] + more))
        return false;
    mg_note(run, "%.3f times the FLOPs of a step",
            1 + (double)more / (double)(forward + plain->facts[MG_RC_FLOPS_BACKWARD]));
    return true;
}

/* Bytes that forward leaves. Segments: their results. Selective: what both layernorms and GELU gave, 6 C numbers a
 * token, is not kept. */
static bool judge_kept(mg_run *run, const outcome *got, const outcome *plain, const request *r, bool segments)
{
    const int64_t *setting = r->setting, *facts = got->facts;
    int64_t columns = setting[MG_RC_LAYERS] * setting[MG_RC_B] * setting[MG_RC_T] * setting[MG_RC_C];
    int64_t dropped = 6 * columns * (setting[MG_RC_TYPE] == MT_F32 ? 4 : 2);
    int64_t want = segments ? 4 * columns : plain->facts[MG_RC_KEPT] - dropped;
    mg_note(run, "%lld bytes are kept, without recomputation %lld", (long long)facts[MG_RC_KEPT],
            (long long)plain->facts[MG_RC_KEPT]);
    /* A layer drops three tensors. A number may be kept in place of each. */
    int64_t more = facts[MG_RC_KEPT] - want, spare = segments ? 0 : 3 * setting[MG_RC_LAYERS] * (int64_t)sizeof(float);
    return equal(run, "bytes kept by forward", facts[MG_RC_KEPT],
                 more >= 0 && more <= spare ? facts[MG_RC_KEPT] : want);
}

static bool judge_ready(mg_run *run, const int64_t *facts)
{
    if (!equal(run, "the most often that a gradient was ready", facts[MG_RC_READY_MOST], 1) ||
        !equal(run, "the least often that a gradient was ready", facts[MG_RC_READY_LEAST], 1))
        return false;
    if (!facts[MG_RC_COMPLETE])
        mg_fail(run, "a gradient was reported ready and changed afterwards");
    return facts[MG_RC_COMPLETE];
}

static bool judge_peak(mg_run *run, const outcome *got, const outcome *plain, const request *r)
{
    int64_t least =
        4 * r->setting[MG_RC_B] * r->setting[MG_RC_T] * r->setting[MG_RC_C] * (r->setting[MG_RC_LAYERS] + 16);
    double ratio = (double)got->facts[MG_RC_PEAK] / (double)plain->facts[MG_RC_PEAK];
    if (got->facts[MG_RC_PEAK] < least)
        return mg_fail(run, "a peak of %lld bytes, but the inputs of all blocks and what one keeps are %lld",
                       (long long)got->facts[MG_RC_PEAK], (long long)least);
    mg_note(run, "%lld bytes, %.3f of those without segments", (long long)got->facts[MG_RC_PEAK], ratio);
    mg_credit(run, "10.3 peak", ratio);
    return true;
}

/* ---- offload: layers that keep the same number of bytes, of which some are chosen -------------------------------- */

static int64_t chosen_below(const int64_t *setting, int64_t layers)
{
    return __builtin_popcountll((unsigned long long)setting[MG_RC_CHOSEN] & ((1ull << mt_max(layers, 0)) - 1));
}

/* FLOPs of all, and of each chosen layer what a copy takes more than the next layer's forward, and than its backward.
 * The product that enters the tower is none of a layer: forward once, backward once for x. */
static int64_t planned_clock(const int64_t *setting, const outcome *plain, int64_t layer)
{
    int64_t C = setting[MG_RC_C], enters = 2 * setting[MG_RC_B] * setting[MG_RC_T] * C * C,
            forward = (plain->facts[MG_RC_FLOPS] - enters) / setting[MG_RC_LAYERS],
            backward = (plain->facts[MG_RC_FLOPS_BACKWARD] - enters) / setting[MG_RC_LAYERS],
            copy = layer * setting[MG_RC_RATE];
    return plain->facts[MG_RC_FLOPS] + plain->facts[MG_RC_FLOPS_BACKWARD] +
           chosen_below(setting, setting[MG_RC_LAYERS]) * (mt_max(0, copy - forward) + mt_max(0, copy - backward));
}

static bool judge_offload(mg_run *run, recompute_about about, const request *r, const outcome *got,
                          const outcome *plain)
{
    const int64_t *setting = r->setting, *facts = got->facts, *was = plain->facts, L = setting[MG_RC_LAYERS],
                  layer = was[MG_RC_KEPT] / L;
    switch (about) {
    case RC_KEPT:
        mg_note(run, "%lld bytes stay of %lld", (long long)facts[MG_RC_KEPT], (long long)was[MG_RC_KEPT]);
        return equal(run, "bytes on the device after forward", facts[MG_RC_KEPT],
                     was[MG_RC_KEPT] - layer * chosen_below(setting, L - 1));
    case RC_PEAK:
        mg_note(run, "%lld bytes, without offload %lld", (long long)facts[MG_RC_PEAK], (long long)was[MG_RC_PEAK]);
        return equal(run, "the most bytes on the device", facts[MG_RC_PEAK],
                     was[MG_RC_PEAK] - layer * chosen_below(setting, L - 2));
    case RC_CLOCK:
        mg_note(run, "%.3f times as long as without offload",
                (double)facts[MG_RC_CLOCK] / (double)(was[MG_RC_FLOPS] + was[MG_RC_FLOPS_BACKWARD]));
        return equal(run, "virtual time of a step, in FLOPs", facts[MG_RC_CLOCK], planned_clock(setting, plain, layer));
    case RC_LEFT:
        return equal(run, "bytes left beside gradients", facts[MG_RC_LEFT], 0);
    case RC_MOVED:
    case RC_STAY:
        return equal(run, "bytes to the host", facts[MG_RC_OUT], layer * chosen_below(setting, L)) &&
               equal(run, "bytes back", facts[MG_RC_IN], layer * chosen_below(setting, L - 1));
    default:
        return equal(run, "arrays whose memory is freed while the bus copies it", facts[MG_RC_FREED], 0) &&
               same_bits(run, got, plain, r);
    }
}

static bool judge(mg_run *run, recompute_about about, const request *r, const outcome *got, const outcome *plain)
{
    const int64_t *facts = got->facts;
    bool segments = strstr(r->function, "segment");
    if (strcmp(r->function, "offload") == 0)
        return judge_offload(run, about, r, got, plain);
    switch (about) {
    case RC_NODE:
        return equal(run, "nodes of the result", facts[MG_RC_NODE], 1) &&
               equal(run, "an op after it is recorded and saves as usual (1: yes)", facts[MG_RC_RECORDING], 1);
    case RC_QUIET:
        return equal(run, "nodes of the result, which needs none", facts[MG_RC_NODE], 0) &&
               equal(run, "bytes that are left", facts[MG_RC_LEFT], 0);
    case RC_KEPT:
    case RC_KEPT_16:
        return judge_kept(run, got, plain, r, segments);
    case RC_DRAWN:
        return equal(run, "blocks of random numbers drawn by forward", facts[MG_RC_DRAWN], plain->facts[MG_RC_DRAWN]);
    case RC_DRAWN_AFTER:
        return equal(run, "blocks of random numbers drawn up to the end of backward", facts[MG_RC_DRAWN_AFTER],
                     plain->facts[MG_RC_DRAWN_AFTER]);
    case RC_POLICY_AFTER:
        return equal(run, "the policy after backward is that before it (1: yes)", facts[MG_RC_POLICY], 1) &&
               equal(run, "the policy's user pointer after backward is that before it (1: yes)", facts[MG_RC_USER],
                     1) &&
               equal(run, "the keepers after backward are those before it (1: yes)", facts[MG_RC_KEEPERS], 1) &&
               equal(run, "ops are recorded after backward (1: yes)", facts[MG_RC_RECORDS_LAST], 1);
    case RC_READY:
        return judge_ready(run, facts);
    case RC_FLOPS:
        return judge_flops(run, got, plain, r, segments);
    case RC_PEAK:
        return judge_peak(run, got, plain, r);
    case RC_LEFT:
        return equal(run, "bytes left beside gradients", facts[MG_RC_LEFT], 0);
    case RC_TYPES:
        return (!segments && r->setting[MG_RC_TYPE] != MT_F32) || /* selective: from inputs that were kept in 16 bits */
               same_bits(run, got, plain, r);
    default:
        return same_bits(run, got, plain, r);
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Whether some row loses all elements but one: its layernorm would be too steep for differences. */
static bool bare_row(const int64_t *setting)
{
    int64_t C = setting[MG_RC_C], n = setting[MG_RC_B] * setting[MG_RC_T] * C,
            rows = setting[MG_RC_LAYERS] * setting[MG_RC_PASSES];
    double *mask = mg_doubles(n);
    bool bare = false;
    for (int64_t k = 0; k < rows; k++) {
        mg_10_mask(mask, setting, k / setting[MG_RC_PASSES], k % setting[MG_RC_PASSES], n);
        for (int64_t i = 0; i < n; i += C) {
            int64_t left = 0;
            for (int64_t j = i; j < i + C; j++)
                left += mask[j] > 0;
            bare = bare || left < 2;
        }
    }
    free(mask);
    return bare;
}

/* What is special in a call; CASTS + i: the type of forward, and what is in force in backward. */
enum { ANY, EVAL, F16, BLOCKS, NO_GRAD, FROZEN, ALL_CHOSEN, TWICE, CASTS };
static const int64_t casts[][2] = {
    { MT_BF16, MG_RC_POLICY_ONLY }, { MT_F16, MT_BF16 }, { MT_F32, MT_BF16 }, { MT_BF16, MT_F32 }
};

/* A layer keeps 4 (16 C + 6) bytes a token and has 24 C^2 FLOPs and few more: a copy takes from half of its forward on,
 * with a rate of C more than its backward. */
static void choose_layers(mt_rng *rng, int64_t *setting, recompute_about about, int64_t is)
{
    int64_t L = setting[MG_RC_LAYERS] = is == TWICE ? 3 : mg_pick(rng, 4, 6), last = INT64_C(1) << (L - 1);
    setting[MG_RC_CHOSEN] = is == ALL_CHOSEN ? last - 1 : mg_pick(rng, 1, last - 1);
    if (about == RC_LAST || about == RC_MOVED)
        setting[MG_RC_CHOSEN] |= last;
    if (about == RC_PEAK)
        setting[MG_RC_CHOSEN] |= last >> 2; /* fetched too early, it is there at the peak */
    if (about == RC_STAY)
        setting[MG_RC_CHOSEN] = 0;
    setting[MG_RC_RATE] = is == ALL_CHOSEN ? setting[MG_RC_C] : mg_pick(rng, 1, setting[MG_RC_C]);
    setting[MG_RC_LEVELS] = 0;
    setting[MG_RC_PASSES] = is == TWICE ? 2 : 1;
    setting[MG_RC_PRODUCT] = 1; /* the first layer keeps as much as the others: what enters it was computed, too */
    setting[MG_RC_ROUNDS] = 2;
}

static request draw(mg_run *run, const recompute_case *c, int64_t is)
{
    mt_rng *rng = mg_rng(run);
    request r = { c->function, { 0 } };
    int64_t *setting = r.setting;
    setting[MG_RC_B] = mg_pick(rng, 1, 2), setting[MG_RC_T] = mg_pick(rng, 3, 5);
    setting[MG_RC_H] = 2, setting[MG_RC_C] = 2 * mg_pick(rng, 2, 3);
    setting[MG_RC_LAYERS] = mg_pick(rng, 2, 3),
    setting[MG_RC_PASSES] = setting[MG_RC_ROUNDS] = setting[MG_RC_WANTED] = 1;
    setting[MG_RC_TYPE] = setting[MG_RC_BACK] = MT_F32, setting[MG_RC_LEVELS] = MG_RC_EACH_LAYER,
    setting[MG_RC_BACKWARD] = c->backward;
    if (c->about == RC_SHARED || c->about == RC_DROPOUT || c->about == RC_READY)
        setting[MG_RC_LAYERS] = 2, setting[MG_RC_PASSES] = 2;
    if (c->about == RC_DROPOUT || c->about == RC_DRAWN || c->about == RC_DRAWN_AFTER)
        setting[MG_RC_P] = mg_pick(rng, 1, 3); /* with 4, half of the elements, hardly any seed has no bare row */
    if (c->about == RC_KEPT_16) {              /* in the second round the parameters have their copies */
        setting[MG_RC_TYPE] = is == F16 ? MT_F16 : MT_BF16, setting[MG_RC_PRODUCT] = 1, setting[MG_RC_ROUNDS] = 2;
        setting[MG_RC_LAYERS] = 3; /* with two layers, right and wrong units would keep the same number of bytes */
    }
    if (is == EVAL && c->about == RC_POLICY_AFTER)
        setting[MG_RC_TYPE] = MT_F16, setting[MG_RC_BACK] = MT_BF16;
    if (is >= CASTS) {
        setting[MG_RC_TYPE] = casts[is - CASTS][0], setting[MG_RC_BACK] = casts[is - CASTS][1];
        setting[MG_RC_PRODUCT] = mg_pick(rng, 0, 1);
    }
    setting[MG_RC_EVAL] = is == EVAL;
    if (c->about == RC_NESTED)
        setting[MG_RC_LEVELS] = MG_RC_TOWER + MG_RC_EACH_LAYER + (is == BLOCKS) * MG_RC_EACH_BLOCK,
        setting[MG_RC_P] = 2;
    if (c->about == RC_QUIET)
        setting[MG_RC_WANTED] = is == NO_GRAD ? 2 : 0;
    if (is == FROZEN)
        setting[MG_RC_WANTED] = 3;
    if (c->about == RC_PEAK)
        setting[MG_RC_LAYERS] = MG_RC_LAYERS_MOST, setting[MG_RC_ROUNDS] = 2;
    if (strcmp(c->function, "offload") == 0)
        choose_layers(rng, setting, c->about, is);
    do
        setting[MG_RC_SEED] = (INT64_C(1) << 32) + mg_pick(rng, 1, 1 << 20); /* a stream's number may have 64 bits */
    while (bare_row(setting));
    return r;
}

void mg_10_recompute(mg_run *run, const void *one_case)
{
    enum {
        OTHERS = ~(1 << RC_TYPES | 1 << RC_POLICY_AFTER | 1 << RC_PEAK),
        BOTH = 1 << RC_TYPES | 1 << RC_POLICY_AFTER
    };
    static const mg_idea tries[] = {
        { .rows = OTHERS | 1 << RC_PEAK },
        { .rows = OTHERS & ~(1 << RC_KEPT | 1 << RC_KEPT_16 | 1 << RC_QUIET | 1 << RC_NESTED) },
        { "x that wants no gradient", "parameters alone may want gradients", FROZEN, 1 << RC_VALUES },
        { "evaluation", "in MT_EVAL, which changes dropout only, all is recorded as always", EVAL,
          1 << RC_KEPT | 1 << RC_POLICY_AFTER },
        { "f16", NULL, F16, 1 << RC_KEPT_16 },
        { "all but the last", NULL, ALL_CHOSEN, 1 << RC_LAST | 1 << RC_MOVED | 1 << RC_CLOCK },
        { "each layer used twice",
          "a segment that is away may be read before backward has come to the one behind it: it is fetched then", TWICE,
          1 << RC_LAST },
        { "three levels", NULL, BLOCKS, 1 << RC_NESTED },
        { "inside mt_no_grad", NULL, NO_GRAD, 1 << RC_QUIET },
        { "forward in bf16, backward without autocast's keeper", NULL, CASTS, BOTH },
        { "forward in f16, backward in bf16", NULL, CASTS + 1, BOTH },
        { "forward in f32, backward in bf16", NULL, CASTS + 2, BOTH },
        { "forward in bf16, backward in f32", NULL, CASTS + 3, BOTH },
    };
    const recompute_case *c = one_case;
    bool good = c->about != RC_READY || mg_10_unused(run);
    for (mg_ideas t = { 0 }; good && MG_NEXT(run, &t, tries, c->about);) {
        request r = draw(run, c, t.is), as_it_is = r;
        outcome got = { 0 }, plain = { 0 };
        const mt_rng start = *mg_rng(run);
        as_it_is.function = "modules as they are";
        good = one_call(run, &as_it_is, &plain);
        *mg_rng(run) = start;
        good = good && one_call(run, &r, &got) && judge(run, c->about, &r, &got, &plain);
        free(got.value);
        free(plain.value);
    }
}
