/* 09-autocast.c -- how the checks of steps 09.4 and 09.5 run: the types that the policy chooses, those in a network,
 * and conversions of parameters, which are counted and compared with a model of the kept copies.
 * Rows: 09-mixed-precision.c. */
#include "checks/09-training.h"
#include "checks/fill.h"
#include "worker/copies.h"

#include <stdio.h>
#include <string.h>

static const mt_dtype floats[] = { MT_F32, MT_F16, MT_BF16 }, halves[] = { MT_BF16, MT_F16 };

/* ---- policy ------------------------------------------------------------------------------------------ */

void mg_09_policy(mg_run *run, const void *one_case)
{
    enum { TYPES = MT_COUNT(floats), N = TYPES * TYPES };
    static const char *const kinds[] = { "a product", "an elementwise op", "a reduction" };
    mt_op_kind kind = ((const policy_case *)one_case)->kind;
    int order[N];
    for (int i = 0; i < N; i++) {
        int j = (int)mt_rng_below(mg_rng(run), i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    mg_begin(run, "mt_autocast_dtype");
    mg_out(run, "answer", MT_I64, MT_SHAPE(N));
    int64_t *chosen = mg_in(run, "chosen", MT_I64, MT_SHAPE(N)), *of = mg_in(run, "kind", MT_I64, MT_SHAPE(N));
    int64_t *input = mg_in(run, "input", MT_I64, MT_SHAPE(N));
    for (int i = 0; i < N; i++) {
        chosen[i] = floats[order[i] % TYPES];
        input[i] = floats[order[i] / TYPES];
        of[i] = kind;
    }
    if (!mg_call(run))
        return;
    const int64_t *answer = mg_result(run, "answer");
    for (int i = 0; i < N; i++) {
        int64_t want = kind == MT_OP_MATMUL ? chosen[i] : kind == MT_OP_REDUCTION ? MT_F32 : input[i];
        bool known = answer[i] >= 0 && answer[i] < MT_DTYPE_COUNT;
        if (answer[i] != want)
            mg_fail(run, "mt_autocast_begin(%s), %s of %s: the answer is %s, expected %s",
                    mt_dtype_name((mt_dtype)chosen[i]), kinds[kind], mt_dtype_name((mt_dtype)input[i]),
                    known ? mt_dtype_name((mt_dtype)answer[i]) : "no type", mt_dtype_name((mt_dtype)want));
    }
}

/* For each op: its result, then what it saves for backward. HALF: the chosen type; KEPT: that with the unit's keeper,
 * else f32. */
enum { HALF = 100, KEPT };
static const struct {
    const char *name;
    int64_t type[MG_NET_COLUMNS];
} net[MG_NET_OPS] = {
    { "linear", { MT_F32, HALF, HALF, MG_NET_NONE, MG_NET_NONE } },      /* x, w */
    { "relu", { MT_F32, KEPT, MG_NET_NONE, MG_NET_NONE, MG_NET_NONE } }, /* its result */
    { "layernorm", { MT_F32, MT_F32, MT_F32, MT_F32, MT_F32 } },         /* x, gamma, mean, rstd */
    { "matmul", { MT_F32, HALF, HALF, MG_NET_NONE, MG_NET_NONE } },      /* both operands */
    { "softmax", { MT_F32, MT_F32, MG_NET_NONE, MG_NET_NONE, MG_NET_NONE } },
    { "mul", { MT_F32, KEPT, KEPT, MG_NET_NONE, MG_NET_NONE } },
    { "classifier", { MT_F32, HALF, HALF, MT_F32, MT_I32 } }, /* x, w, probabilities, classes */
};

static const char *type_name(int64_t type)
{
    return type >= 0 && type < MT_DTYPE_COUNT ? mt_dtype_name((mt_dtype)type) : "nothing";
}

static bool network(mg_run *run, mt_dtype dtype, bool keeper)
{
    mt_dtype kept = keeper ? dtype : MT_F32;
    mg_begin(run, "ops under autocast");
    mg_out(run, "types", MT_I64, MT_SHAPE(MG_NET_OPS, MG_NET_COLUMNS));
    mg_i64(run, "type", dtype);
    mg_i64(run, "N", mg_pick(mg_rng(run), 2, 9));
    mg_i64(run, "C", dtype == MT_BF16 ? 2 : mg_pick(mg_rng(run), 3, 9)); /* 2: the shortest rows that are kept */
    mg_i64(run, "keeper", keeper);
    if (!mg_call(run))
        return false;
    const int64_t *got = mg_result(run, "types");
    for (int i = 0; i < MG_NET_OPS; i++)
        for (int k = 0; k < MG_NET_COLUMNS; k++) {
            int64_t type = got[i * MG_NET_COLUMNS + k], want = net[i].type[k];
            want = want == HALF ? dtype : want == KEPT ? kept : want;
            if (type == want)
                continue;
            if (k == 0)
                mg_fail(run, "under %s the result of %s is %s, expected %s", mt_dtype_name(dtype), net[i].name,
                        type_name(type), type_name(want));
            else
                mg_fail(run, "under %s tensor %d that %s saves is %s, expected %s", mt_dtype_name(dtype), k,
                        net[i].name, type_name(type), type_name(want));
            return false;
        }
    return true;
}

void mg_09_network(mg_run *run, const void *one_case)
{
    bool keeper = ((const network_case *)one_case)->keeper;
    if (network(run, MT_BF16, keeper) && network(run, MT_F16, keeper))
        network(run, MT_F32, keeper);
}

/* ---- kept copies ----------------------------------------------------------------------------------------- */

/* What happens, and the contents that each tensor gets, first and with each MG_WRITE. */
typedef struct script {
    int64_t kind[MG_COPIES_TENSORS], event[MG_COPIES_MOST][MG_COPIES_COLUMNS];
    int tensors, count;
    int64_t S;
    float *contents; /* [tensors + count, S] */
} script;

static int tensor(script *s, int64_t kind)
{
    s->kind[s->tensors] = kind;
    return s->tensors++;
}

static void add(script *s, int64_t what, int which, mt_dtype type)
{
    MT_CHECK(s->count < MG_COPIES_MOST, "more than %d events", MG_COPIES_MOST);
    memcpy(s->event[s->count++], (int64_t[]){ what, which, type }, sizeof s->event[0]);
}

/* Magnitudes within the normal numbers of f16. */
static void send(mg_run *run, script *s)
{
    int64_t all = (s->tensors + s->count) * s->S;
    mg_begin(run, "mt_autocast_operand");
    mg_out(run, "types", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "conversions", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "values", MT_F32, MT_SHAPE(s->count, s->S));
    mg_out(run, "left", MT_I64, MT_SHAPE(1));
    memcpy(mg_in(run, "events", MT_I64, MT_SHAPE(s->count, MG_COPIES_COLUMNS)), s->event,
           (size_t)s->count * sizeof s->event[0]);
    memcpy(mg_in(run, "kinds", MT_I64, MT_SHAPE(s->tensors)), s->kind, (size_t)s->tensors * sizeof s->kind[0]);
    s->contents = mg_in(run, "contents", MT_F32, MT_SHAPE(s->tensors + s->count, s->S));
    mg_fill(mg_rng(run), s->contents, all, (mg_dist)MIXED(-13, 14));
}

/* A tensor as the contract says: its contents, whether a copy of which type is current, whether it was written since it
 * was read, and how it is read, in words. */
typedef struct model {
    const float *contents;
    bool current, written;
    int64_t type;
    const char *read;
} model;

static double rounded(float x, mt_dtype dtype)
{
    return dtype == MT_F16 ? mt_f16_to_f32(mt_f16_from_f32(x)) : mt_bf16_to_f32(mt_bf16_from_f32(x));
}

static void note_write(model *m)
{
    m->current = false, m->written = true;
}

/* One event on the model; returns how many conversions it needs. */
static int64_t follow(const script *s, int i, model *models)
{
    int64_t which = s->event[i][1], type = s->event[i][2];
    model *m = &models[which];
    if (s->event[i][0] == MG_WRITE) {
        m->contents = s->contents + (s->tensors + i) * s->S;
        note_write(m);
        if (s->kind[which] == MG_NEIGHBOUR) /* they have one version */
            note_write(m - 1);
        if (which + 1 < s->tensors && s->kind[which + 1] == MG_NEIGHBOUR)
            note_write(m + 1);
        return 0;
    }
    const bool found = m->current && m->type == type;
    m->read = m->written             ? "after a write"
              : !m->read             ? "for the first time"
              : m->current && !found ? "in another type"
                                     : "once more";
    m->current = s->kind[which] != MG_DATA, m->written = false;
    m->type = type;
    return !found;
}

static bool judge_event(mg_run *run, const script *s, int i, const model *m, int64_t converted)
{
    static const struct {
        const char *name, *hint;
    } kinds[] = {
        { "a parameter", NULL },
        { "a parameter behind another one in memory", "the two have one version, and a copy each, in t->cast" },
        { "data", "data keeps no copy: it is converted each time" },
        { "an activation", "an activation wants a gradient: it keeps its copy" },
    };
    const int64_t *types = mg_result(run, "types"), *conversions = mg_result(run, "conversions");
    const float *values = mg_result(run, "values");
    const int64_t which = s->event[i][1], kind = s->kind[which];
    const mt_dtype dtype = (mt_dtype)s->event[i][2];
    char part[100];
    snprintf(part, sizeof part, "%s, read %s", kinds[kind].name, m[which].read);
    mg_part(run, part, kinds[kind].hint ? "%s" : NULL, kinds[kind].hint);
    if (types[i] != dtype)
        return mg_fail(run, "event %d of %d, tensor %lld: the copy is %s, expected %s", i, s->count, (long long)which,
                       type_name(types[i]), mt_dtype_name(dtype));
    for (int64_t k = 0; k < s->S; k++)
        if (values[i * s->S + k] != rounded(m[which].contents[k], dtype))
            return mg_fail(run, "event %d of %d, tensor %lld: element %lld of its %s copy is %g, expected %g", i,
                           s->count, (long long)which, (long long)k, mt_dtype_name(dtype), values[i * s->S + k],
                           rounded(m[which].contents[k], dtype));
    return conversions[i] == converted ||
           mg_fail(run, "event %d of %d, tensor %lld, into %s: %lld conversions so far, expected %lld", i, s->count,
                   (long long)which, mt_dtype_name(dtype), (long long)conversions[i], (long long)converted);
}

static bool play(mg_run *run, script *s)
{
    model m[MG_COPIES_TENSORS] = { 0 };
    int64_t converted = 0;
    mg_part(run, NULL, NULL);
    send(run, s);
    if (!mg_call(run))
        return false;
    for (int t = 0; t < s->tensors; t++)
        m[t].contents = s->contents + t * s->S;
    for (int i = 0; i < s->count; i++) {
        converted += follow(s, i, m);
        if (s->event[i][0] == MG_COPY && !judge_event(run, s, i, m, converted))
            return false;
    }
    const int64_t *left = mg_result(run, "left");
    mg_part(
        run, "all events together",
        "a copy belongs to the scope, and mt_tensor_keep_cast takes a reference of its own: mt_retain adds one that "
        "nobody gives back");
    return !*left || mg_fail(run, "%lld bytes of copies are never freed, %d tensors of %lld elements", (long long)*left,
                             s->tensors, (long long)s->S);
}

/* ---- rows: a script each ------------------------------------------------------------------------------ */

static void values(script *s, mt_rng *rng, mt_dtype type)
{
    for (int i = 0; i < 4; i++)
        add(s, MG_COPY, tensor(s, (int64_t[]){ MG_PARAMETER, MG_DATA, MG_ACTIVATION }[mt_rng_below(rng, 3)]), type);
}

static void once(script *s, mt_rng *rng, mt_dtype type)
{
    int w = tensor(s, MG_PARAMETER);
    for (int64_t i = mg_pick(rng, 3, 8); i > 0; i--)
        add(s, MG_COPY, w, type);
}

/* Writes several times in a row, too. */
static void written(script *s, mt_rng *rng, mt_dtype type)
{
    int w = tensor(s, MG_PARAMETER);
    for (int step = 0; step < 4; step++) {
        for (int64_t i = mg_pick(rng, 1, 3); i > 0; i--)
            add(s, MG_COPY, w, type);
        for (int64_t i = mg_pick(rng, 1, 3); i > 0; i--)
            add(s, MG_WRITE, w, type);
    }
    add(s, MG_COPY, w, type);
}

static void other_type(script *s, mt_rng *rng, mt_dtype type)
{
    int w = tensor(s, MG_PARAMETER);
    for (int step = 0; step < 6; step++, type = type == MT_F16 ? MT_BF16 : MT_F16)
        for (int64_t i = mg_pick(rng, 1, 3); i > 0; i--)
            add(s, MG_COPY, w, type);
}

static void activations(script *s, mt_rng *rng, mt_dtype type)
{
    int x = tensor(s, MG_DATA), w = tensor(s, MG_PARAMETER), y = tensor(s, MG_ACTIVATION);
    for (int64_t i = mg_pick(rng, 2, 5); i > 0; i--) {
        add(s, MG_COPY, x, type);
        add(s, MG_COPY, w, type);
        add(s, MG_COPY, y, type);
    }
}

static void several(script *s, mt_rng *rng, mt_dtype type)
{
    tensor(s, MG_PARAMETER), tensor(s, MG_NEIGHBOUR), tensor(s, MG_PARAMETER), tensor(s, MG_PARAMETER);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 2 * s->tensors; i++)
            add(s, MG_COPY, i % s->tensors, type);
        add(s, MG_WRITE, (int)mt_rng_below(rng, s->tensors), type);
    }
    for (int i = 0; i < s->tensors; i++)
        add(s, MG_COPY, i, type);
}

