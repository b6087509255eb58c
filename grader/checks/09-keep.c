/* 09-keep.c -- how the checks of step 09.9 run: single tensors, saved by a node in every circumstance, whose type,
 * bytes, conversions and restored values are known exactly; and the bytes that the tape of a GPT-2 holds.
 * Rows: 09-mixed-precision.c. */
#include "checks/09-training.h"
#include "checks/fill.h"
#include "worker/copies.h"

#include <stdio.h>
#include <string.h>

typedef struct script {
    int64_t event[MG_SAVE_MOST][MG_SAVE_COLUMNS];
    int count;
    int64_t R, C, rank;    /* of [R,C], [R,1,C], [R,1,1,C] */
    const float *contents; /* [count, 2, R C]: at first, and after a write */
} script;

static void add(script *s, int64_t kind, int64_t outer, int64_t inner, int64_t what)
{
    MT_CHECK(s->count < MG_SAVE_MOST, "more than %d events", MG_SAVE_MOST);
    memcpy(s->event[s->count++], (int64_t[]){ kind, outer, inner, what }, sizeof s->event[0]);
}

/* ---- what must come of an event -------------------------------------------------------------------------- */

static bool is_half(int64_t type)
{
    return type == MT_F16 || type == MT_BF16;
}

/* The type in which the tensor is kept when it is saved for the first time. */
static int64_t kept_type(const int64_t *event)
{
    int64_t now = event[2] == MG_NET_NONE ? event[1] : event[2];
    bool activation = event[0] == MG_SAVE_RESULT || event[0] == MG_SAVE_CUBE;
    return event[0] == MG_SAVE_IDS ? MT_I32 : activation && is_half(now) ? now : MT_F32;
}

/* When the inner autocast has ended it is saved once more; both copies are kept, each in its type. */
static int64_t last_type(const int64_t *event)
{
    return event[3] == MG_INNER_ENDED && event[1] != event[2] && kept_type(event) != MT_I32 &&
                   (event[0] == MG_SAVE_RESULT || event[0] == MG_SAVE_CUBE)
               ? event[1]
               : kept_type(event);
}

static int64_t bytes_of(const int64_t *event, int64_t S)
{
    int64_t first = kept_type(event), last = last_type(event);
    if (event[0] == MG_SAVE_PARAMETER)
        return 0; /* it is there anyway */
    return S * (mt_dtype_size((mt_dtype)first) + (last != first ? mt_dtype_size((mt_dtype)last) : 0));
}

static int64_t conversions_of(const int64_t *event)
{
    int64_t first = kept_type(event), last = last_type(event);
    return is_half(first) + (event[3] == MG_WRITTEN_BEFORE || event[3] == MG_WRITTEN_BETWEEN) +
           (last != first && is_half(last));
}

static float expected(const int64_t *event, const float *contents, int64_t S, int64_t i)
{
    float x = contents[event[3] == MG_WRITTEN_BEFORE ? S + i : i];
    int64_t type = kept_type(event);
    return type == MT_I32    ? (float)(int32_t)x
           : type == MT_F16  ? mt_f16_to_f32(mt_f16_from_f32(x))
           : type == MT_BF16 ? mt_bf16_to_f32(mt_bf16_from_f32(x))
                             : x;
}

/* ---- a call ------------------------------------------------------------------------------------------------ */

/* The hint of an event is that of what happens to it, or of its kind, or the row's. */
typedef struct words {
    const char *text, *hint;
} words;
static const words kinds[] = {
    { "a result", NULL },
    { "a result [R,1,1,1,C], half of a longer one",
      "keep every activation, of any rank, wherever it begins in memory" },
    { "a column, [R C,1] or [R,C,1]", "one number in a row is a mean or rstd: it stays as it is" },
    { "a vector [R C]", "what has fewer than two dimensions stays as it is" },
    { "a transposed view", "what is not contiguous stays as it is" },
    { "a parameter", "what has no history (t->node) stays as it is, even if it wants a gradient" },
    { "data", "what has no history (t->node) stays as it is" },
    { "integers", "integers have no history, and stay as they are" },
};
static const words whats[] = {
    { "", NULL },
    { ", saved by two ops", "the second op gets the copy that the first one has made" },
    { ", whose copy a product keeps", "the copy of a product is current: mt_autocast_operand returns it" },
    { ", which a product reads and keeps afterwards", "a product behind this node finds the copy that you have made" },
    { ", written after a product has read it", "a copy of what was there before is not current" },
    { ", written, then read by a product", "the copy that the node keeps stays as it is" },
    { ", written afterwards", "the copy that the node keeps stays as it is" },
    { ", saved again when the inner autocast has ended", "each copy has the type that it was saved in" },
};

