/* 12-many.c -- how the checks of steps 12.3 to 12.5 run with large numbers. A checkpoint has 1,000 files, as many ranks
 * have, or for a save, which changes the disk several times for each file, 300: each has its name as its contents. A
 * folder has 70 checkpoints. Rows: 12-checkpoints.c. */
#include "checks/12-disk.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <string.h>

#include "core/base.h"

enum { MANY = 1000, SAVED = 300, LINE = 64, STEP = 70, FOLDERS = 70, READ = 1 << 14 };

typedef struct many {
    char name[MANY + 1][MT_PART_NAME], text[(MANY + 2) * LINE]; /* the last file is the manifest, text */
    int64_t bytes[MANY + 1], files;
} many;

static const uint8_t *contents(const many *m, int64_t i)
{
    return (const uint8_t *)(i < m->files ? m->name[i] : m->text);
}

static void make(many *m)
{
    int used = snprintf(m->text, sizeof m->text, "step %d\n", STEP);
    for (int64_t i = 0; i < m->files; i++) {
        snprintf(m->name[i], MT_PART_NAME, "part-%" PRId64 "-of-%" PRId64, i + 1, m->files);
        m->bytes[i] = (int64_t)strlen(m->name[i]);
        used += snprintf(m->text + used, sizeof m->text - (size_t)used, "file %" PRId64 " %08" PRIx32 " %s\n",
                         m->bytes[i], mg_12_crc_of(0, contents(m, i), m->bytes[i]), m->name[i]);
    }
    used += snprintf(m->text + used, sizeof m->text - (size_t)used, "end\n");
    strcpy(m->name[m->files], MT_MANIFEST);
    m->bytes[m->files] = used;
}

static void put(mt_io *disk, const many *m)
{
    char path[MG_WORDS];
    mg_12_path(path, STEP, NULL);
    disk->mkdir(disk, path);
    disk->fsync_dir(disk, mg_12_runs());
    for (int64_t i = 0; i <= m->files; i++) {
        mg_12_path(path, STEP, m->name[i]);
        mt_disk_sim_put(disk, path, contents(m, i), m->bytes[i]);
    }
}

static void describe(mg_run *run, const many *m)
{
    int64_t all = 0;
    memcpy(mg_in(run, "names", MT_U8, MT_SHAPE(m->files + 1, MT_PART_NAME)), m->name,
           (size_t)(m->files + 1) * sizeof m->name[0]);
    memcpy(mg_in(run, "bytes", MT_I64, MT_SHAPE(m->files + 1)), m->bytes, (size_t)(m->files + 1) * sizeof m->bytes[0]);
    for (int64_t i = 0; i <= m->files; i++)
        all += m->bytes[i];
    uint8_t *data = mg_in(run, "data", MT_U8, MT_SHAPE(all));
    for (int64_t i = 0; i <= m->files; data += m->bytes[i++])
        memcpy(data, contents(m, i), (size_t)m->bytes[i]);
}

/* All files are there, or none is, and the status is right. */
static bool judge(mg_run *run, const after *a, const many *m, bool there)
{
    if (a->status != MT_OK)
        return mg_fail(run, "%" PRId64 " files: status %" PRId64 ", %s", m->files, a->status, a->message);
    for (int64_t i = 0; i <= m->files; i++) {
        char path[MG_WORDS];
        int64_t size = 0;
        mg_12_path(path, STEP, m->name[i]);
        const uint8_t *bytes = mt_disk_sim_file(a->disk, path, &size);
        if (there ? bytes && size == m->bytes[i] && memcmp(bytes, contents(m, i), (size_t)size) == 0 : !bytes)
            continue;
        return mg_fail(run, "%" PRId64 " files: afterwards %s is %s", m->files, path,
                       !there  ? "still there"
                       : bytes ? "another"
                               : "missing");
    }
    return true;
}

