/* 12-disk.c -- how the checks of steps 12.3 to 12.5 see a disk. The worker sends the list of changes that a unit made
 * to its simulated disk; they are made again on one of ours, and every state is judged that a power cut after any of
 * them may leave. */
#include "checks/12-disk.h"
#include "checks/fill.h"
#include "worker/disk_ops.h"

#include <inttypes.h>

static char runs[MG_WORDS / 2]; /* the folder of all runs */
static bool is_shared;          /* with others */

/* What others have in it. */
static const char *const folders[] = { "best", "step-12.bak" };
static const char *const strangers[] = { "notes.txt", "step-12x", ".step-7.4711.tmp", "best/weights.bin",
                                         "step-12.bak/" MT_MANIFEST };

/* ---- checkpoints ----------------------------------------------------------------------------------------- */

void mg_12_manifest(saved *s, int64_t step)
{
    int64_t last = s->count - 1;
    char text[MG_WORDS];
    int used = snprintf(text, sizeof text, "step %" PRId64 "\n", step);
    for (int64_t i = 0; i < last; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "file %" PRId64 " %08" PRIx32 " %s\n", s->bytes[i],
                         mg_12_crc_of(0, s->data[i], s->bytes[i]), s->name[i]);
    used += snprintf(text + used, sizeof text - (size_t)used, "end\n");
    MT_CHECK(used <= MG_SAVED_BYTES, "the manifest has %d bytes", used);
    strcpy(s->name[last], MT_MANIFEST);
    s->bytes[last] = used;
    memcpy(s->data[last], text, (size_t)used);
}

saved mg_12_saved(mt_rng *rng, int64_t step, int64_t files)
{
    saved s = { .step = step, .count = files + 1 };
    for (int64_t i = 0; i < files; i++) {
        snprintf(s.name[i], MT_PART_NAME, "part-%" PRId64 "-of-%" PRId64, i + 1, files);
        s.bytes[i] = mt_rng_below(rng, 6) ? mg_pick(rng, 2, 99) : 0;
        for (int64_t k = 0; k < s.bytes[i]; k++)
            s.data[i][k] = (uint8_t)mg_pick(rng, 1, 255); /* no zeros, which a power cut may leave */
    }
    mg_12_manifest(&s, step);
    return s;
}

void mg_12_path(char path[MG_WORDS], int64_t step, const char *name)
{
    int used = snprintf(path, MG_WORDS, "%s", runs);
    if (step >= 0)
        used += snprintf(path + used, MG_WORDS - (size_t)used, "/step-%" PRId64, step);
    if (name)
        snprintf(path + used, MG_WORDS - (size_t)used, "/%s", name);
}

static void make_folder(mt_io *disk, const char *path, const char *parent)
{
    disk->mkdir(disk, path);
    disk->fsync_dir(disk, parent);
}

const char *mg_12_runs(void)
{
    return runs;
}

int64_t mg_12_strangers(void)
{
    return is_shared ? 5 : 0;
}

mt_io *mg_12_disk(bool far)
{
    char path[MG_WORDS];
    mt_io *disk = mt_disk_sim_new();
    snprintf(runs, sizeof runs, "/runs");
    is_shared = far;
    make_folder(disk, runs, "/");
    for (int k = 0; k < 2 && far; k++) {
        strcpy(path, runs);
        snprintf(runs + strlen(runs), sizeof runs - strlen(runs), "/%0*d", (300 - 5) / 2 - 1, k);
        make_folder(disk, runs, path);
    }
    for (int i = 0; i < MT_COUNT(folders) && is_shared; i++) {
        mg_12_path(path, -1, folders[i]);
        make_folder(disk, path, runs);
    }
    for (int i = 0; i < MT_COUNT(strangers) && is_shared; i++) {
        mg_12_path(path, -1, strangers[i]);
        mt_disk_sim_put(disk, path, strangers[i], (int64_t)strlen(strangers[i]));
    }
    return disk;
}

static bool keeps_strangers(mg_run *run, const after *a)
{
    for (int i = 0; i < MT_COUNT(strangers) && is_shared; i++) {
        char path[MG_WORDS];
        int64_t size;
        mg_12_path(path, -1, strangers[i]);
        const uint8_t *bytes = mt_disk_sim_file(a->disk, path, &size);
        if (bytes && size == (int64_t)strlen(strangers[i]) && memcmp(bytes, strangers[i], (size_t)size) == 0)
            continue;
        mg_hint(run, "files that are not part of a checkpoint may belong to anybody: leave them as they are");
        return mg_fail(run, "%s, which belongs to no checkpoint, is %s", path, bytes ? "changed" : "removed");
    }
    return true;
}

void mg_12_put(mt_io *disk, const saved *s)
{
    char path[MG_WORDS];
    mg_12_path(path, s->step, NULL);
    make_folder(disk, path, runs);
    for (int64_t i = 0; i < s->count; i++) {
        mg_12_path(path, s->step, s->name[i]);
        mt_disk_sim_put(disk, path, s->data[i], s->bytes[i]);
    }
}

