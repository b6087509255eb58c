/* 13-zero.c -- how the checks of steps 13.11, 13.12, 13.19 and 13.20 run: steps of sharded training against one rank in
 * double precision. Rows: 13-data-parallel.c. */
#include "checks/13-training.h"
#include "checks/fill.h"
#include "checks/worlds.h"
#include "rows/traffic.h"
#include "worker/hub.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define EPS 0x1p-24

enum { PARAMS = 6, FLAT = PARAMS * 80 + (1 << 16), STEPS = 2, REDUCE_SCATTER = 1, ALL_GATHER = 2 };
/* What is special in a call. The first seven are about limits of the norm, too, or where it is not finite: on 2, 3, 4
 * ranks, and 4 ranks several times; then worlds of rows that judge values, and plain steps with parts of more than 64
 * KiB. */
enum { TWO, THREE, FOUR, ABOVE, TINY, NOTHING, ORDER, ONE_RANK, ANY_RANKS, MANY_RANKS, LONG };

/* ---- steps ------------------------------------------------------------------------------------------------------ */

typedef struct script {
    const char *hint; /* of the part or the row: also for a call that crashes */
    zero_about about;
    int64_t ranks, count, flat, size[PARAMS], place[PARAMS + 1], limit, stage, samples[MG_WORLD_MOST], fails, buckets;
    int64_t bucket_end[PARAMS + 1]; /* bucket b is elements bucket_end[b + 1] .. bucket_end[b] - 1 */
    float max_norm;
    const float *before, *given;
    const int64_t *used;
    bool searched;
} script;

/* Which collective fails; -1: none. In stages 1 and 2 there are the broadcasts, the number of samples, the buckets'
 * gradients, the norms, the buckets' parameters; in stage 3 parameters are next to the number of samples. */
static int64_t fails_of(mt_rng *rng, const script *s, int64_t is)
{
    int64_t first = s->count + 1, norms = first + s->buckets;
    if (s->about == ZERO_NOT_FINITE && is > FOUR)
        return is == ABOVE ? norms : norms + mg_pick(rng, 1, s->buckets);
    if (s->about != ZERO_FAILS)
        return -1;
    if (s->stage == 3)
        return first + (is == TWO ? 0 : mg_pick(rng, 0, 2 * s->buckets));
    int64_t which[] = { first, norms - 1, MG_HUB_AT_ONCE + first };
    return which[is];
}

/* The parameters and their buckets. Returns whether some bucket has parts of different lengths. */
static bool pick_buckets(mt_rng *rng, script *s, int64_t is)
{
    bool uneven = false;
    for (int64_t i = 0; i < s->count; i++) {
        s->size[i] = s->about == ZERO_MEMORY ? 16 * s->ranks
                     : is == LONG && i == 1  ? mg_long_parts(rng, (int)s->ranks, MT_F32, 64 << 10)
                                             : mg_pick(rng, 1, 70);
        s->place[i + 1] = s->place[i] + (s->size[i] + 15) / 16 * 16;
    }
    s->flat = s->place[s->count];
    s->limit = is == TWO || is == ABOVE || is == ONE_RANK ? 16 : mg_pick(rng, 17, s->flat);
    s->bucket_end[s->buckets = 0] = s->flat;
    for (int64_t i = s->count - 1; i >= 0; i--)
        if (i == 0 || s->bucket_end[s->buckets] - s->place[i] >= s->limit) {
            uneven = uneven || (s->bucket_end[s->buckets] - s->place[i]) % s->ranks != 0;
            s->bucket_end[++s->buckets] = s->place[i];
        }
    return uneven;
}

static int world_of(mt_rng *rng, int64_t is)
{
    static const int ranks[] = { [TWO] = 2,     [THREE] = 3, [FOUR] = 4,     [ABOVE] = 2, [TINY] = 3,
                                 [NOTHING] = 4, [ORDER] = 4, [ONE_RANK] = 1, [LONG] = 2 };
    if (is == ANY_RANKS)
        return mg_world(rng, mt_rng_below(rng, 2) ? MG_WORLD_POWER : MG_WORLD_PRIME);
    return is == MANY_RANKS ? mg_world(rng, MG_WORLD_MANY) : ranks[is];
}

