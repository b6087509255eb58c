/* 12-commit.c -- how the checks of step 12.3 run: a file, a folder and a removal, on a disk whose calls fail one after
 * the other, and that loses power. Rows: 12-checkpoints.c. */
#include "checks/12-disk.h"
#include "checks/fill.h"
#include "testing/disk_view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const failure none = { -1, 0, false };

/* The situation of a row: what was on the disk, and what the unit is to do. */
typedef struct scene {
    mt_io *before;
    const char *function;
    saved other, old, new; /* another step; of this step before (count 0: none), and to be saved */
} scene;

static void say_files(mg_run *run, const saved *s, int64_t step)
{
    int64_t sum = 0;
    char *names = mg_in(run, "names", MT_U8, MT_SHAPE(s->count, MT_PART_NAME));
    memcpy(names, s->name, (size_t)s->count * MT_PART_NAME);
    memcpy(mg_in(run, "bytes", MT_I64, MT_SHAPE(s->count)), s->bytes, (size_t)s->count * sizeof *s->bytes);
    for (int64_t i = 0; i < s->count; i++)
        sum += s->bytes[i];
    uint8_t *data = mg_in(run, "data", MT_U8, MT_SHAPE(sum));
    for (int64_t i = 0; i < s->count; data += s->bytes[i++])
        memcpy(data, s->data[i], (size_t)s->bytes[i]);
    mg_i64(run, "step", step);
}

static bool act(mg_run *run, after *a, const scene *s, failure f)
{
    mg_12_begin(run, s->function, s->before, f);
    if (strcmp(s->function, "mt_commit") == 0)
        mg_as_called(run, "mt_commit(folder, parts, count=%" PRId64 "), step %" PRId64, s->new.count, s->new.step);
    else
        mg_as_called(run, "%s(folder%s)", s->function, s->new.step < 0 ? ", part" : "");
    if (strcmp(s->function, "mt_checkpoint_remove") == 0)
        mg_i64(run, "step", s->new.step);
    else
        say_files(run, &s->new, s->new.step);
    return mg_12_end(run, a, s->before);
}

/* ---- rules ----------------------------------------------------------------------------------------------- */

static char said[2 * MG_WORDS];

static const char *say(const char *words, const char *name)
{
    snprintf(said, sizeof said, words, name);
    return said;
}

static bool exists(mt_io *disk, int64_t step, const char *name)
{
    char path[MG_WORDS];
    int64_t size;
    mg_12_path(path, step, name);
    return mt_disk_sim_file(disk, path, &size);
}

/* The file alone: the old one or the new one, and the new one once the call is complete. */
static const char *file_rule(mt_io *left, const void *user, bool complete)
{
    const scene *s = user;
    const char *name = s->new.name[0];
    if (mg_12_has(left, &s->new, 0, -1))
        return NULL;
    if (complete)
        return say("no %s with the new contents, although the status was MT_OK", name);
    if (s->old.count ? mg_12_has(left, &s->old, 0, -1) : !exists(left, -1, name))
        return NULL;
    return say(s->old.count ? "a %s that is neither the old file nor the new one" : "a %s that is not whole", name);
}

static const char *wrong_part(mt_io *left, const saved *s)
{
    for (int64_t i = 0; i + 1 < s->count; i++)
        if (!mg_12_has(left, s, i, s->step))
            return s->name[i];
    return NULL;
}

/* The other checkpoint is there. This one has a manifest only if it has everything else. */
static const char *folder_rule(mt_io *left, const void *user, bool complete)
{
    const scene *s = user;
    const char *part = wrong_part(left, &s->other);
    if (part || !mg_12_has(left, &s->other, s->other.count - 1, s->other.step))
        return say("the checkpoint of another step without its %s", part ? part : MT_MANIFEST);
    bool removal = strcmp(s->function, "mt_checkpoint_remove") == 0;
    if (!exists(left, s->new.step, MT_MANIFEST))
        return complete && !removal ? "no manifest of this step, although the status was MT_OK" : NULL;
    if (complete && removal)
        return "the manifest of the removed checkpoint, although the status was MT_OK";
    bool is_old = s->old.count && mg_12_has(left, &s->old, s->old.count - 1, s->new.step);
    if (!is_old && (removal || !mg_12_has(left, &s->new, s->new.count - 1, s->new.step)))
        return "a manifest that is not whole";
    if (is_old && complete)
        return "the older checkpoint of this step, although the status was MT_OK";
    part = wrong_part(left, is_old ? &s->old : &s->new);
    return part ? say("a manifest of this step, but not all of its %s", part) : NULL;
}

/* ---- judging --------------------------------------------------------------------------------------------- */

/* What is in a folder, or how many names. */
static int64_t names_in(mt_io *disk, const char *folder)
{
    const disk_sim *s = (const disk_sim *)disk;
    char parent[4096];
    int64_t count = 0;
    for (int i = 0; i < s->live.names; i++)
        count += strcmp(disk_folder_of(parent, s->live.name[i].path), folder) == 0;
    return count;
}

