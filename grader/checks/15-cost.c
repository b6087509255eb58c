/* 15-cost.c -- how the checks of the cost of a step run: every integer against 15-oracle.c, and against steps of the
 * real framework, whose bytes the worker has counted (calls_15_measured.c). Rows: 15-scale.c. */
#include "checks/15-oracle.h"
#include "checks/15-scale.h"
#include "checks/fill.h"
#include "worker/plan.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static void describe(mg_run *run, const mt_plan_model *m, const mt_plan_strategy *s, int64_t stage)
{
    memcpy(mg_in(run, "model", MT_I64, MT_SHAPE(MG_PLAN_MODEL)), m, sizeof *m);
    mg_plan_put_strategy(mg_in(run, "strategy", MT_I64, MT_SHAPE(MG_PLAN_STRATEGY)), s);
    mg_i64(run, "stage", stage);
}

static const char *words(const mt_plan_model *m, const mt_plan_strategy *s, int64_t stage)
{
    static const char *const how[] = { "none", "selective", "block" };
    static char text[300];
    snprintf(text, sizeof text,
             "V %" PRId64 ", T <= %" PRId64 ", %" PRId64 " layers, %" PRId64 " heads, C %" PRId64 "; dp %" PRId64
             ", pp %" PRId64 ", tp %" PRId64 ", %" PRId64 " micro-batches of %" PRId64 " x %" PRId64 ", ZeRO %" PRId64
             ", %s again, %s; stage %" PRId64,
             m->vocabulary, m->block, m->layers, m->heads, m->width, s->dp, s->pp, s->tp, s->micro, s->samples, s->time,
             s->zero, how[s->recompute], mt_dtype_name(s->dtype), stage);
    return text;
}

/* A call that answers with so many numbers, such as the fields of a mt_plan_cost. */
static bool ask(mg_run *run, const char *call, void *to, int64_t count, const mt_plan_model *m,
                const mt_plan_strategy *s, int64_t stage)
{
    mg_begin(run, call);
    mg_out(run, "result", MT_I64, MT_SHAPE(count));
    describe(run, m, s, stage);
    if (!mg_call(run))
        return false;
    memcpy(to, mg_result(run, "result"), (size_t)count * sizeof(int64_t));
    return true;
}

/* ---- against the oracle ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t at;
    cost_part part;
} fields[] = {
#define FIELD(name, part) { #name, offsetof(mt_plan_cost, name) / 8, part }
    FIELD(params, COST_STATE),       FIELD(parameters, COST_STATE), FIELD(copies, COST_STATE),
    FIELD(gradients, COST_STATE),    FIELD(optimizer, COST_STATE),  FIELD(buffers, COST_STATE),
    FIELD(activations, COST_MEMORY), FIELD(peak, COST_MEMORY),      FIELD(forward, COST_FLOPS),
    FIELD(backward, COST_FLOPS),     FIELD(again, COST_FLOPS),      FIELD(attention, COST_FLOPS),
    FIELD(data, COST_WIRE),          FIELD(pipe, COST_WIRE),        FIELD(tensor, COST_WIRE),
    FIELD(tensor_calls, COST_WIRE),
};

static const struct {
    const char *call;
    bool is_cost;
} calls[] = {
    [COST_PARAMS] = { "mt_plan_params", false }, [COST_KEPT] = { "mt_plan_kept", false },
    [COST_STATE] = { "mt_plan_state", true },    [COST_MEMORY] = { "mt_plan_cost_of", true },
    [COST_FLOPS] = { "mt_plan_flops", true },    [COST_WIRE] = { "mt_plan_wire", true },
};

static bool check(mg_run *run, cost_part part, const mt_plan_model *m, const mt_plan_strategy *s, int64_t stage)
{
    mt_plan_cost want = mg_plan_cost(m, s, stage);
    const int64_t *wanted = (const int64_t *)&want;
    int64_t got[MG_PLAN_COST];
    if (!ask(run, calls[part].call, got, calls[part].is_cost ? MG_PLAN_COST : 1, m, s, stage))
        return false;
    if (!calls[part].is_cost) {
        int64_t one = part == COST_PARAMS ? want.params : mg_plan_kept(m, s);
        if (*got != one)
            mg_fail(run, "%s\n%s is %" PRId64 ", expected %" PRId64, words(m, s, stage), calls[part].call, *got, one);
        return *got == one;
    }
    for (int i = 0; i < MT_COUNT(fields); i++)
        if (fields[i].part == part && got[fields[i].at] != wanted[fields[i].at])
            return mg_fail(run, "%s\n%s is %" PRId64 ", expected %" PRId64, words(m, s, stage), fields[i].name,
                           got[fields[i].at], wanted[fields[i].at]);
    return true;
}

/* One of 1, 2, 3, 4 that divides the heads. */
static int64_t pick_tp(mt_rng *rng, int64_t heads)
{
    int64_t tp;
    do
        tp = mg_pick(rng, 1, 4);
    while (heads % tp != 0);
    return tp;
}