static script script_of(mg_run *run, zero_about about, int stage, int64_t is)
{
    static const float limits[] = { 1e30F, 1e-12F, 0 }; /* of ABOVE, TINY, NOTHING */
    mt_rng *rng = mg_rng(run);
    script s = { .about = about, .stage = stage, .fails = -1, .max_norm = INFINITY };
    s.ranks = world_of(rng, is), s.count = mg_pick(rng, 3, PARAMS);
    while (!pick_buckets(rng, &s, is) && s.ranks == 3 && about != ZERO_MEMORY) {
    } /* buckets are multiples of 16: on 2 and 4 ranks all parts have one length */
    for (int64_t r = 0; r < s.ranks; r++)
        s.samples[r] = mg_pick(rng, 1, 5);
    if (about == ZERO_CLIP) /* below the norms, but for ABOVE */
        s.max_norm = (is >= ABOVE && is <= NOTHING ? limits[is - ABOVE] : 1) * (0.25f + mt_rng_uniform(rng));
    s.fails = fails_of(rng, &s, is);
    return s;
}

static void describe(mg_run *run, script *s, zero_about about)
{
    mt_rng *rng = mg_rng(run);
    mg_begin(run, "mt_zero");
    mg_as_called(run,
                 "mt_zero_step(zero, max_norm=%g, &norm), behind mt_zero_begin and backward: stage %" PRId64
                 ", %d steps "
                 "on %" PRId64 " ranks, %" PRId64 " parameters in %" PRId64 " buckets",
                 (double)s->max_norm, s->stage, STEPS, s->ranks, s->count, s->buckets);
    mg_out(run, "results", MT_I64, MT_SHAPE(s->ranks, MG_ZERO_RESULTS));
    mg_inout(run, "rows", MT_I64, MT_SHAPE(s->ranks, MG_HUB_ROWS, MG_HUB_COLUMNS));
    float *before = mg_inout(run, "parameters", MT_F32, MT_SHAPE(s->ranks, s->flat));
    mg_inout(run, "norms", MT_I64, MT_SHAPE(s->ranks, STEPS));
    memcpy(mg_in(run, "sizes", MT_I64, MT_SHAPE(s->count)), s->size, (size_t)s->count * sizeof *s->size);
    const int64_t numbers[MG_ZERO_NUMBERS] = { 1000, 1, s->fails, 4 * s->limit, s->stage, STEPS, about == ZERO_MEMORY };
    memcpy(mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_ZERO_NUMBERS)), numbers, sizeof numbers);
    memcpy(mg_in(run, "samples", MT_I64, MT_SHAPE(s->ranks)), s->samples, (size_t)s->ranks * sizeof *s->samples);
    float *given = mg_in(run, "gradients", MT_F32, MT_SHAPE(STEPS, s->ranks, s->flat));
    int64_t *used = mg_in(run, "used", MT_I64, MT_SHAPE(STEPS, s->ranks, s->count));
    mg_f32(run, "max_norm", s->max_norm);
    mg_fill(rng, before, s->ranks * s->flat, (mg_dist)NORMAL(0, 1));
    mg_fill(rng, given, STEPS * s->ranks * s->flat, (mg_dist)NORMAL(0, 1));
    for (int64_t i = 0; i < STEPS * s->ranks * s->count; i++)
        used[i] = about != ZERO_UNUSED || i % s->count == 0 || mt_rng_below(rng, 2);
    for (int64_t i = 0; s->stage == 3 && i < STEPS * s->ranks * s->count; i++) /* as that of all ranks */
        used[i] = used[i / (s->ranks * s->count) * s->ranks * s->count + i % s->count];
    bool tiny =
        s->max_norm > 0 && s->max_norm < 1e-6F; /* a norm to which nothing may be added, and parameters that show it */
    for (int64_t i = 0; about == ZERO_CLIP && i < (tiny ? STEPS : 1) * s->ranks * s->flat; i++)
        given[i] *= tiny ? 1e-10F : 1e25F; /* squares of these overflow f32 */
    for (int64_t i = 0; tiny && i < s->ranks * s->flat; i++)
        before[i] *= 1e-10F;
    if (about == ZERO_NOT_FINITE && s->fails < 0) /* the first element of the first parameter, on one rank */
        given[mt_rng_below(rng, s->ranks) * s->flat] = mt_rng_below(rng, 2) ? INFINITY : NAN;
    s->before = before, s->given = given, s->used = used;
}

