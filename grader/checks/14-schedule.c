/* 14-schedule.c -- how the checks of steps 14.6 and 14.7 run: the actions of all ranks are run against each other in
 * time, with a forward of 1 and a backward of 2 units. Rows: 14-model-parallel.c. */
#include "checks/14-model-parallel.h"
#include "checks/fill.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

enum {
    FEW = 8,
    STAGES = 67,
    CHUNKS = 4,
    MICRO = 24,
    MANY = 300,
    PARTS = STAGES * CHUNKS,
    WORDS = 256,
    UNTOUCHED = 0x5A
};

typedef struct pipe {
    mt_pipe_kind kind;
    int stages, micro, chunks;
} pipe;

static const char *named(const pipe *p)
{
    static char text[96];
    static const char *const kind[] = { "GPipe", "1F1B", "interleaved" };
    snprintf(text, sizeof text, "%s, %d stages, %d micro-batches, %d chunks", kind[p->kind], p->stages, p->micro,
             p->chunks);
    return text;
}

/* `count` ranks from `first` on, with place for `actions` each. */
static bool call(mg_run *run, const pipe *p, int first, int count, int actions)
{
    int64_t bytes = (int64_t)count * actions * (int64_t)sizeof(mt_pipe_action);
    mg_begin(run, "mt_pipe_schedule");
    mg_as_called(run, "mt_pipe_schedule(out, kind, stage, stages=%d, micro=%d, chunks=%d): %s, stages %d to %d",
                 p->stages, p->micro, p->chunks, named(p), first, first + count - 1);
    mg_out(run, "status", MT_I64, MT_SHAPE(count));
    memset(mg_inout(run, "actions", MT_U8, MT_SHAPE(bytes)), UNTOUCHED, (size_t)bytes);
    mg_inout(run, "words", MT_U8, MT_SHAPE(WORDS));
    mg_i64(run, "kind", p->kind);
    mg_i64(run, "stage", first);
    mg_i64(run, "stages", p->stages);
    mg_i64(run, "micro", p->micro);
    mg_i64(run, "chunks", p->chunks);
    return mg_call(run);
}

/* ---- a step in time ----------------------------------------------------------------------------------------- */

typedef struct action {
    int backward, micro, chunk;
} action;

typedef struct timing {
    int until[STAGES], live[STAGES], most[STAGES]; /* live: (micro, chunk) after its forward, before its backward */
    int count[2][PARTS];                           /* forwards and backwards done: the next micro-batch of a part */
    int ended[2][PARTS][MANY];
} timing;

/* Bytes that are not a bool, or not the number of a micro-batch or chunk, are not read as one. */
static bool read_action(mg_run *run, const pipe *p, int stage, int k, action *a)
{
    const uint8_t *from = (const uint8_t *)mg_result(run, "actions") +
                          ((size_t)stage * (size_t)(2 * p->micro * p->chunks) + (size_t)k) * sizeof(mt_pipe_action);
    a->backward = from[offsetof(mt_pipe_action, backward)];
    memcpy(&a->micro, from + offsetof(mt_pipe_action, micro), sizeof a->micro);
    memcpy(&a->chunk, from + offsetof(mt_pipe_action, chunk), sizeof a->chunk);
    if (a->backward <= 1 && a->micro >= 0 && a->micro < p->micro && a->chunk >= 0 && a->chunk < p->chunks)
        return true;
    return mg_fail(run, "%s: stage %d, action %d is not written, or no action: micro-batch %d, chunk %d", named(p),
                   stage, k, a->micro, a->chunk);
}

/* Whether the action is the next of its part: micro-batches in order, each once, backward after forward. */
static bool is_next(mg_run *run, const pipe *p, const timing *t, int stage, int k, const action *a)
{
    static const char *const way[] = { "forward", "backward" };
    int part = a->chunk * p->stages + stage;
    if (t->count[a->backward][part] != a->micro)
        return mg_fail(
            run, "%s: stage %d, action %d: %s of micro-batch %d in chunk %d, where that of micro-batch %d is next",
            named(p), stage, k, way[a->backward], a->micro, a->chunk, t->count[a->backward][part]);
    if (a->backward && t->count[0][part] <= a->micro)
        return mg_fail(run, "%s: stage %d, action %d: backward of micro-batch %d in chunk %d comes before its forward",
                       named(p), stage, k, a->micro, a->chunk);
    return true;
}