static mt_plan_model pick_model(mt_rng *rng, int vary)
{
    int64_t heads = mg_pick(rng, 1, 3) * (vary & VARY_TENSOR ? 12 : 1);
    mt_plan_model m = { mg_pick(rng, 3, 3000), 0, mg_pick(rng, 1, 600), mg_pick(rng, 1, 9), heads, 0 };
    m.width = heads * mg_pick(rng, 1, 9);
    m.rows = vary & VARY_ROWS ? m.vocabulary + mg_pick(rng, 0, 9) : 0;
    return m;
}

static mt_plan_strategy pick_strategy(mt_rng *rng, int vary, mt_plan_model *m)
{
    mt_plan_strategy s = { 1,      1,    1, mg_pick(rng, 1, 9), mg_pick(rng, 1, m->block), 1, 0, MT_RECOMPUTE_NONE,
                           MT_F32, false };
    if (vary & VARY_DATA)
        s.dp = mg_pick(rng, 2, 9);
    if (vary & VARY_PIPE)
        s.pp = mg_pick(rng, 1, m->layers);
    if (vary & VARY_TENSOR)
        s.tp = pick_tp(rng, m->heads);
    if (vary & VARY_MICRO)
        s.micro = mg_pick(rng, 1, 7);
    if (vary & VARY_ZERO)
        s.zero = mg_pick(rng, 0, 3);
    if (vary & VARY_RECOMPUTE)
        s.recompute = (mt_recompute)mg_pick(rng, 0, 2);
    if (vary & VARY_DTYPE)
        s.dtype = mg_pick(rng, 0, 1) ? MT_BF16 : MT_F16;
    if (vary & VARY_LONG) {
        m->vocabulary = mg_pick(rng, 600, 900), m->rows = 0;
        s.time = m->block = mg_pick(rng, 400, 500), s.samples = mg_pick(rng, 2, 4);
    }
    return s;
}

/* What is special in a strategy; AGAIN and FEW: of three, with each kind of recomputation; LIMIT: of two. */
enum { ANY, ONE, TWO, WIDE, LARGE, LONG, AGAIN, FEW = AGAIN + 3, LIMIT = FEW + 3 };

/* One or two layers that are 2^24 wide: numbers that an int does not have, and FLOPs of more bits than a double has.
 * is_long: samples so long that those of attention alone have more, too: an odd number above 2^53, times 4 and more. */
static void magnify(mt_plan_model *m, mt_plan_strategy *s, bool is_long)
{
    m->layers = mt_min(m->layers, 2);
    m->width = m->heads = s->tp * ((is_long ? 1 << 14 : 1 << 24) / s->tp | 1);
    s->pp = mt_min(s->pp, m->layers);
    s->samples = is_long ? 5 : 3, s->micro = mt_min(s->micro, is_long ? 2 : 3);
    s->time = m->block = is_long ? (1 << 20) + 1 : 17;
}