/* What follows is about this event. */
static void name_part(mg_run *run, const script *s, const int64_t *event)
{
    static const char *const shapes[] = { " [R,C]", " [R,1,C]", " [R,1,1,C]" };
    const bool plain = event[0] == MG_SAVE_RESULT || event[0] >= MG_SAVE_PARAMETER, nested = event[2] != MG_NET_NONE;
    const char *hint = whats[event[3]].hint ? whats[event[3]].hint : kinds[event[0]].hint;
    char text[160];
    snprintf(text, sizeof text, "%s%s under %s%s%s%s", kinds[event[0]].text, plain ? shapes[s->rank - 2] : "",
             mt_dtype_name((mt_dtype)event[1]), nested ? " and in it " : "",
             nested ? mt_dtype_name((mt_dtype)event[2]) : "", whats[event[3]].text);
    mg_part(run, text, hint ? "%s" : NULL, hint);
}

static const char *type_name(int64_t type)
{
    return type >= 0 && type < MT_DTYPE_COUNT ? mt_dtype_name((mt_dtype)type) : "nothing";
}

static mt_shape shape_of(const script *s, int64_t kind)
{
    int64_t R = s->R, C = s->C;
    return kind == MG_SAVE_CUBE     ? MT_SHAPE(R, 1, 1, 1, C)
           : kind == MG_SAVE_COLUMN ? R % 2 ? MT_SHAPE(R, C, 1) : MT_SHAPE(R * C, 1)
           : kind == MG_SAVE_VECTOR ? MT_SHAPE(R * C)
           : kind == MG_SAVE_VIEW   ? MT_SHAPE(C, R)
           : s->rank == 2           ? MT_SHAPE(R, C)
           : s->rank == 3           ? MT_SHAPE(R, 1, C)
                                    : MT_SHAPE(R, 1, 1, C);
}

static bool judge_types(mg_run *run, const script *s, int i)
{
    const int64_t *got = (const int64_t *)mg_result(run, "types") + 5 * i, *event = s->event[i];
    int64_t restored = event[0] == MG_SAVE_IDS ? MT_I32 : MT_F32, S = s->R * s->C;
    mt_shape shape = shape_of(s, event[0]);
    int64_t last = shape.dim[shape.rank - 1];
    if (got[0] != last_type(event))
        return mg_fail(run, "R = %lld, C = %lld: kept as %s, expected %s", (long long)s->R, (long long)s->C,
                       type_name(got[0]), type_name(last_type(event)));
    if (got[1] != restored || got[2] != S || got[3] != last)
        return mg_fail(run, "what comes back is %s, %lld elements in rows of %lld, expected %s, %lld in %lld",
                       type_name(got[1]), (long long)got[2], (long long)got[3], type_name(restored), (long long)S,
                       (long long)last);
    if (got[4] != mg_shape_code(shape))
        return mg_fail(run, "what comes back has as many elements, but another shape");
    return true;
}

static bool judge(mg_run *run, const script *s, int i)
{
    const int64_t *event = s->event[i], S = s->R * s->C;
    const float *values = (const float *)mg_result(run, "values") + i * S;
    int64_t bytes = ((const int64_t *)mg_result(run, "bytes"))[i];
    int64_t conversions = ((const int64_t *)mg_result(run, "conversions"))[i];
    name_part(run, s, event);
    if (!judge_types(run, s, i))
        return false;
    for (int64_t k = 0; k < S; k++)
        if (values[k] != expected(event, s->contents + 2 * i * S, S, k))
            return mg_fail(run, "element %lld comes back as %g, expected %g", (long long)k, values[k],
                           expected(event, s->contents + 2 * i * S, S, k));
    if (bytes != bytes_of(event, S))
        return mg_fail(run, "%lld elements: %lld bytes are kept for backward, expected %lld", (long long)S,
                       (long long)bytes, (long long)bytes_of(event, S));
    if (conversions != conversions_of(event))
        return mg_fail(run, "%lld conversions, expected %lld", (long long)conversions,
                       (long long)conversions_of(event));
    return true;
}

static bool play(mg_run *run, script *s)
{
    int64_t S = s->R * s->C;
    mg_begin(run, "mt_autocast_save");
    mg_out(run, "types", MT_I64, MT_SHAPE(s->count, 5));
    mg_out(run, "bytes", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "conversions", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "values", MT_F32, MT_SHAPE(s->count, S));
    mg_out(run, "left", MT_I64, MT_SHAPE(1));
    memcpy(mg_in(run, "events", MT_I64, MT_SHAPE(s->count, MG_SAVE_COLUMNS)), s->event,
           (size_t)s->count * sizeof s->event[0]);
    float *contents = mg_in(run, "contents", MT_F32, MT_SHAPE(s->count, 2, S));
    mg_fill(mg_rng(run), contents, 2 * s->count * S, (mg_dist)MIXED(-13, 14)); /* normal numbers of f16 */
    s->contents = contents;
    mg_part(run, NULL, NULL);
    mg_i64(run, "C", s->C);
    mg_i64(run, "rank", s->rank);
    if (!mg_call(run))
        return false;
    for (int i = 0; i < s->count; i++)
        if (!judge(run, s, i))
            return false;
    const int64_t *left = mg_result(run, "left");
    mg_part(
        run, "all events together",
        "what restore returns belongs to the scope and has one reference; only saved->tensor needs another one, the "
        "node's: mt_retain once");
    return !*left || mg_fail(run, "%lld bytes of what was kept are never freed, %d events of %lld elements",
                             (long long)*left, s->count, (long long)S);
}

