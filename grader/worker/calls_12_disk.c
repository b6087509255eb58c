/* calls_12_disk.c -- how the worker calls steps 12.3 to 12.5: on a simulated disk, whose changes it sends back. */
#include "ckpt/checkpoint.h"
#include "worker/calls_12.h"
#include "worker/disk_ops.h"

/* ---- begin and end of a call. result: status, whether a call of the disk failed, bytes of its changes, maps left
 * open, manifests not freed; folder: of all runs ---- */

#define RUNS (const char *)U8(folder)

static int64_t before; /* changes of the disk as it was sent */

static mt_status (*real_map)(mt_io *io, mt_file_map *out, const char *path);
static void (*real_unmap)(mt_io *io, mt_file_map *map);
static char *read_names; /* what was read, one path a line; of so many bytes. NULL: it is not noted */
static int64_t read_room, maps;

static mt_status noted_map(mt_io *io, mt_file_map *out, const char *path)
{
    int64_t used = read_names ? (int64_t)strlen(read_names) : 0;
    if (read_names)
        snprintf(read_names + used, (size_t)(read_room - used), "%s\n", path);
    mt_status status = real_map(io, out, path);
    maps += status == MT_OK;
    return status;
}

static void noted_unmap(mt_io *io, mt_file_map *map)
{
    maps--;
    real_unmap(io, map);
}

static mt_io *begin(const mg_value *v)
{
    mt_io *disk = mt_disk_sim_new();
    MT_CHECK(mg_disk_unpack(disk, U8(disk), ARRAY(disk)->count), "the checker's disk cannot be read");
    before = mt_disk_sim_ops(disk);
    mt_disk_sim_fail(disk, N(fails), (int)N(errno), N(all after it));
    real_map = disk->map, real_unmap = disk->unmap;
    disk->map = noted_map, disk->unmap = noted_unmap;
    read_names = NULL;
    maps = mg_manifests = 0;
    mt_io_use(disk);
    return disk;
}

static void end(const mg_value *v, mt_io *disk, mt_status status)
{
    I64(result)[0] = status;
    I64(result)[1] = mt_disk_sim_failed(disk);
    I64(result)[2] = mg_disk_pack(U8(changes), ARRAY(changes)->count, disk, before);
    I64(result)[3] = maps;
    I64(result)[4] = mg_manifests;
    snprintf((char *)U8(message), (size_t)ARRAY(message)->count, "%s", status == MT_OK ? "" : mt_last_error());
    mt_io_use(NULL);
    mt_disk_sim_free(disk);
}

/* ---- 12.3 ------------------------------------------------------------------------------------------------ */

/* Write a part in two pieces; mt_part_put cannot be used here, as it calls a unit of step 12.1. */
static void put(mt_part *part, const void *user)
{
    const mg_value *data = user;
    size_t half = (size_t)data->count / 2;
    fwrite(data->u8, 1, half, part->out);
    fflush(part->out);
    fwrite(data->u8 + half, 1, (size_t)data->count - half, part->out);
}

/* names [n,64], bytes [n], data: parts. The last one is the manifest. */
static mt_part *parts_of(const mg_value *v, mg_value **pieces)
{
    int64_t n = ARRAY(bytes)->count, at = 0;
    mt_part *parts = calloc((size_t)n + 1, sizeof *parts);
    *pieces = calloc((size_t)n + 1, sizeof **pieces);
    MT_CHECK(parts && *pieces, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        (*pieces)[i] = (mg_value){ .u8 = U8(data) + at, .count = I64(bytes)[i] };
        at += I64(bytes)[i];
        parts[i].put = put;
        parts[i].user = &(*pieces)[i];
        memcpy(parts[i].name, U8(names) + i * MT_PART_NAME, MT_PART_NAME);
    }
    return parts;
}