static void any_order(script *s, mt_rng *rng, mt_dtype type)
{
    (void)type;
    tensor(s, mt_rng_below(rng, 2) ? MG_DATA : MG_ACTIVATION), tensor(s, MG_PARAMETER);
    tensor(s, MG_PARAMETER), tensor(s, MG_NEIGHBOUR);
    while (s->count < MG_COPIES_MOST)
        add(s, mt_rng_below(rng, 4) ? MG_COPY : MG_WRITE, (int)mt_rng_below(rng, s->tensors),
            halves[mt_rng_below(rng, 4) == 0]);
}

void mg_09_copies(mg_run *run, const void *one_case)
{
    static void (*const scripts[])(script *, mt_rng *, mt_dtype) = {
        [COPIES_VALUES] = values,           [COPIES_ONCE] = once,
        [COPIES_WRITTEN] = written,         [COPIES_OTHER_TYPE] = other_type,
        [COPIES_ACTIVATIONS] = activations, [COPIES_SEVERAL] = several,
        [COPIES_RANDOM] = any_order,
    };
    bool good = true;
    for (int i = 0; i < 6 && good; i++) {
        script s = { .S = mg_pick_size(mg_rng(run), 1, 300) };
        scripts[((const copies_case *)one_case)->about](&s, mg_rng(run), halves[i % 2]);
        good = play(run, &s);
    }
}