/* Strategies of a row: which rows have them, by their part and by what they vary, and what is special. */
static const struct cost_try {
    const char *part, *hint;
    int is, rows, vary, times;
} cost_tries[] = {
#define ROW(part) (1 << COST_##part)
#define WIDER     "numbers of bytes and FLOPs are int64_t, and so are all products in them"
    { NULL, NULL, ANY, ~0, 0, 9 },
    { "one micro-batch", NULL, ONE, ~0, 0, 1 },
    { "no recomputation", NULL, AGAIN + MT_RECOMPUTE_NONE, ~0, VARY_RECOMPUTE, 1 },
    { "selective recomputation", NULL, AGAIN + MT_RECOMPUTE_SELECTIVE, ~0, VARY_RECOMPUTE, 1 },
    { "recomputation of blocks", NULL, AGAIN + MT_RECOMPUTE_BLOCK, ~0, VARY_RECOMPUTE, 1 },
    { "selective recomputation on two tensor ranks", NULL, TWO, ~0, VARY_TENSOR | VARY_RECOMPUTE, 1 },
    { "a wide layer", WIDER, WIDE, ROW(KEPT) | ROW(MEMORY), 0, 1 },
    { "wide layers", WIDER, LARGE, ~(ROW(KEPT) | ROW(MEMORY)), 0, 3 },
    { "long samples", WIDER, LONG, ROW(FLOPS), 0, 1 },
    { "few tokens in wide layers", NULL, FEW + MT_RECOMPUTE_NONE, ROW(MEMORY), VARY_TENSOR, 1 },
    { "few tokens in wide layers", NULL, FEW + MT_RECOMPUTE_SELECTIVE, ROW(MEMORY), VARY_TENSOR, 1 },
    { "few tokens in wide layers", NULL, FEW + MT_RECOMPUTE_BLOCK, ROW(MEMORY), VARY_TENSOR, 1 },
    { "a head at the limit of a chunk", NULL, LIMIT, ROW(MEMORY), VARY_LONG, 1 },
    { "a head at the limit of a chunk, with all gradients", NULL, LIMIT + 1, ROW(MEMORY), VARY_LONG, 1 },
};

static bool check_stages(mg_run *run, const cost_case *c, int is)
{
    int vary = c->vary & ~(is == ONE ? VARY_MICRO : 0);
    mt_plan_model m = pick_model(mg_rng(run), vary);
    mt_plan_strategy s = pick_strategy(mg_rng(run), vary, &m);
    if (is >= AGAIN && is <= AGAIN + MT_RECOMPUTE_BLOCK)
        s.recompute = (mt_recompute)(is - AGAIN);
    if (is == TWO)
        s.tp = 2, s.recompute = MT_RECOMPUTE_SELECTIVE;
    if (is == WIDE) { /* one layer: sums of bytes beyond 32 bits in each place, gradients above activations */
        mt_recompute again = vary & VARY_RECOMPUTE && c->part == COST_MEMORY ? MT_RECOMPUTE_BLOCK : s.recompute;
        m = (mt_plan_model){ m.vocabulary, 0, 1, 1, 1, 1 << 27 };
        s = (mt_plan_strategy){ s.dp, 1, 1, 2, 1, 1, s.zero, again, s.dtype, false };
    }
    if (is == LARGE || is == LONG)
        magnify(&m, &s, is == LONG);
    if (is >= FEW && is <= FEW + MT_RECOMPUTE_BLOCK) { /* the peak is in a layer's backward, with more in forward */
        m = (mt_plan_model){ m.vocabulary % 50 + 3, 0, 5, 3, 12, 480 };
        s = (mt_plan_strategy){ 2, 1, 2, 1, 5, 1, 2, (mt_recompute)(is - FEW), s.dtype, false };
    }
    if (is >=
        LIMIT) { /* chunks take 1 number less than all logits, 256 V + N C + 1 of N V, or more with all gradients */
        m.vocabulary = 257 * m.width + 1, m.block = 257;
        s.samples = 1, s.time = 257, s.micro = is > LIMIT ? 2 : 1;
    }
    int64_t stages[] = { 0, s.pp - 1, s.pp / 2 };
    bool good = true;
    for (int k = 0; k < (s.pp > 1 ? 3 : 1) && good; k++)
        good = check(run, c->part, &m, &s, stages[k]);
    return good;
}