static bool expect_status(mg_run *run, const after *a, failure f)
{
    if (a->status == (a->failed ? MT_ERR_IO : MT_OK))
        return true;
    if (a->failed)
        mg_fail(run, "call %" PRId64 " of mt_io failed (%s), and the status is %" PRId64 ", expected MT_ERR_IO", f.n,
                strerror(f.error), a->status);
    else
        mg_fail(run, "no call failed, and the status is %" PRId64 ": %s", a->status, a->message);
    return false;
}

/* Without a failure: the status, the contents, and nothing else. */
static bool whole(mg_run *run, const after *a, const scene *s, disk_rule rule)
{
    char folder[MG_WORDS];
    bool file = rule == file_rule, removal = strcmp(s->function, "mt_checkpoint_remove") == 0;
    if (!expect_status(run, a, none))
        return false;
    const char *wrong = rule(a->disk, s, true);
    mg_12_path(folder, file ? -1 : s->new.step, NULL);
    int64_t names = names_in(a->disk, folder), want = file ? 2 + mg_12_strangers() : removal ? 0 : s->new.count;
    if (wrong)
        mg_fail(run, "afterwards there is %s", wrong);
    else if (names != want)
        mg_fail(run, "afterwards %s has %" PRId64 " names, expected %" PRId64, folder, names, want);
    else if (removal && disk_find(&((disk_sim *)a->disk)->live, folder))
        mg_fail(run, "afterwards the folder %s is still there", folder);
    else
        return true;
    return false;
}

/* With a failure: what can be removed is removed, unless nothing works any more. */
static bool cleaned(mg_run *run, const after *a, const scene *s, failure f)
{
    char folder[MG_WORDS];
    mg_12_path(folder, s->new.step, NULL);
    if (f.from || !a->failed || !strcmp(s->function, "mt_checkpoint_remove") || s->old.count)
        return true;
    if (!strcmp(s->function, "mt_commit_file") ? names_in(a->disk, mg_12_runs()) <= 2 + mg_12_strangers()
                                               : names_in(a->disk, folder) == 0)
        return true;
    return mg_fail(run, "call %" PRId64 " of mt_io failed, and a part of it is left in %s", f.n,
                   s->new.step < 0 ? mg_12_runs() : folder);
}

/* After a call that failed a file is only closed, which may write, and removed. Of a file alone: each call of mt_io is
 * one change, so those after the first n are later. */
static bool ended(mg_run *run, const after *a, const scene *s, failure f)
{
    const disk_sim *disk = (const disk_sim *)a->disk;
    if (!a->failed || strcmp(s->function, "mt_commit_file") != 0)
        return true;
    for (const op *o = disk->op + a->first + f.n; o < disk->op + disk->ops; o++)
        if (o->kind != WRITE && o->kind != REMOVE)
            return mg_fail(run, "call %" PRId64 " of mt_io failed, and after it there is still %s", f.n,
                           o->kind == SYNC          ? "an fsync of the file"
                           : o->kind == SYNC_FOLDER ? "an fsync of the folder"
                                                    : "a change of its name");
    return true;
}

/* Every call fails once, alone with two errors, or with all after it. */
static bool each_fails(mg_run *run, const scene *s, disk_rule rule)
{
    static const mg_idea errors[] = { { "an input/output error", NULL, .is = EIO },
                                      { "no permission", NULL, .is = EACCES },
                                      { "a full disk", NULL, .is = ENOSPC } };
    bool good = true, failed = true;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, errors, 0); failed = true)
        for (int64_t n = 0; failed && good && n < 200; n++) {
            failure f = { n, (int)t.is, t.is == ENOSPC };
            after a;
            if (!act(run, &a, s, f))
                return false;
            failed = a.failed;
            if (n == 0 && !failed)
                mg_fail(run, "no call of mt_io was made");
            good = expect_status(run, &a, f) && ended(run, &a, s, f) && cleaned(run, &a, s, f) &&
                   mg_12_survives(run, &a, rule, s);
            if (good && failed && !strstr(a.message, strerror(f.error))) {
                mg_fail(run, "call %" PRId64 " of mt_io failed; the message \"%s\" does not say why: %s", n, a.message,
                        strerror(f.error));
                good = false;
            } else if (good && failed && !strstr(a.message, mg_12_runs())) {
                mg_hint(run, "a message has the path and the reason: mt_fail(MT_ERR_IO, \"%%s: %%s\", folder, "
                             "strerror(errno))");
                mg_fail(run, "call %" PRId64 " of mt_io failed; the message \"%s\" does not have the path", n,
                        a.message);
                good = false;
            }
            mt_disk_sim_free(a.disk);
        }
    return good;
}

