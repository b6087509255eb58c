/* 15-oracle.c -- see 15-oracle.h. A layer is a list of matrices and of arrays; each line says on how many ranks it is
 * divided. */
#include "checks/15-oracle.h"

#include <math.h>

typedef struct stage {
    mt_plan_model m;
    mt_plan_strategy s;
    int64_t number, layers, rows;
    bool first, last;
} stage;

static stage stage_of(const mt_plan_model *model, const mt_plan_strategy *s, int64_t number)
{
    stage st = { *model, *s, number, mt_plan_layers(model, s->pp, number), 0, number == 0, number + 1 == s->pp };
    if (st.m.rows == 0)
        for (st.m.rows = 64; st.m.rows < st.m.vocabulary; st.m.rows += 64)
            ;
    st.rows = st.m.rows / s->tp + (st.m.rows % s->tp > 0);
    return st;
}

/* ---- parameters and arrays ------------------------------------------------------------------------------------- */

/* inputs and outputs in multiples of the width; which of the two is divided: its bias is, if it is the outputs. */
static const struct {
    int64_t in, out;
    bool divides_out;
} matrices[] = { { 1, 3, true }, { 1, 1, false }, { 1, 4, true }, { 4, 1, false } };

static int64_t weights_of(const stage *st)
{
    int64_t sum = 0;
    for (int i = 0; i < MT_COUNT(matrices); i++)
        sum += matrices[i].in * st->m.width * (matrices[i].out * st->m.width) / st->s.tp;
    return sum;
}

static int64_t params_of(const stage *st)
{
    int64_t C = st->m.width, n = 0;
    for (int64_t l = 0; l < st->layers; l++) {
        n += weights_of(st) + 2 * C + 2 * C; /* layernorms */
        for (int i = 0; i < MT_COUNT(matrices); i++)
            n += matrices[i].out * C / (matrices[i].divides_out ? st->s.tp : 1);
    }
    if (st->first)
        n += st->m.block * C;
    if (st->last)
        n += C + C;
    return st->first || st->last ? n + st->rows * C : n;
}

typedef enum array_kind { STREAM, NORM, INSIDE, GELU } array_kind;

static const struct {
    array_kind kind;
    int64_t numbers; /* in multiples of the width, for each token */
    bool divided;
} arrays[] = {
    { STREAM, 1, false }, { NORM, 1, false }, { INSIDE, 3, true }, { INSIDE, 1, true },
    { STREAM, 1, false }, { NORM, 1, false }, { INSIDE, 4, true }, { GELU, 4, true },
};

static int64_t kept_by(const stage *st, mt_recompute how)
{
    int64_t bytes = 4 * (st->m.heads / st->s.tp) + 4 * 4;
    if (how == MT_RECOMPUTE_BLOCK)
        return 4 * st->m.width;
    for (int i = 0; i < MT_COUNT(arrays); i++) {
        bool copied = arrays[i].kind == NORM && st->s.tp > 1; /* for the ranks; it is kept */
        bool cheap = arrays[i].kind == NORM || arrays[i].kind == GELU;
        if (how != MT_RECOMPUTE_SELECTIVE || !cheap || copied)
            bytes += arrays[i].numbers * st->m.width / (arrays[i].divided ? st->s.tp : 1) *
                     (arrays[i].kind == STREAM ? 4 : mt_dtype_size(st->s.dtype));
    }
    return bytes;
}