void mg_15_cost(mg_run *run, const void *one_case)
{
    const cost_case *c = one_case;
    bool good = true;
    for (const struct cost_try *t = cost_tries; t < cost_tries + MT_COUNT(cost_tries); t++) {
        mg_part(run, t->part, t->hint ? "%s" : NULL, t->hint);
        for (int i = 0; i < t->times && good && t->rows >> c->part & 1 && (c->vary & t->vary) == t->vary; i++)
            good = check_stages(run, c, t->is);
    }
}

/* ---- ZeRO's bytes a parameter ---------------------------------------------------------------------------------- */

/* A model whose parameters all ranks can have equally: 16, 8 + 8 / N, 4 + 12 / N and 16 / N. */
void mg_15_zero(mg_run *run, const void *one_case)
{
    (void)one_case;
    static const int64_t whole[] = { 16, 8, 4, 0 }, divided[] = { 0, 8, 12, 16 };
    for (int64_t ranks = 1; ranks <= 16; ranks *= 2)
        for (int64_t stage = 0; stage <= 3; stage++) {
            const mt_plan_model m = { 64, 64, 64, mg_pick(mg_rng(run), 1, 4), 2, 32 };
            const mt_plan_strategy s = { ranks, 1, 1, 1, 16, 1, stage, MT_RECOMPUTE_NONE, MT_F32, false };
            int64_t n = mg_plan_cost(&m, &s, 0).params;
            mt_plan_cost got;
            if (!ask(run, "mt_plan_state", &got, MG_PLAN_COST, &m, &s, 0))
                return;
            int64_t is = got.parameters + got.gradients + got.optimizer;
            if (is != n * whole[stage] + n / ranks * divided[stage]) {
                mg_fail(run,
                        "stage %" PRId64 " on %" PRId64 " ranks: %.4f bytes a parameter, expected %" PRId64
                        " + %" PRId64 " / %" PRId64,
                        stage, ranks, (double)is / (double)n, whole[stage], divided[stage], ranks);
                return;
            }
        }
}

/* ---- published models and runs --------------------------------------------------------------------------------- */

/* In billions. GPT-2: Radford et al. 2019, as Hugging Face's checkpoints count them. GPT-3: Brown et al. 2020, 174.6,
 * which its authors call 175. Megatron: Narayanan et al. 2021, table 1, to 0.1. */
static const struct {
    const char *name;
    mt_plan_model m;
    double billions, off; /* off: by rounding */
} models[] = {
    { "GPT-2", { 50257, 50257, 1024, 12, 12, 768 }, 0.124439808, 0 },
    { "GPT-2 medium", { 50257, 50257, 1024, 24, 16, 1024 }, 0.354823168, 0 },
    { "GPT-2 large", { 50257, 50257, 1024, 36, 20, 1280 }, 0.774030080, 0 },
    { "GPT-2 XL", { 50257, 50257, 1024, 48, 25, 1600 }, 1.557611200, 0 },
    { "GPT-3", { 50257, 50257, 2048, 96, 96, 12288 }, 174.6, 0.05 },
    { "Megatron 1.7", { 51200, 51200, 2048, 24, 24, 2304 }, 1.7, 0.05 },
    { "Megatron 18.4", { 51200, 51200, 2048, 40, 48, 6144 }, 18.4, 0.05 },
    { "Megatron 145.6", { 51200, 51200, 2048, 80, 96, 12288 }, 145.6, 0.05 },
    { "Megatron 1008", { 51200, 51200, 2048, 128, 160, 25600 }, 1008, 0.1 },
};