/* The removal of the manifest, which may have been an earlier call's, is on the disk before another file is removed. */
static bool synced_first(mg_run *run, const after *a, const scene *s)
{
    const disk_sim *disk = (const disk_sim *)a->disk;
    char folder[MG_WORDS], manifest[MG_WORDS];
    mg_12_path(folder, s->new.step, NULL);
    mg_12_path(manifest, s->new.step, MT_MANIFEST);
    size_t length = strlen(folder);
    bool is_gone = !disk_find(&((disk_sim *)s->before)->live, manifest);
    for (const op *o = disk->op + a->first; o < disk->op + disk->ops; o++)
        if ((o->kind == REMOVE || o->kind == RENAME) && strcmp(o->path, manifest) == 0)
            is_gone = true;
        else if (o->kind == SYNC_FOLDER && strcmp(o->path, folder) == 0 && is_gone)
            return true;
        else if (o->kind == REMOVE && strncmp(o->path, folder, length) == 0 && o->path[length] == '/')
            break;
    return mg_fail(run, "a file is removed from %s before a sync of the folder: its manifest may still be on the disk",
                   folder);
}

static const char *at_the_end(mt_io *left, const void *user, bool complete)
{
    const scene *s = user;
    return complete ? (s->new.step < 0 ? file_rule : folder_rule)(left, user, true) : NULL;
}

static const char *before_the_end(mt_io *left, const void *user, bool complete)
{
    const scene *s = user;
    (void)complete;
    return (s->new.step < 0 ? file_rule : folder_rule)(left, user, false);
}

/* Whether two saves have the same last file: a manifest, from which a rule tells which of them is on the disk. */
static bool alike(const saved *a, const saved *b)
{
    int64_t i = a->count - 1, j = b->count - 1;
    return a->bytes[i] == b->bytes[j] && memcmp(a->data[i], b->data[j], (size_t)a->bytes[i]) == 0;
}

static scene scene_of(mt_rng *rng, const commit_case *c, int64_t is)
{
    int64_t step = is == STEP_0 ? 0 : mg_pick(rng, 2, 900);
    scene s = { .before = mg_12_disk(is == FAR), .function = c->function };
    bool file = strcmp(c->function, "mt_commit_file") == 0, removal = strcmp(c->function, "mt_checkpoint_remove") == 0;
    s.other = mg_12_saved(rng, step ? step - 1 : 1, 2);
    s.new = mg_12_saved(rng, file ? -1 : step, file ? 1 : mg_pick(rng, 1, 3));
    mg_12_put(s.before, &s.other);
    if (c->again || removal) {
        do
            s.old = mg_12_saved(rng, file ? -1 : step, s.new.count - 1);
        while (alike(&s.old, &s.new)); /* of empty files */
        if (file) {
            char path[MG_WORDS];
            mg_12_path(path, -1, s.old.name[0]);
            mt_disk_sim_put(s.before, path, s.old.data[0], s.old.bytes[0]);
        } else {
            mg_12_put(s.before, &s.old);
        }
    }
    if (removal &&
        c->about == COMMIT_WHOLE) { /* what a save leaves that was killed, where files have names from the begin on */
        static const char *const names[] = { MT_MANIFEST ".4711.tmp", "part-1-of-2.4711.tmp", ".part-1-of-2.swp" };
        char path[MG_WORDS];
        for (int i = 0; i < MT_COUNT(names); i++) {
            mg_12_path(path, step, names[i]);
            mt_disk_sim_put(s.before, path, "?", 1);
        }
    }
    if (c->about == COMMIT_HALF) { /* an earlier removal was interrupted: its first call may not be on the disk */
        char path[MG_WORDS];
        mg_12_path(path, step, MT_MANIFEST);
        s.before->remove(s.before, path);
    }
    return s;
}

void mg_12_commit(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = { { .times = 2 },
                                     { MG_12_STEP_0, .rows = ~(1 << COMMIT_FAILS) },
                                     { MG_12_FAR, .rows = ~(1 << COMMIT_FAILS) } };
    const commit_case *c = one_case;
    bool good = true;
    if (c->about == COMMIT_WHOLE && strcmp(c->function, "mt_commit_file") != 0)
        good = mg_12_many(run, c->function);
    for (mg_ideas t = { 0 }; good && MG_NEXT(run, &t, tries, c->about);) {
        scene s = scene_of(mg_rng(run), c, t.is);
        after a;
        disk_rule rule = s.new.step < 0 ? file_rule : folder_rule;
        if (c->about == COMMIT_FAILS) {
            good = each_fails(run, &s, rule);
        } else if ((good = act(run, &a, &s, none))) {
            bool removes = strcmp(c->function, "mt_checkpoint_remove") == 0;
            good = c->about == COMMIT_CUT ? whole(run, &a, &s, rule) && mg_12_survives(run, &a, before_the_end, &s) &&
                                                (!removes || synced_first(run, &a, &s))
                   : c->about == COMMIT_DURABLE
                       ? expect_status(run, &a, none) && mg_12_survives(run, &a, at_the_end, &s)
                       : whole(run, &a, &s, rule) && (c->about != COMMIT_HALF || synced_first(run, &a, &s));
            mt_disk_sim_free(a.disk);
        }
        mt_disk_sim_free(s.before);
    }
}
