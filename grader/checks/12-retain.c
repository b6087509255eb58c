/* 12-retain.c -- how the checks of step 12.5 run: which checkpoints are kept, and that one that is valid always is.
 * Rows: 12-checkpoints.c. */
#include "checks/12-disk.h"
#include "checks/fill.h"
#include "testing/disk_view.h"

#include <inttypes.h>
#include <string.h>

enum { STEPS = 12, SEVERAL = 6, READ = 16384 };

typedef struct rule {
    int64_t last, every, best;
} rule;

/* A step is kept for one of three reasons, or because everything is. */
static bool is_kept(const rule *r, const int64_t *steps, int64_t i)
{
    bool newest = i < r->last, multiple = r->every > 0 && steps[i] / r->every * r->every == steps[i];
    return r->last == 0 || newest || multiple || steps[i] == r->best;
}

/* ---- the rule -------------------------------------------------------------------------------------------- */

/* Numbers that are alike in their last 32 bits. */
static void enlarge(rule *r, int64_t *steps, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        steps[i] = (n - 1 - i) << 32;
    r->last += r->last > 1 ? (int64_t)1 << 32 : 0;
    r->every = r->every ? 3 : 0; /* 2^32 is not a multiple of it */
    r->best = r->best >= 0 ? steps[0] : -1;
}

void mg_12_keeps(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = {
        { NULL },
        { .rows = ~(1 << KEEP_ALL), .times = 2 },
        { "numbers above 2^32", "steps and numbers of steps have 64 bits", UPPER, ~(1 << KEEP_ALL) },
        { "the best is step 0", "0 is a step like any other", STEP_0, 1 << KEEP_BEST },
        { "`every` is set", NULL, EVERY, 1 << KEEP_ALL },
        { "`best` is set", NULL, BEST, 1 << KEEP_ALL },
        { "no steps", "the list may be empty", EMPTY, 1 << KEEP_ALL },
    };
    keep_about about = ((const keep_case *)one_case)->about;
    mt_rng *rng = mg_rng(run);
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        int64_t n = t.is == EMPTY ? 0 : mg_pick(rng, 3, STEPS), steps[STEPS];
        rule r = { t.is == UPPER ? 2 : mg_pick(rng, 1, n + 1), 0, -1 };
        steps[mt_max(n - 1, 0)] = about == KEEP_EVERY || about == KEEP_ANY ? 0 : mg_pick(rng, 0, 5);
        for (int64_t i = n - 2; i >= 0; i--)
            steps[i] = steps[i + 1] + mg_pick(rng, 1, 6);
        if (about == KEEP_EVERY || about == KEEP_ANY)
            r.every = mg_pick(rng, 1, 7);
        if (about == KEEP_BEST || about == KEEP_ANY)
            r.best = n ? steps[mt_rng_below(rng, n)] : -1;
        if (about == KEEP_EVERY || about == KEEP_BEST)
            r.last = 1;
        if (about == KEEP_ALL)
            r = (rule){ 0, t.is == EVERY ? 1000 : 0, t.is == BEST ? steps[0] : -1 };
        if (t.is == STEP_0)
            r.best = steps[n - 1] = 0;
        if (t.is == UPPER)
            enlarge(&r, steps, n);
        mg_begin(run, "mt_keeps");
        mg_out(run, "kept", MT_I64, MT_SHAPE(n));
        memcpy(mg_in(run, "steps", MT_I64, MT_SHAPE(n)), steps, (size_t)n * sizeof *steps);
        mg_i64(run, "last", r.last);
        mg_i64(run, "every", r.every);
        mg_i64(run, "best", r.best);
        if (!mg_call(run))
            return;
        const int64_t *kept = mg_result(run, "kept");
        for (int64_t i = 0; i < n; i++)
            if (kept[i] != is_kept(&r, steps, i)) {
                mg_fail(run,
                        "step %" PRId64 ", the %" PRId64 ". newest: %s, expected %s (last %" PRId64 ", every %" PRId64
                        ", best %" PRId64 ")",
                        steps[i], i + 1, kept[i] ? "kept" : "not kept", is_kept(&r, steps, i) ? "kept" : "not kept",
                        r.last, r.every, r.best);
                return;
            }
    }
}

/* ---- pruning --------------------------------------------------------------------------------------------- */

typedef struct scene {
    mt_io *before;
    saved s[SEVERAL]; /* newest first */
    int64_t steps[SEVERAL], count;
    bool valid[SEVERAL], stays[SEVERAL];
    rule r;
} scene;

static bool is_whole(mt_io *disk, const saved *s)
{
    bool good = true;
    for (int64_t i = 0; i < s->count; i++)
        good = good && mg_12_has(disk, s, i, s->step);
    return good;
}

static bool has_folder(mt_io *disk, int64_t step)
{
    char path[MG_WORDS];
    mg_12_path(path, step, NULL);
    return disk_find(&((disk_sim *)disk)->live, path);
}

/* Which are valid depends on the row. At least one is kept, and at least two are not. The newest valid one stays.
 * to_zero: the oldest is of step 0, which is the only valid one, if any is; far: the path is long. */