void mg_15_published(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int i = 0; i < MT_COUNT(models); i++) {
        mg_part(run, models[i].name, NULL);
        const mt_plan_strategy s = { 1, 1, 1, 1, 1, 1, 0, MT_RECOMPUTE_NONE, MT_F32, false };
        int64_t parameters;
        if (!ask(run, "mt_plan_params", &parameters, 1, &models[i].m, &s, 0))
            return;
        double got = (double)parameters / 1e9;
        if (got < models[i].billions - models[i].off - 1e-10 || got > models[i].billions + models[i].off + 1e-10) {
            mg_fail(run, "%s: %.9f billion parameters, published are %.9g", models[i].name, got, models[i].billions);
            return;
        }
    }
}

/* FLOPs of a run, and by how much the published number differs for a known reason. */
static const struct {
    const char *name;
    mt_plan_model m;
    mt_recompute recompute;
    double tokens, flops, least, most; /* ours / theirs */
} runs[] = {
    /* 6 N + 6 L C T with all parameters, padding and positions, for N: llm.c, gpt2_estimate_mfu */
    { "llm.c's GPT-2, a token", { 50257, 50304, 1024, 12, 12, 768 }, MT_RECOMPUTE_NONE, 1, 803478528.0, 0.99, 1 },
    /* 3.14e23 = 6 N, without attention: Brown et al. 2020, table D.1; 355 V100-years of 8.83008e20 */
    { "GPT-3, 300 G tokens", { 50257, 50257, 2048, 96, 96, 12288 }, MT_RECOMPUTE_NONE, 300e9, 3.14e23, 1, 1.02 },
    { "355 V100-years", { 50257, 50257, 2048, 96, 96, 12288 }, MT_RECOMPUTE_NONE, 300e9, 355 * 8.83008e20, 1, 1.02 },
    /* 96 B s l h^2 (1 + s / 6 h + V / 16 l h), all recomputed, attention without its mask: Narayanan et al. 2021 */
    { "Megatron's 145.6 B, a token",
      { 51200, 51200, 2048, 80, 96, 12288 },
      MT_RECOMPUTE_BLOCK,
      1,
      96 * 80 * 12288.0 * 12288 * (1 + 2048 / (6 * 12288.0) + 51200 / (16 * 80 * 12288.0)),
      0.98,
      1 },
};

void mg_15_published_work(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int i = 0; i < MT_COUNT(runs); i++) {
        const mt_plan_strategy s = { 1, 1, 1, 1, runs[i].m.block, 1, 0, runs[i].recompute, MT_F32, false };
        mt_plan_cost got;
        mg_part(run, runs[i].name, NULL);
        if (!ask(run, "mt_plan_flops", &got, MG_PLAN_COST, &runs[i].m, &s, 0))
            return;
        double is = (double)(got.forward + got.backward + got.again) / (double)s.time * runs[i].tokens;
        if (is < runs[i].least * runs[i].flops || is > runs[i].most * runs[i].flops) {
            mg_fail(run, "%s: %.4g FLOPs, published are %.4g; expected is %.2f to %.2f of that", runs[i].name, is,
                    runs[i].flops, runs[i].least, runs[i].most);
            return;
        }
    }
}

/* ---- against the real framework -------------------------------------------------------------------------------- */

/* State, and what forward keeps, to the byte; the peak to 2.5 %. */
static bool check_step(mg_run *run, const mt_plan_model *m, const mt_plan_strategy *s)
{
    int64_t is[3];
    mt_plan_cost cost;
    if (!ask(run, "a measured step", is, 3, m, s, 0) || !ask(run, "mt_plan_cost_of", &cost, MG_PLAN_COST, m, s, 0))
        return false;
    double ratio = (double)cost.peak / (double)is[2];
    if (cost.parameters + cost.optimizer == is[0] && cost.activations + cost.copies == is[1] && ratio > 0.975 &&
        ratio < 1.025)
        return true;
    return mg_fail(run,
                   "%s\nplanned state %" PRId64 ", kept %" PRId64 ", peak %" PRId64 "; measured %" PRId64 ", %" PRId64
                   ", %" PRId64 " (peak: within 2.5 %%)",
                   words(m, s, 0), cost.parameters + cost.optimizer, cost.activations + cost.copies, cost.peak, is[0],
                   is[1], is[2]);
}