/* The time at which the input of the action is there; -1: not known yet. */
static int ready(const pipe *p, const timing *t, int stage, const action *a)
{
    int part = a->chunk * p->stages + stage, before = a->backward ? part + 1 : part - 1;
    if (before < 0 || before == p->stages * p->chunks)
        return 0;
    return t->count[a->backward][before] > a->micro ? t->ended[a->backward][before][a->micro] : -1;
}

/* Runs what the worker returned. Each action begins when its rank is free and its input has come. */
static bool simulate(mg_run *run, const pipe *p, timing *t)
{
    int next[STAGES] = { 0 }, all = 2 * p->micro * p->chunks, left = p->stages * all;
    *t = (timing){ 0 };
    for (bool moved = true; left > 0;) {
        if (!moved)
            return mg_fail(run, "%s: a deadlock: after %d of %d actions every rank waits for another", named(p),
                           p->stages * all - left, p->stages * all);
        moved = false;
        for (int s = 0; s < p->stages; s++)
            for (; next[s] < all; next[s]++, left--, moved = true) {
                action a;
                if (!read_action(run, p, s, next[s], &a) || !is_next(run, p, t, s, next[s], &a))
                    return false;
                int from = ready(p, t, s, &a), part = a.chunk * p->stages + s;
                if (from < 0)
                    break;
                t->until[s] = (int)mt_max(t->until[s], from) + 1 + a.backward;
                t->ended[a.backward][part][a.micro] = t->until[s];
                t->count[a.backward][part]++;
                t->live[s] += a.backward ? -1 : 1;
                t->most[s] = (int)mt_max(t->most[s], t->live[s]);
            }
    }
    return true;
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

/* The law: a rank works 3 m v units, and is idle for 3 (p - 1), with a unit the forward of one chunk. */
static bool judge_time(mg_run *run, const pipe *p, const timing *t)
{
    int took = 0, want = 3 * (p->micro * p->chunks + p->stages - 1);
    for (int s = 0; s < p->stages; s++)
        took = (int)mt_max(took, t->until[s]);
    if (took == want)
        return true;
    return mg_fail(run, "%s: a step takes %d units (forward 1, backward 2), expected %d", named(p), took, want);
}

static bool judge_live(mg_run *run, const pipe *p, const timing *t)
{
    for (int s = 0; s < p->stages; s++) {
        int behind = p->stages - s - 1, all = p->micro * p->chunks, want = all;
        if (p->kind == MT_1F1B)
            want = (int)mt_min(behind + 1, all);
        else if (p->kind == MT_INTERLEAVED)
            want = (int)mt_min(2 * behind + (p->chunks - 1) * p->stages + 1, all);
        if (t->most[s] != want) {
            mg_hint(
                run,
                "stage %d makes too %s forwards before its first backward: these are %s, and no more than there are", s,
                t->most[s] > want ? "many" : "few",
                p->kind == MT_1F1B ? "stages - stage - 1" : "2 (stages - stage - 1) + (chunks - 1) stages");
            return mg_fail(run, "%s: stage %d has up to %d live micro-batches in its chunks, expected %d", named(p), s,
                           t->most[s], want);
        }
    }
    return true;
}

/* One call for all stages, and the judgement of the row. */
static bool check(mg_run *run, const pipe *p, schedule_about about)
{
    timing *t = malloc(sizeof *t);
    MT_CHECK(t, "out of memory");
    bool ok = call(run, p, 0, p->stages, 2 * p->micro * p->chunks);
    const int64_t *status = ok ? mg_result(run, "status") : NULL;
    for (int s = 0; s < p->stages && ok; s++)
        if (status[s] != MT_OK) {
            ok = false;
            mg_fail(run, "%s: stage %d returns status %d", named(p), s, (int)status[s]);
        }
    ok = ok && simulate(run, p, t) && (about == SCHEDULE_LIVE || judge_time(run, p, t)) &&
         (about == SCHEDULE_TIME || judge_live(run, p, t));
    free(t);
    return ok;
}

/* Refused with a message that names the number; no action is written. */
static bool check_refused(mg_run *run, const pipe *p, int stage, const char *number)
{
    if (!call(run, p, stage, 1, 4))
        return false;
    const uint8_t *actions = mg_result(run, "actions"), *said = mg_result(run, "words");
    bool written = false;
    for (size_t i = 0; i < 4 * sizeof(mt_pipe_action); i++)
        written = written || actions[i] != UNTOUCHED;
    char text[WORDS] = { 0 };
    memcpy(text, said, WORDS - 1);
    if (*(const int64_t *)mg_result(run, "status") == MT_ERR_ARGUMENT && !written && strstr(text, number))
        return true;
    return mg_fail(run, "%s, stage %d: status %d, expected %d; message \"%.99s\", expected with %s; out is %s",
                   named(p), stage, (int)*(const int64_t *)mg_result(run, "status"), MT_ERR_ARGUMENT, text, number,
                   written ? "written" : "unchanged");
}

static void few(mg_run *run, mt_pipe_kind kind)
{
    static const pipe plain[] = { { 0, 1, 1, 1 }, { 0, 1, 7, 1 }, { 0, 5, 1, 1 }, { 0, 7, 3, 1 }, { 0, 8, 7, 1 } },
                      groups[] = { { 0, 1, 1, 1 }, { 0, 1, 5, 3 }, { 0, 2, 2, 2 },
                                   { 0, 7, 7, 3 }, { 0, 4, 8, 1 }, { 0, 1, 1, 4 } };
    bool is_plain = kind != MT_INTERLEAVED;
    for (int i = 0; i < (int)(is_plain ? MT_COUNT(plain) : MT_COUNT(groups)); i++) {
        pipe p = is_plain ? plain[i] : groups[i];
        for (p.kind = is_plain ? MT_GPIPE : kind; p.kind <= kind; p.kind++)
            if (!check(run, &p, SCHEDULE_FEW))
                return;
    }
    mg_part(run, "refusals", NULL);
    if (is_plain)
        (void)(check_refused(run, &(pipe){ kind, 2, 1, 5 }, 0, "5") &&
               check_refused(run, &(pipe){ kind, 2, 1, 1 }, 7, "7") &&
               check_refused(run, &(pipe){ kind, 2, 1, 1 }, -3, "-3") &&
               check_refused(run, &(pipe){ kind, 2, 0, 1 }, 1, "0"));
    else
        (void)(check_refused(run, &(pipe){ kind, 4, 6, 2 }, 0, "6") &&
               check_refused(run, &(pipe){ kind, 5, 2, 1 }, 4, "2") &&
               check_refused(run, &(pipe){ kind, 3, 3, 0 }, 1, "0"));
}

static void book(mg_run *run, mt_pipe_kind kind)
{
    bool is_plain = kind != MT_INTERLEAVED;
    for (int i = 0; i < 2; i++) {
        pipe p = { is_plain ? (mt_pipe_kind)i : kind, 4, 8, is_plain ? 1 : 2 << i };
        if (!check(run, &p, SCHEDULE_BOOK))
            return;
    }
    mg_note(run, "%s", is_plain ? "idle 27.27 %" : "idle 15.79 % and 8.57 %");
}

void mg_14_schedule(mg_run *run, const void *one_case)
{
    const schedule_case *c = one_case;
    if (c->about == SCHEDULE_FEW) {
        few(run, c->kind);
        return;
    }
    if (c->about == SCHEDULE_BOOK) {
        book(run, c->kind);
        return;
    }
    for (int stages = 2; stages <= FEW; stages++) {
        pipe p = { c->kind, stages, (int)mg_pick(mg_rng(run), stages, MICRO), 1 };
        if (c->kind == MT_INTERLEAVED) {
            p.micro = stages * (int)mg_pick(mg_rng(run), 2, MICRO / stages);
            p.chunks = (int)mg_pick(mg_rng(run), 2, CHUNKS);
        }
        if (!check(run, &p, c->about) || (c->kind == MT_GPIPE && !check(run, &p, SCHEDULE_LIVE)))
            return;
    }
    bool groups = c->kind == MT_INTERLEAVED;
    (void)(check(run, &(pipe){ c->kind, 3, MANY, groups ? 2 : 1 }, c->about) &&
           check(run, &(pipe){ c->kind, STAGES, groups ? STAGES : STAGES + 9, groups ? CHUNKS : 1 }, c->about));
}