static bool call(mg_run *run, script *s, zero_about about)
{
    describe(run, s, about);
    mg_hint(run, "%s", s->hint);
    if (!mg_ranks_call(run, s->searched))
        return false;
    const int64_t *result = mg_result(run, "results");
    for (int64_t r = 0; r < s->ranks; r++, result += MG_ZERO_RESULTS)
        if (result[MG_ZERO_STATUS] != (s->fails < 0 ? MT_OK : MT_ERR_UNAVAILABLE)) {
            if (s->fails >= 0)
                mg_hint(run, "what a collective returns, or the wait for it, is the status of the step");
            return mg_fail(run, "rank %" PRId64 " of %" PRId64 " returns status %" PRId64 "%s%s", r, s->ranks,
                           result[MG_ZERO_STATUS], s->fails < 0 ? ": " : ", and a collective failed",
                           s->fails < 0 ? mg_13_differ(run, s->ranks) : "");
        }
    return true;
}

/* One rank that has everything: momentum 0.5, rate 0.5. */
typedef struct model {
    double p[FLAT], velocity[FLAT], close[FLAT], norm[STEPS];
} model;

static void train(model *m, const script *s)
{
    double samples = 0, g[FLAT], size[FLAT];
    memset(m, 0, sizeof *m);
    for (int64_t r = 0; r < s->ranks; r++)
        samples += (double)s->samples[r];
    for (int64_t k = 0; k < s->flat; k++)
        m->p[k] = (double)s->before[k];
    for (int64_t step = 0; step < STEPS; step++) {
        double sum = 0;
        for (int64_t i = 0; i < s->count; i++)
            for (int64_t k = s->place[i]; k < s->place[i] + s->size[i]; k++) {
                g[k] = size[k] = 0;
                for (int64_t r = 0; r < s->ranks; r++) {
                    int64_t which = step * s->ranks + r;
                    double one = (double)s->given[which * s->flat + k] * (double)s->samples[r] / samples;
                    g[k] += s->used[which * s->count + i] ? one : 0;
                    size[k] += s->used[which * s->count + i] ? fabs(one) : 0;
                }
                sum += g[k] * g[k];
            }
        m->norm[step] = sqrt(sum);
        if (!isfinite(sum))
            continue;
        double factor = m->norm[step] > (double)s->max_norm ? (double)s->max_norm / m->norm[step] : 1;
        for (int64_t i = 0; i < s->count; i++)
            for (int64_t k = s->place[i]; k < s->place[i] + s->size[i]; k++) {
                m->velocity[k] = 0.5 * m->velocity[k] + factor * g[k];
                m->p[k] -= 0.5 * m->velocity[k];
                m->close[k] += 32 * EPS * (factor * size[k] + fabs(m->velocity[k]) + fabs(m->p[k]));
            }
    }
}

static bool judge_parameters(mg_run *run, const script *s, const model *m)
{
    const float *got = mg_result(run, "parameters");
    for (int64_t r = 0; r < s->ranks; r++)
        for (int64_t i = 0; i < s->count; i++)
            for (int64_t k = s->place[i]; k < s->place[i] + s->size[i]; k++) {
                double is = (double)got[r * s->flat + k];
                if (fabs(is - m->p[k]) <= m->close[k] && got[r * s->flat + k] == got[k])
                    continue;
                return mg_fail(
                    run,
                    "stage %" PRId64 ", %" PRId64 " ranks, %" PRId64 " buckets: after %d steps element %" PRId64
                    " of parameter %" PRId64 " is %.9g on rank %" PRId64 ", %.9g on rank 0, expected %.9g",
                    s->stage, s->ranks, s->buckets, STEPS, k - s->place[i], i, is, r, (double)got[k], m->p[k]);
            }
    return true;
}

