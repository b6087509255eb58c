/* 12-many.c -- how the checks of steps 12.3 and 12.4 run with a checkpoint of 1,000 files, as many ranks have, or for a
 * save, which changes the disk several times for each file, 300: each has its name as its contents. Rows:
 * 12-checkpoints.c. */
#include "checks/12-disk.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <string.h>

#include "core/base.h"

enum { MANY = 1000, SAVED = 300, LINE = 64, STEP = 70 };

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
    if (a->status != MT_OK) {
        mg_fail(run, "%" PRId64 " files: status %" PRId64 ", %s", m->files, a->status, a->message);
        return false;
    }
    for (int64_t i = 0; i <= m->files; i++) {
        char path[MG_WORDS];
        int64_t size = 0;
        mg_12_path(path, STEP, m->name[i]);
        const uint8_t *bytes = mt_disk_sim_file(a->disk, path, &size);
        if (there ? bytes && size == m->bytes[i] && memcmp(bytes, contents(m, i), (size_t)size) == 0 : !bytes)
            continue;
        mg_fail(run, "%" PRId64 " files: afterwards %s is %s", m->files, path,
                !there  ? "still there"
                : bytes ? "another"
                        : "missing");
        return false;
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