int64_t mg_plan_kept(const mt_plan_model *model, const mt_plan_strategy *strategy)
{
    stage st = stage_of(model, strategy, 0);
    return kept_by(&st, strategy->recompute);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static int64_t shard(int64_t n, int64_t ranks)
{
    return (n + ranks - 1) / ranks;
}

static int64_t live_of(const stage *st)
{
    int64_t behind = st->s.pp - 1 - st->number; /* stages */
    return behind + 1 < st->s.micro ? behind + 1 : st->s.micro;
}

static int64_t bucket_of(const stage *st)
{
    int64_t C = st->m.width, n = 4 * params_of(st), widest = 4 * C * C / st->s.tp;
    if ((st->first || st->last) && st->rows * C > widest)
        widest = st->rows * C;
    return n < (1 << 20) + 4 * widest ? n : (1 << 20) + 4 * widest;
}

static void add_state(mt_plan_cost *c, const stage *st)
{
    int64_t n = c->params = params_of(st), part = shard(n, st->s.dp), C = st->m.width, ends = st->first || st->last;
    int64_t stream = 4 * st->s.samples * st->s.time * C, live = live_of(st);
    c->parameters = st->s.zero == 3 ? 4 * part : 4 * n;
    c->gradients = st->s.zero < 2 ? 4 * n : st->s.micro == 1 ? 4 * part : 4 * part + 4 * n;
    c->optimizer = st->s.zero == 0 ? 8 * n : 8 * part;
    if (mt_dtype_size(st->s.dtype) < 4)
        c->copies = mt_dtype_size(st->s.dtype) * (weights_of(st) * st->layers + ends * st->rows * C);
    static const int64_t buckets[] = { 0, 1, 1, 3 };
    c->buffers = buckets[st->s.zero] * bucket_of(st);
    if (!st->last) /* results of live micro-batches, a gradient that comes */
        c->buffers += live * stream + stream;
    if (!st->first) /* an input that comes, a gradient that goes */
        c->buffers += stream + stream;
}

/* Bytes at the worst moment inside a layer, of a token, and of gradients of parameters. */
static int64_t inside(const stage *st, int64_t layer)
{
    bool half = mt_dtype_size(st->s.dtype) < 4, selective = st->s.recompute == MT_RECOMPUTE_SELECTIVE;
    bool block = st->s.recompute == MT_RECOMPUTE_BLOCK;
    int64_t C = st->m.width, hidden = 4 * C / st->s.tp, size = mt_dtype_size(st->s.dtype);
    int64_t tokens = st->s.samples * st->s.time, all = kept_by(st, MT_RECOMPUTE_NONE),
            kept = kept_by(st, st->s.recompute);
    bool whole = st->s.micro > 1 || (st->s.dp * st->s.pp * st->s.tp > 1 && st->s.zero < 2);
    int64_t per_layer = 0, later = 0;
    for (int i = 0; i < MT_COUNT(matrices); i++)
        per_layer += matrices[i].out * C / (matrices[i].divides_out ? st->s.tp : 1);
    per_layer = 4 * (per_layer + weights_of(st) + 4 * C);
    if (!whole) {
        later = st->last ? 4 * st->rows * C : 0;
        if (st->s.zero < 2)
            later += (st->layers - 1 - layer) * per_layer;
    }
    int64_t backward = 4 * C + 4 * C + 4 * hidden + 4 * hidden + 4 * hidden - size * hidden - size * hidden;
    int64_t forward = 4 * C + 4 * C;
    if (st->s.tp > 1) /* copies of two layernorms' results, this rank's part, and the sum before the bias */
        forward += (half ? 4 * C : 4 * C + 4 * C) + 4 * C + 4 * C; /* half: attention's copy has been converted */
    if (half)
        forward += 4 * (C + C) + 4 * (hidden + hidden);
    if (selective)
        backward += size * hidden;
    if (block) {
        backward += 4 * C * 3 + all - 4 * C;
        forward += 4 * (C + C) + all - kept;
    } else {
        forward += all - kept;
    }
    backward = tokens * backward + (whole ? 0 : later + per_layer);
    if (st->s.zero > 0) /* sent, of the layers behind */
        backward += mt_min(bucket_of(st), (st->layers - 1 - layer) * per_layer);
    forward = tokens * forward + (block ? later : 0);
    return backward > forward ? backward : forward;
}

static void add_memory(mt_plan_cost *c, const stage *st)
{
    int64_t tokens = st->s.samples * st->s.time, C = st->m.width, size = mt_dtype_size(st->s.dtype);
    bool whole = st->s.micro > 1 || (st->s.dp * st->s.pp * st->s.tp > 1 && st->s.zero < 2), half = size < 4;
    int64_t bucket = st->s.zero > 0 ? bucket_of(st) : 0;
    int64_t there = c->parameters + c->copies + c->optimizer + c->buffers - bucket;
    int64_t kept = 0, most = whole ? bucket : bucket + bucket; /* the last one, and the gradients that it is made of */
    if (whole || st->s.zero > 1)
        there += c->gradients;
    for (int64_t l = 0; l < st->layers; l++) {
        kept += tokens * kept_by(st, st->s.recompute);
        most = mt_max(most, kept + inside(st, l));
    }
    if (st->last) {
        int64_t V = mt_min(st->rows, st->m.vocabulary), copies = half ? size : 0, table = 4 * st->rows * C;
        int64_t head = tokens * (4 * C + copies * C + 4 * C + 8), work;
        int64_t plain = tokens * V, chunked = 256 * V + tokens * C + (whole ? st->rows * C : 0);
        if (!half && st->s.tp == 1 && plain > chunked) {
            head += tokens * 4 * C + table;
            work = 4 * 256 * V + 4 * tokens;
        } else {
            head += tokens * 4 * V;
            work = tokens * (4 * C + copies * V) + (whole ? 0 : table);
        }
        kept += head;
        most = mt_max(most, kept + work);
    }
    c->activations = live_of(st) * kept;
    c->peak = there + mt_max(most, kept) + (live_of(st) - 1) * kept;
}

/* ---- arithmetic, messages -------------------------------------------------------------------------------------- */

static void add_flops(mt_plan_cost *c, const stage *st)
{
    int64_t C = st->m.width, T = st->s.time, tokens = st->s.micro * st->s.samples * T;
    int64_t products = 0, pairs = st->s.micro * st->s.samples * (T * (T + 1) / 2), attention = 0, elements = 0;
    for (int64_t l = 0; l < st->layers; l++) {
        products += 2 * weights_of(st) * tokens;
        attention += 2 * (2 * (C / st->s.tp)) * pairs; /* scores, and weighted sums */
    }
    elements = 8 * C + 8 * C + 20 * (4 * C / st->s.tp);
    if (st->s.recompute == MT_RECOMPUTE_SELECTIVE)
        c->again = st->layers * tokens * (st->s.tp > 1 ? elements - 16 * C : elements);
    else if (st->s.recompute == MT_RECOMPUTE_BLOCK)
        c->again = st->layers * tokens * elements + products + attention;
    if (st->last)
        products += 2 * mt_min(st->rows, st->m.vocabulary) * C * tokens;
    c->forward = products + attention;
    c->backward = 2 * products + 2 * attention;
    c->attention = attention + 2 * attention;
}

static void add_wire(mt_plan_cost *c, const stage *st)
{
    int64_t dp = st->s.dp, tp = st->s.tp, stream = st->s.samples * st->s.time * st->m.width;
    int64_t tokens = st->s.samples * st->s.time, once = 4 * (dp - 1) * shard(params_of(st), dp);
    c->data = once + once;
    for (int64_t m = 0; st->s.zero == 3 && m < st->s.micro; m++)
        c->data += m == 0 ? once : 2 * once;
    if (!st->last)
        c->pipe += 4 * st->s.micro * stream;
    if (!st->first)
        c->pipe += 4 * st->s.micro * stream;
    if (st->first != st->last)
        c->pipe += 4 * st->rows * st->m.width;
    for (int64_t m = 0; tp > 1 && m < st->s.micro; m++) {
        int64_t sums = 4 * st->layers + st->first + st->last;
        if (st->s.recompute == MT_RECOMPUTE_BLOCK)
            sums += 2 * st->layers;
        c->tensor += sums * 8 * (tp - 1) * shard(stream, tp);
        c->tensor_calls += sums;
        if (st->last) {
            c->tensor += 8 * (tp - 1) * (shard(tokens, tp) + shard(2 * tokens, tp));
            c->tensor_calls += 2;
        }
    }
}

mt_plan_cost mg_plan_cost(const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t number)
{
    stage st = stage_of(model, strategy, number);
    mt_plan_cost c = { 0 };
    add_state(&c, &st);
    add_memory(&c, &st);
    add_flops(&c, &st);
    add_wire(&c, &st);
    return c;
}

/* ---- time ------------------------------------------------------------------------------------------------------ */

static double nominal_of(const mt_plan_problem *p)
{
    return p->dtype == MT_F32 ? p->device.single : p->device.half;
}

double mg_plan_stage_seconds(const mt_plan_problem *p, const mt_plan_strategy *s, const mt_plan_cost *c, int64_t layers)
{
    const mt_plan_device *d = &p->device;
    double flops = (double)c->forward + (double)c->backward + (double)c->again, m = (double)s->micro;
    bool tensor_inside = s->tp <= d->machine, all_inside = s->dp * s->tp * s->pp <= d->machine;
    return flops / m / (nominal_of(p) * p->efficiency) + (double)layers * p->overhead +
           (double)c->tensor / m / (tensor_inside ? d->link : d->network) +
           (double)c->pipe / m / (all_inside ? d->link : d->network) +
           (double)c->tensor_calls / m * (double)(s->tp - 1) * 2 * d->latency;
}

double mg_plan_data_seconds(const mt_plan_problem *p, const mt_plan_strategy *s, const mt_plan_cost *c, double busy)
{
    double takes = (double)c->data / (s->dp * s->tp <= p->device.machine ? p->device.link : p->device.network);
    double hidden = s->pp > 1 ? 0 : 2 * busy / 3;
    return takes > hidden ? takes - hidden : 0;
}

mt_plan_estimate mg_plan_estimate(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    mt_plan_estimate e = { 0 };
    double slowest = 0, flops = 0, again = 0, n = (double)(s->dp * s->pp * s->tp);
    for (int64_t k = 0; k < s->pp; k++) {
        mt_plan_cost c = mg_plan_cost(&p->model, s, k);
        double t = mg_plan_stage_seconds(p, s, &c, mt_plan_layers(&p->model, s->pp, k));
        slowest = fmax(slowest, t);
        e.data = fmax(e.data, mg_plan_data_seconds(p, s, &c, t));
        e.peak = mt_max(e.peak, c.peak);
        flops += (double)(s->dp * s->tp) * (double)(c.forward + c.backward);
        again += (double)(s->dp * s->tp) * (double)c.again;
    }
    e.busy = slowest * (double)s->micro;
    e.bubble = slowest * (double)(s->pp - 1);
    e.step = slowest * (double)(s->micro + s->pp - 1) + e.data;
    double seconds = ceil(p->tokens / ((double)p->batch * (double)p->time)) * e.step;
    e.days = seconds / (24 * 60 * 60);
    e.dollars = n * seconds / (60 * 60) * p->device.dollars;
    e.mfu = flops / (e.step * n * nominal_of(p));
    e.hfu = (flops + again) / (e.step * n * nominal_of(p));
    return e;
}