bool mg_12_many(mg_run *run, const char *function)
{
    static many m;
    char path[MG_WORDS];
    bool saves = strcmp(function, "mt_commit") == 0, checks = strcmp(function, "mt_checkpoint_check") == 0;
    after a;
    mt_io *disk = mg_12_disk(false);
    m.files = saves ? SAVED : MANY;
    make(&m);
    put(disk, &m); /* of a save: an older one */
    mg_12_path(path, STEP, m.name[m.files - 1]);
    if (checks) /* the last file has the contents of another */
        mt_disk_sim_put(disk, path, m.name[0], m.bytes[m.files - 1]);
    mg_part(run, "many files", "a checkpoint may have any number of files");
    mg_12_begin(run, function, disk, (failure){ -1, 0, false });
    mg_as_called(run, "%s: a checkpoint of %" PRId64 " files", function, m.files);
    if (checks)
        mg_out(run, "read", MT_U8, MT_SHAPE((MANY + 2) * LINE));
    if (saves)
        describe(run, &m);
    mg_i64(run, "step", STEP);
    bool good = mg_12_end(run, &a, disk);
    mt_disk_sim_free(disk);
    if (!good)
        return false;
    if (checks && a.status != MT_ERR_FORMAT)
        mg_fail(run, "%" PRId64 " files, the last is damaged: status %" PRId64 ", expected MT_ERR_FORMAT", m.files,
                a.status);
    good = checks ? a.status == MT_ERR_FORMAT : judge(run, &a, &m, saves);
    mt_disk_sim_free(a.disk);
    return good;
}

/* ---- many checkpoints ------------------------------------------------------------------------------------ */

/* Each of the newest checkpoints lacks a file; the two oldest are valid. */
static int64_t step_of(int64_t i)
{
    return STEP + 3 * (FOLDERS - i);
}

static mt_io *many_on_disk(mt_rng *rng)
{
    char path[MG_WORDS];
    mt_io *disk = mg_12_disk(false);
    for (int64_t i = 0; i < FOLDERS; i++) {
        saved s = mg_12_saved(rng, step_of(i), 1);
        mg_12_put(disk, &s);
        mg_12_path(path, s.step, s.name[0]);
        if (i < FOLDERS - 2)
            disk->remove(disk, path);
    }
    return disk;
}

/* The newest is kept, and the newest valid one is spared. */
static bool judge_pruned(mg_run *run, const after *a)
{
    for (int64_t i = 0; i < FOLDERS; i++) {
        char path[MG_WORDS];
        int64_t size;
        mg_12_path(path, step_of(i), MT_MANIFEST);
        bool there = mt_disk_sim_file(a->disk, path, &size), stays = i == 0 || i == FOLDERS - 2;
        if (there == stays)
            continue;
        return mg_fail(run, "%d checkpoints, the newest %d are damaged: that of step %" PRId64 " is %s", FOLDERS,
                       FOLDERS - 2, step_of(i), there ? "still there" : "removed");
    }
    return true;
}

bool mg_12_many_steps(mg_run *run, const char *function)
{
    bool finds = strcmp(function, "mt_recover") == 0;
    mt_io *disk = many_on_disk(mg_rng(run));
    after a;
    mg_part(run, "many checkpoints", "a folder may have any number of checkpoints");
    mg_12_begin(run, function, disk, (failure){ -1, 0, false });
    mg_as_called(run, "%s: %d checkpoints, of which the newest %d are damaged", function, FOLDERS, FOLDERS - 2);
    mg_out(run, "read", MT_U8, MT_SHAPE(READ));
    if (finds) {
        mg_out(run, "found", MT_I64, MT_SHAPE(1));
        mg_out(run, "skipped", MT_I64, MT_SHAPE(FOLDERS + 1));
        mg_out(run, "reasons", MT_U8, MT_SHAPE(FOLDERS, LINE));
    } else {
        mg_i64(run, "last", 1);
        mg_i64(run, "every", 0);
        mg_i64(run, "best", -1);
    }
    bool good = mg_12_end(run, &a, disk);
    mt_disk_sim_free(disk);
    if (!good)
        return false;
    good = finds ? *(const int64_t *)mg_result(run, "found") == step_of(FOLDERS - 2) : judge_pruned(run, &a);
    if (finds && !good)
        mg_fail(run, "%d checkpoints, the newest %d are damaged: step %" PRId64 ", expected %" PRId64, FOLDERS,
                FOLDERS - 2, *(const int64_t *)mg_result(run, "found"), step_of(FOLDERS - 2));
    mt_disk_sim_free(a.disk);
    return good;
}