static bool judge_norms(mg_run *run, const script *s, const model *m)
{
    const int64_t *got = mg_result(run, "norms");
    for (int64_t r = 0; r < s->ranks; r++)
        for (int64_t step = 0; step < STEPS; step++) {
            double is, want = m->norm[step];
            memcpy(&is, &got[r * STEPS + step], sizeof is);
            bool same = got[r * STEPS + step] == got[step] || isnan(is);
            if (same && (isfinite(want) ? fabs(is - want) <= 1e-6 * want : !isfinite(is)))
                continue;
            return mg_fail(run,
                           "%" PRId64 " ranks, step %" PRId64 ": the norm is %.17g on rank %" PRId64
                           ", expected about %.9g%s",
                           s->ranks, step, is, r, want, same ? "" : ", and the same bits on all ranks");
        }
    return true;
}

static int64_t bucket_of(const script *s, int64_t param)
{
    int64_t b = 0;
    while (s->place[param] < s->bucket_end[b + 1])
        b++;
    return b;
}

static int64_t part_bytes(const script *s, int64_t bucket)
{
    return 4 * ((s->bucket_end[bucket] - s->bucket_end[bucket + 1] + s->ranks - 1) / s->ranks);
}

/* A parameter is read: the bytes of a part if its bucket is not among the two read before, recent. */
static int64_t read_bytes(const script *s, int64_t recent[2], int64_t param)
{
    int64_t bucket = bucket_of(s, param), bytes = 0;
    if (bucket == recent[0])
        return 0;
    if (bucket != recent[1])
        bytes = part_bytes(s, bucket);
    recent[1] = recent[0];
    recent[0] = bucket;
    return bytes;
}

/* The bytes that a step of stage 3 gathers; the worker's model reads its parameters as calls_13_zero.c says. */
static int64_t gathered_bytes(const script *s)
{
    int64_t bytes = 0, recent[2] = { -1, -1 }, last = s->count - 1;
    bytes += read_bytes(s, recent, last);
    bytes += read_bytes(s, recent, 0);
    bytes += read_bytes(s, recent, last);
    bytes += read_bytes(s, recent, 1);
    for (int64_t i = 0; i < s->count; i += 2) {
        bytes += read_bytes(s, recent, i);
        bytes += read_bytes(s, recent, mt_min(i + 1, last));
    }
    bytes += read_bytes(s, recent, last);
    bytes += read_bytes(s, recent, 0);
    for (int64_t i = last; i >= 0; i--)
        bytes += read_bytes(s, recent, i);
    return bytes;
}

/* A reduce-scatter of each bucket in each step, of the longest part, and as many all-gathers, in stage 3 more; nothing
 * else of their size. */
static bool judge_rows(mg_run *run, const script *s)
{
    const int64_t(*row)[MG_HUB_COLUMNS] = mg_result(run, "rows");
    const int64_t *result = mg_result(run, "results");
    for (int64_t r = 0; r < s->ranks; r++, row += MG_HUB_ROWS) {
        int64_t calls = mt_min(mt_max(result[r * MG_ZERO_RESULTS + MG_ZERO_CALLS], 0), MG_HUB_ROWS), bytes[2] = { 0 },
                want[2] = { 0 };
        for (int64_t i = s->count; i < calls; i++) /* behind the broadcasts */
            if (row[i][MG_HUB_DTYPE] == MT_F32 && row[i][MG_HUB_KIND] <= ALL_GATHER)
                bytes[row[i][MG_HUB_KIND] == ALL_GATHER] += 4 * row[i][MG_HUB_N];
        for (int64_t b = 0; b < s->buckets; b++)
            want[0] += STEPS * part_bytes(s, b);
        want[1] = s->stage == 3 ? STEPS * gathered_bytes(s) : want[0];
        if (bytes[0] == want[0] && bytes[1] == want[1])
            continue;
        return mg_fail(run,
                       "rank %" PRId64 " of %" PRId64 ", %d steps: parts of %" PRId64 " bytes are reduced, and %" PRId64
                       " gathered; expected %" PRId64 " and %" PRId64,
                       r, s->ranks, STEPS, bytes[0], bytes[1], want[0], want[1]);
    }
    return true;
}