void mg_call_commit(const mg_value *v)
{
    char folder[MT_PATH_SIZE];
    mg_value *pieces;
    mt_part *parts = parts_of(v, &pieces);
    mt_io *disk = begin(v);
    int64_t step = N(step);
    mt_checkpoint_path(folder, RUNS, step);
    end(v, disk, step < 0 ? mt_commit_file(RUNS, parts) : mt_commit(folder, parts, ARRAY(bytes)->count));
    free(parts);
    free(pieces);
}

void mg_call_remove(const mg_value *v)
{
    char folder[MT_PATH_SIZE];
    mt_io *disk = begin(v);
    mt_checkpoint_path(folder, RUNS, N(step));
    end(v, disk, mt_checkpoint_remove(folder));
}

/* ---- 12.4 ------------------------------------------------------------------------------------------------ */

static void note_reads(const mg_value *v)
{
    read_names = (char *)v->u8;
    read_room = v->count;
    read_names[0] = 0;
}

void mg_call_check(const mg_value *v)
{
    mt_io *disk = begin(v);
    note_reads(ARRAY(read));
    end(v, disk, mt_checkpoint_check(RUNS, N(step)));
}

/* Each bit of each file flipped, each beginning of it alone, and 1 to 4 bytes behind it.
 * status [n]; disk [], paths [files,64], of each call a file, and a bit (>= 0), or -1 - bytes; step */
void mg_call_damage(const mg_value *v)
{
    static const char runs[] = "/runs";
    mt_io *disk = mt_disk_sim_new();
    MT_CHECK(mg_disk_unpack(disk, U8(disk), ARRAY(disk)->count), "the checker's disk cannot be read");
    mt_io_use(disk);
    mt_checkpoint_check(runs, N(step)); /* valid so far, which must not be remembered */
    for (int64_t i = 0, size; i < ARRAY(status)->count; i++) {
        const char *path = (const char *)U8(paths) + I64(file)[i] * MT_PART_NAME;
        uint8_t *bytes = mt_disk_sim_file(disk, path, &size), *copy = mg_disk_taken(bytes, size);
        int64_t what = I64(what)[i], had = size;
        if (what >= 0)
            bytes[what / 8] ^= (uint8_t)(1 << what % 8);
        else
            mt_disk_sim_put(disk, path, copy, -1 - what);
        I64(status)[i] = mt_checkpoint_check(runs, N(step));
        mt_disk_sim_put(disk, path, copy, had);
        free(copy);
    }
    mt_io_use(NULL);
    mt_disk_sim_free(disk);
}

typedef struct skips {
    int64_t *step, count, most;
    char *reason;
    int64_t room;
} skips;

static void skip(void *user, int64_t step, const char *why)
{
    skips *s = user;
    if (s->count < s->most) {
        s->step[s->count] = step;
        snprintf(s->reason + s->count * s->room, (size_t)s->room, "%s", why);
    }
    s->count++;
}

/* skipped [n+1]: the first is their number. */
void mg_call_recover(const mg_value *v)
{
    int64_t most = ARRAY(skipped)->count - 1, *step = I64(found);
    skips s = { I64(skipped) + 1, 0, most, (char *)U8(reasons), ARRAY(reasons)->count / most };
    mt_io *disk = begin(v);
    note_reads(ARRAY(read));
    *step = -7;
    mt_status status = mt_recover(step, RUNS, skip, &s);
    end(v, disk, status);
    I64(skipped)[0] = s.count;
}

/* ---- 12.5 ------------------------------------------------------------------------------------------------ */

void mg_call_keeps(const mg_value *v)
{
    mt_keep keep = { N(last), N(every), N(best) };
    for (int64_t i = 0; i < ARRAY(kept)->count; i++)
        I64(kept)[i] = mt_keeps(&keep, I64(steps), i);
}

void mg_call_prune(const mg_value *v)
{
    mt_keep keep = { N(last), N(every), N(best) };
    mt_io *disk = begin(v);
    note_reads(ARRAY(read));
    end(v, disk, mt_checkpoint_prune(RUNS, &keep));
}