static scene scene_of(mt_rng *rng, prune_about about, bool to_zero, bool far)
{
    scene s = { .before = mg_12_disk(far), .count = mg_pick(rng, 4, SEVERAL), .r = { mg_pick(rng, 1, 2), 0, -1 } };
    int64_t step = to_zero ? 3 * (s.count - 1) : mg_pick(rng, 100, 900), valid = 0;
    for (int64_t i = 0; i < s.count; i++, step -= to_zero ? 3 : mg_pick(rng, 1, 9)) {
        s.s[i] = mg_12_saved(rng, step, 2);
        s.s[i].bytes[0] = mt_max(s.s[i].bytes[0], 2);
        mg_12_manifest(&s.s[i], step);
        s.steps[i] = step;
    }
    if (mt_rng_below(rng, 2) && !to_zero)
        s.r.best = s.steps[s.count - 1];
    for (int64_t i = 0; i < s.count; i++) {
        bool keep = s.stays[i] = is_kept(&s.r, s.steps, i);
        s.valid[i] = about == PRUNE_VALID     ? true
                     : about == PRUNE_DAMAGED ? false
                     : keep                   ? false
                     : to_zero                ? i == s.count - 1
                                              : about == PRUNE_SOME || mt_rng_below(rng, 3) > 0;
        valid += s.valid[i];
    }
    if (about == PRUNE_SOME) { /* an old one that is kept, behind newer ones that are not */
        s.r.best = s.steps[s.count - 1];
        s.stays[s.count - 1] = s.valid[s.count - 1] = true;
    }
    if ((about == PRUNE_SPARED || about == PRUNE_CUT) && valid == 0)
        s.valid[s.r.last] = true;
    int64_t newest = 0;
    while (newest < s.count && !s.valid[newest])
        newest++;
    if (newest < s.count)
        s.stays[newest] = true;
    for (int64_t i = s.count - 1; i >= 0; i--) {
        char path[MG_WORDS];
        mg_12_put(s.before, &s.s[i]);
        mg_12_path(path, s.steps[i], s.s[i].name[0]);
        if (!s.valid[i] && i % 2)
            mt_disk_sim_put(s.before, path, "?", 1);
        else if (!s.valid[i])
            s.before->remove(s.before, path);
    }
    return s;
}

static bool prune(mg_run *run, after *a, const scene *s)
{
    mg_12_begin(run, "mt_checkpoint_prune", s->before, (failure){ -1, 0, false });
    mg_as_called(run, "mt_checkpoint_prune(dir, keep): last %" PRId64 ", every %" PRId64 ", best %" PRId64, s->r.last,
                 s->r.every, s->r.best);
    mg_out(run, "read", MT_U8, MT_SHAPE(READ));
    mg_i64(run, "last", s->r.last);
    mg_i64(run, "every", s->r.every);
    mg_i64(run, "best", s->r.best);
    return mg_12_end(run, a, s->before);
}

/* Only what is in one of the folders is read: a line each. With `cost`, none older than the newest valid one, and no
 * file twice. */
static bool judge_reads(mg_run *run, const scene *s, bool cost)
{
    const char *line = mg_result(run, "read"), *end = line + strnlen(line, READ);
    int64_t newest = 0;
    while (newest < s->count && !s->valid[newest])
        newest++;
    for (const char *next; line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        int64_t which = -1;
        next = stop ? stop + 1 : end;
        for (int64_t i = 0; i < s->count; i++) {
            char path[MG_WORDS];
            mg_12_path(path, s->steps[i], "");
            which = strncmp(line, path, strlen(path)) == 0 ? i : which;
        }
        if (which >= 0 && (which <= newest || !cost))
            continue;
        if (which >= 0)
            mg_hint(run, "checkpoints are large: look at the newest first, and no further than the first valid one");
        return mg_fail(run, "%.*s was read, which is %s", (int)mt_min(next - line - 1, 200), line,
                       which < 0 ? "in no checkpoint of the list" : "older than the newest valid one");
    }
    return !cost || mg_12_read_once(run, READ);
}

static bool judge_kept(mg_run *run, const after *a, const scene *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        bool there = has_folder(a->disk, s->steps[i]), same = !s->valid[i] || is_whole(a->disk, &s->s[i]);
        if (there == s->stays[i] && (!there || same))
            continue;
        return mg_fail(run, "step %" PRId64 ", the %" PRId64 ". newest of %" PRId64 ", %s: %s, expected %s",
                       s->steps[i], i + 1, s->count, s->valid[i] ? "valid" : "damaged",
                       there && !same ? "in parts"
                       : there        ? "still there"
                                      : "removed",
                       s->stays[i] ? "kept" : "removed");
    }
    if (a->status != MT_OK)
        mg_fail(run, "status %" PRId64 ": %s", a->status, a->message);
    return a->status == MT_OK;
}

/* One that was valid and stays is whole in every state. */
static const char *one_is_left(mt_io *left, const void *user, bool complete)
{
    const scene *s = user;
    (void)complete;
    for (int64_t i = 0; i < s->count; i++)
        if (s->valid[i] && is_whole(left, &s->s[i]))
            return NULL;
    return "no checkpoint that is valid";
}

void mg_12_prune(mg_run *run, const void *one_case)
{
    prune_about about = ((const prune_case *)one_case)->about;
    static const mg_idea tries[] = { { MG_12_STEP_0, .rows = 1 << PRUNE_SPARED | 1 << PRUNE_DAMAGED },
                                     { .times = 3 },
                                     { MG_12_FAR } };
    bool good = true;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        scene s = scene_of(mg_rng(run), about, t.is == STEP_0, t.is == FAR);
        after a;
        if ((good = prune(run, &a, &s))) {
            good = judge_kept(run, &a, &s) && judge_reads(run, &s, about == PRUNE_VALID) &&
                   (about != PRUNE_CUT || mg_12_survives(run, &a, one_is_left, &s));
            mt_disk_sim_free(a.disk);
        }
        mt_disk_sim_free(s.before);
    }
    if (good && about == PRUNE_SPARED)
        mg_12_many_steps(run, "mt_checkpoint_prune");
}