/* ---- rows: a script each ----------------------------------------------------------------------------- */

static void values(script *s, mt_rng *rng)
{
    (void)rng;
    for (int i = 0; i < 4; i++)
        add(s, i < 2 ? MG_SAVE_RESULT : MG_SAVE_CUBE, i % 2 ? MT_F16 : MT_BF16, MG_NET_NONE, MG_SAVED);
}

static void others(script *s, mt_rng *rng)
{
    for (int64_t kind = MG_SAVE_COLUMN; kind <= MG_SAVE_IDS; kind++)
        add(s, kind, mt_rng_below(rng, 2) ? MT_F16 : MT_BF16, MG_NET_NONE, MG_SAVED);
}

static void shared(script *s, mt_rng *rng)
{
    for (int64_t what = MG_SAVED_TWICE; what <= MG_OPERAND_SAVED; what++)
        add(s, MG_SAVE_RESULT, mt_rng_below(rng, 2) ? MT_F16 : MT_BF16, MG_NET_NONE, what);
}

static void written(script *s, mt_rng *rng)
{
    for (int64_t what = MG_WRITTEN_BEFORE; what <= MG_WRITTEN_AFTER; what++)
        add(s, MG_SAVE_RESULT, mt_rng_below(rng, 2) ? MT_F16 : MT_BF16, MG_NET_NONE, what);
}

static void policies(script *s, mt_rng *rng)
{
    static const mt_dtype types[] = { MT_F32, MT_F16, MT_BF16 };
    (void)rng;
    add(s, MG_SAVE_RESULT, MT_F32, MG_NET_NONE, MG_SAVED);
    for (int outer = 0; outer < MT_COUNT(types); outer++)
        for (int inner = 0; inner < MT_COUNT(types); inner++) {
            add(s, MG_SAVE_RESULT, types[outer], types[inner], MG_SAVED);
            add(s, MG_SAVE_RESULT, types[outer], types[inner], MG_INNER_ENDED);
        }
}

/* The unit's types only: what f32 keeps must not be written. */
static void any(script *s, mt_rng *rng)
{
    while (s->count < MG_SAVE_MOST) {
        int64_t kind = mt_rng_below(rng, MG_SAVE_IDS + 1), what = mt_rng_below(rng, MG_WRITTEN_AFTER + 1);
        kind = s->count == 0 ? MG_SAVE_RESULT : kind; /* of each rank */
        add(s, kind, mt_rng_below(rng, 2) ? MT_F16 : MT_BF16, MG_NET_NONE, kind <= MG_SAVE_CUBE ? what : MG_SAVED);
    }
}

void mg_09_keep(mg_run *run, const void *one_case)
{
    static void (*const scripts[])(script *, mt_rng *) = {
        [KEEP_VALUES] = values,   [KEEP_OTHERS] = others,   [KEEP_SHARED] = shared,
        [KEEP_WRITTEN] = written, [KEEP_POLICY] = policies, [KEEP_RANDOM] = any,
    };
    bool good = true;
    for (int i = 0; i < 5 && good; i++) {
        script s = { .R = mg_pick_size(mg_rng(run), 1, 20),
                     .rank = 2 + i % 3,
                     .C = i == 0 ? 2 : mg_pick_size(mg_rng(run), 2, 40) };
        scripts[((const keep_case *)one_case)->about](&s, mg_rng(run));
        good = play(run, &s);
    }
}

/* ---- bytes of a model ------------------------------------------------------------------------------------- */

void mg_09_kept_bytes(mg_run *run, const void *one_case)
{
    (void)one_case;
    mg_begin(run, "kept bytes under autocast");
    mg_out(run, "bytes", MT_I64, MT_SHAPE(3));
    mg_i64(run, "layers", 3);
    mg_i64(run, "width", 64);
    mg_i64(run, "T", 32);
    if (!mg_call(run))
        return;
    const int64_t *bytes = mg_result(run, "bytes");
    double ratio = (double)(bytes[1] > bytes[2] ? bytes[1] : bytes[2]) / (double)bytes[0];
    mg_note(run, "%.3f of f32's bytes (bar %.2f .. %.2f)  counted", ratio, mg_bar(run, "09.9", "low"),
            mg_bar(run, "09.9", "full"));
    mg_credit(run, "09.9", ratio);
}