bool mg_12_has(mt_io *disk, const saved *s, int64_t i, int64_t step)
{
    char path[MG_WORDS];
    int64_t size;
    mg_12_path(path, step, s->name[i]);
    const uint8_t *bytes = mt_disk_sim_file(disk, path, &size);
    return bytes && size == s->bytes[i] && memcmp(bytes, s->data[i], (size_t)size) == 0;
}

/* ---- calls ----------------------------------------------------------------------------------------------- */

int64_t mg_12_packed(uint8_t *out, int64_t room, const mt_io *disk)
{
    int64_t bytes = mg_disk_pack(out, room, disk, 0);
    MT_CHECK(bytes >= 0, "the disk is too large");
    return bytes;
}

/* Bytes for the changes that a call makes. */
static int64_t room_for(const mt_io *before)
{
    return mt_disk_sim_ops(before) < MG_DISK_FEW ? MG_DISK_BYTES : MG_DISK_MOST;
}

void mg_12_begin(mg_run *run, const char *function, const mt_io *before, failure f)
{
    static uint8_t packed[MG_DISK_MOST];
    int64_t bytes = mg_12_packed(packed, sizeof packed, before);
    mg_begin(run, function);
    mg_out(run, "result", MT_I64, MT_SHAPE(5));
    mg_out(run, "changes", MT_U8, MT_SHAPE(room_for(before)));
    mg_out(run, "message", MT_U8, MT_SHAPE(MG_WORDS));
    memcpy(mg_in(run, "disk", MT_U8, MT_SHAPE(bytes)), packed, (size_t)bytes);
    mg_i64(run, "fails", f.n);
    mg_i64(run, "errno", f.error);
    mg_i64(run, "all after it", f.from);
    memcpy(mg_in(run, "folder", MT_U8, MT_SHAPE((int64_t)sizeof runs)), runs, sizeof runs);
}

bool mg_12_end(mg_run *run, after *a, const mt_io *before)
{
    static uint8_t packed[MG_DISK_MOST];
    if (!mg_call(run))
        return false;
    const int64_t *result = mg_result(run, "result");
    *a = (after){ mt_disk_sim_new(), mt_disk_sim_ops(before), result[0], result[1] != 0, result[3], result[4], "" };
    snprintf(a->message, MG_WORDS, "%.*s", MG_WORDS - 1, (const char *)mg_result(run, "message"));
    mg_disk_unpack(a->disk, packed, mg_12_packed(packed, sizeof packed, before));
    bool known = result[2] >= 0 && result[2] <= room_for(before) &&
                 mg_disk_unpack(a->disk, mg_result(run, "changes"), result[2]);
    if (!known)
        mg_fail(run, "the disk was changed too often, or by other calls than those of mt_io");
    if (known && keeps_strangers(run, a))
        return true;
    mt_disk_sim_free(a->disk);
    return false;
}

bool mg_12_read_once(mg_run *run, int64_t room)
{
    const char *line = mg_result(run, "read"), *end = line + strnlen(line, (size_t)room);
    for (const char *stop; (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1) {
        size_t length = (size_t)(stop + 1 - line);
        for (const char *other = stop + 1; (size_t)(end - other) >= length;) {
            const char *next = memchr(other, '\n', (size_t)(end - other));
            if (memcmp(other, line, length) == 0) {
                mg_hint(run, "files may be large: keep what the first look has said");
                return mg_fail(run, "%.*s is read twice", (int)mt_min(length - 1, 200), line);
            }
            other = next ? next + 1 : end;
        }
    }
    return true;
}

/* ---- power cuts ------------------------------------------------------------------------------------------ */

static const char *op_words(const mt_io *disk, int64_t i, char words[MG_WORDS])
{
    static const char *const kinds[] = { "create",     "write",     "fsync of a file",
                                         "naming",     "rename to", "exchange of",
                                         "removal of", "mkdir of",  "fsync of the folder" };
    const op *o = &((const disk_sim *)disk)->op[i];
    snprintf(words, MG_WORDS, "%s%s%s", kinds[o->kind], o->path ? " " : "", o->to ? o->to : o->path ? o->path : "");
    return words;
}

bool mg_12_survives(mg_run *run, const after *a, disk_rule rule, const void *user)
{
    char words[MG_WORDS];
    int64_t last = mt_disk_sim_ops(a->disk);
    for (int64_t ops = a->first; ops <= last; ops++)
        for (int64_t s = 0; s < mt_disk_sim_states(a->disk, ops); s++) {
            mt_io *left = mt_disk_sim_cut(a->disk, ops, s);
            const char *wrong = rule(left, user, ops == last && a->status == MT_OK);
            if (wrong)
                mg_fail(run, "a power cut %s %s (change %" PRId64 " of %" PRId64 ") may leave %s",
                        ops == last ? "at the end, after" : "after",
                        ops > a->first ? op_words(a->disk, ops - 1, words) : "the begin", ops - a->first,
                        last - a->first, wrong);
            mt_disk_sim_free(left);
            if (wrong)
                return false;
        }
    return true;
}