static bool check_wire(mg_run *run, const mt_plan_model *m, const mt_plan_strategy *s)
{
    int64_t ranks = s->dp * s->pp * s->tp, is[3 * 16];
    mt_plan_cost cost = { 0 };
    if (!ask(run, "measured messages", is, 3 * ranks, m, s, 0))
        return false;
    for (int64_t rank = 0; rank < ranks; rank++) {
        int64_t stage = rank / s->tp / s->dp, *sent = is + 3 * rank;
        if (rank % (s->tp * s->dp) == 0 && !ask(run, "mt_plan_wire", &cost, MG_PLAN_COST, m, s, stage))
            return false;
        bool right = s->zero == 3 ? sent[0] <= cost.data && 4 * sent[0] > 3 * cost.data : sent[0] == cost.data;
        if (right && sent[1] == cost.pipe && sent[2] == cost.tensor)
            continue;
        return mg_fail(run,
                       "%s\nrank %" PRId64 ": planned data %" PRId64 ", pipe %" PRId64 ", tensor %" PRId64
                       " bytes; it sent %" PRId64 ", %" PRId64 ", %" PRId64 "%s",
                       words(m, s, stage), rank, cost.data, cost.pipe, cost.tensor, sent[0], sent[1], sent[2],
                       s->zero == 3 ? " (data: planned at most)" : "");
    }
    return true;
}

static void step_rows(mg_run *run, mt_dtype dtype)
{
    mt_rng *rng = mg_rng(run);
    for (int k = 0; k < 3; k++) {
        const mt_plan_model m = { 65, 0, 32, 4, 4, 64 }, wide = { 3000, 0, 16, 2, 2, 32 };
        mt_plan_strategy s = { 1, 1, 1, mg_pick(rng, 11, 13), 32, 1 + k % 2, 0, (mt_recompute)k, dtype, false };
        if (!check_step(run, &m, &s))
            return;
        s.samples = 4, s.time = 16;
        if (!check_step(run, &wide, &s))
            return;
    }
}

void mg_15_measured(mg_run *run, const void *one_case)
{
    measured_about about = ((const measured_case *)one_case)->about;
    const mt_plan_model m = { 60, 64, 32, 4, 4, 32 };
    if (about == MEASURED_STEP || about == MEASURED_HALF) {
        step_rows(run, about == MEASURED_HALF ? MT_BF16 : MT_F32);
    } else if (about == MEASURED_DATA) {
        for (int64_t zero = 0; zero <= 3; zero++)
            for (int64_t dp = 2; dp <= 4; dp += 2) {
                const mt_plan_strategy s = { dp, 1, 1, 2, 16, 1 + zero % 2, zero, MT_RECOMPUTE_NONE, MT_F32, false };
                if (!check_wire(run, &m, &s))
                    return;
            }
    } else {
        for (int k = 0; k < 3; k++) {
            mt_plan_strategy s = { 1, 1, 1, 2, 16, 1 + k, 0, (mt_recompute)k, MT_F32, false };
            s.pp = about == MEASURED_PIPE ? 2 + k : about == MEASURED_ALL ? 2 : 1;
            s.tp = about == MEASURED_PIPE ? 1 : about == MEASURED_ALL ? 2 : 2 + k % 2 * 2;
            s.dp = about == MEASURED_ALL ? 2 : 1;
            if (!check_wire(run, &m, &s))
                return;
        }
    }
}