/* In stage 3: what an op reads at once was there, and no more than two buckets were. */
static bool judge_open(mg_run *run, const script *s)
{
    const int64_t *result = mg_result(run, "results");
    for (int64_t r = 0; r < s->ranks; r++, result += MG_ZERO_RESULTS) {
        int64_t closed = result[MG_ZERO_CLOSED];
        if (result[MG_ZERO_OPEN] > 2 && s->about == ZERO_BYTES) {
            mg_hint(run, "close first, then open: three are never open, also for a moment");
            return mg_fail(run, "rank %" PRId64 ": %" PRId64 " buckets of parameters have memory while one is gathered",
                           r, result[MG_ZERO_OPEN]);
        }
        if (closed != 0)
            return mg_fail(run,
                           "rank %" PRId64 ": %" PRId64
                           " times one of two parameters that an op reads was closed before the "
                           "op ran",
                           r, closed);
    }
    return true;
}

static bool judge_memory(mg_run *run, const script *s)
{
    int64_t n = s->ranks, got = ((const int64_t *)mg_result(run, "results"))[MG_ZERO_BYTES];
    int64_t each[] = { 0, 8 * n + 8, 4 * n + 12, 16 }, want = s->flat * each[s->stage]; /* of all ranks */
    if (got != want)
        mg_fail(run,
                "stage %" PRId64 ", %" PRId64 " ranks: after a step all ranks have %.9g bytes a parameter and rank, "
                "expected %.9g",
                s->stage, n, (double)got / (double)(s->flat * n), (double)want / (double)(s->flat * n));
    return got == want;
}

static bool judge_freed(mg_run *run, const script *s)
{
    for (int64_t r = 0; r < s->ranks; r++) {
        int64_t has = ((const int64_t *)mg_result(run, "results"))[r * MG_ZERO_RESULTS + MG_ZERO_HAS];
        if (has != 0)
            return mg_fail(run, "rank %" PRId64 ": %" PRId64 " of %" PRId64 " gradients are still there after the step",
                           r, has, s->count);
    }
    return true;
}

static void zero_once(mg_run *run, const zero_case *c, int64_t is, const char *hint)
{
    int stage = c->about == ZERO_MEMORY ? 1 + (int)is : 1 + is % 2;
    script s = script_of(run, c->about, c->stage ? c->stage : stage, is);
    static model m;
    s.hint = hint ? hint : c->head.hint;
    s.searched = (c->about == ZERO_STEPS || c->about == ZERO_CLIP) && is == FOUR;
    if (!call(run, &s, c->about) || s.fails >= 0)
        return;
    if (s.about == ZERO_MEMORY) {
        judge_memory(run, &s);
        return;
    }
    train(&m, &s);
    (void)(judge_open(run, &s) && judge_parameters(run, &s, &m) && judge_norms(run, &s, &m) &&
           (c->about != ZERO_BYTES || judge_rows(run, &s)) && (s.stage < 2 || judge_freed(run, &s)));
}

void mg_13_zero(mg_run *run, const void *one_case)
{
    enum { CLIP = 1 << ZERO_CLIP, BROKEN = 1 << ZERO_NOT_FINITE, STEPS_ = 1 << ZERO_STEPS };
    static const mg_idea tries[] = {
        { .is = TWO },
        { .is = THREE },
        { .is = FOUR },
        { "a norm below the limit", "a norm that is not above max_norm changes nothing", ABOVE, CLIP },
        { "a tiny limit", "the factor is max_norm / norm, and nothing is added to the norm", TINY, CLIP },
        { "a limit of 0", "max_norm is 0: gradients become 0, and no parameter changes (INFINITY: no limit)", NOTHING,
          CLIP },
        { "one order of the squares", "all ranks add up the squares in the same order", ORDER, CLIP, 6 },
        { "the gather of the norms fails", NULL, ABOVE, BROKEN },
        { "a collective after the norms fails", NULL, TINY, BROKEN },
        { "a collective after the norms fails", NULL, NOTHING, BROKEN },
        { "one rank", NULL, ONE_RANK, STEPS_ | CLIP | 1 << ZERO_UNUSED },
        { .is = ANY_RANKS, .rows = STEPS_ | CLIP | 1 << ZERO_UNUSED },
        { "many ranks", MG_MANY_RANKS, MANY_RANKS, STEPS_ },
        { "long messages", MG_LONG, LONG, STEPS_ },
    };
    const zero_case *c = one_case;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, c->about);)
        zero_once(run, c, t.is, tries[t.at - 1].hint);
}
