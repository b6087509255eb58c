/* disk_sim.c -- the simulated disk; see disk_sim.h. All changes are kept in a list: a power cut leaves the list without
 * some unsynced ones (disk_cut.c). */
#include "testing/disk_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_FD = 1 << 20 };

/* ---- calls ------------------------------------------------------------------------------------ */

/* Whether this call fails. */
static bool fails(disk_sim *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->held)
        pthread_cond_wait(&s->go, &s->lock);
    pthread_mutex_unlock(&s->lock);
    int64_t n = s->calls++;
    bool now = s->fail_at >= 0 && (n == s->fail_at || (s->fail_after && n > s->fail_at));
    if (now)
        errno = s->error;
    s->failed |= now;
    return now;
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

static int create(mt_io *io, const char *path)
{
    disk_sim *s = (disk_sim *)io;
    char folder[4096];
    if (fails(s))
        return -1;
    if (!disk_is_folder(&s->live, disk_folder_of(folder, path)))
        return refuse(ENOENT);
    disk_change(s, (op){ .kind = CREATE, .file = s->live.files });
    return FIRST_FD + s->live.files - 1;
}

static int write_some(mt_io *io, int fd, const void *data, int64_t bytes, int64_t at)
{
    disk_sim *s = (disk_sim *)io;
    bool bad = fails(s);
    int problem = errno;
    int64_t n = bad ? bytes / 2 : bytes;
    uint8_t *copy = disk_grown(NULL, n, 1);
    memcpy(copy, data, (size_t)n);
    disk_change(s, (op){ .kind = WRITE, .file = fd - FIRST_FD, .data = copy, .bytes = n, .at = at });
    errno = problem;
    return bad ? -1 : 0;
}

static int name(mt_io *io, int fd, const char *path)
{
    disk_sim *s = (disk_sim *)io;
    return fails(s) ? -1 : disk_change(s, (op){ .kind = NAME, .file = fd - FIRST_FD, .path = disk_copied(path) });
}

static int fsync_file(mt_io *io, int fd)
{
    disk_sim *s = (disk_sim *)io;
    return fails(s) ? -1 : disk_change(s, (op){ .kind = SYNC, .file = fd - FIRST_FD });
}

static int close_file(mt_io *io, int fd)
{
    disk_sim *s = (disk_sim *)io;
    if (fd == FIRST_FD - 1) { /* of the lock */
        free(s->locked);
        s->locked = NULL;
    }
    return 0;
}

static bool has_names(const disk_sim *s, const char *path)
{
    char folder[4096];
    for (int i = 0; i < s->live.names; i++)
        if (strcmp(disk_folder_of(folder, s->live.name[i].path), path) == 0)
            return true;
    return false;
}

static int change_names(mt_io *io, kind what, const char *from, const char *to)
{
    disk_sim *s = (disk_sim *)io;
    char a[4096], b[4096];
    if (fails(s))
        return -1;
    MT_CHECK(strcmp(disk_folder_of(a, from), disk_folder_of(b, to)) == 0, "rename of %s to another folder, %s", from,
             to);
    if (!disk_find(&s->live, from) || (what == EXCHANGE && !disk_find(&s->live, to)))
        return refuse(ENOENT);
    if (what == RENAME && has_names(s, to))
        return refuse(ENOTEMPTY);
    return disk_change(s, (op){ .kind = what, .path = disk_copied(from), .to = disk_copied(to) });
}

static int rename_path(mt_io *io, const char *from, const char *to)
{
    return change_names(io, RENAME, from, to);
}

static int exchange_paths(mt_io *io, const char *a, const char *b)
{
    return change_names(io, EXCHANGE, a, b);
}

static int remove_path(mt_io *io, const char *path)
{
    disk_sim *s = (disk_sim *)io;
    if (!disk_find(&s->live, path))
        return refuse(ENOENT);
    if (fails(s))
        return -1;
    if (has_names(s, path))
        return refuse(ENOTEMPTY);
    return disk_change(s, (op){ .kind = REMOVE, .path = disk_copied(path) });
}

static int make_folder(mt_io *io, const char *path)
{
    disk_sim *s = (disk_sim *)io;
    char folder[4096];
    if (fails(s))
        return -1;
    if (disk_find(&s->live, path))
        return refuse(EEXIST);
    if (!disk_is_folder(&s->live, disk_folder_of(folder, path)))
        return refuse(ENOENT);
    return disk_change(s, (op){ .kind = MKDIR, .path = disk_copied(path) });
}

static int fsync_folder(mt_io *io, const char *path)
{
    disk_sim *s = (disk_sim *)io;
    if (fails(s))
        return -1;
    return disk_is_folder(&s->live, path) ? disk_change(s, (op){ .kind = SYNC_FOLDER, .path = disk_copied(path) })
                                          : refuse(ENOENT);
}

static int list(mt_io *io, const char *path, void (*each)(void *user, const char *name), void *user)
{
    disk_sim *s = (disk_sim *)io;
    char folder[4096];
    if (!disk_is_folder(&s->live, path))
        return refuse(ENOENT);
    for (int i = 0; i < s->live.names; i++) {
        const char *full = s->live.name[i].path, *slash = strrchr(full, '/');
        if (strcmp(disk_folder_of(folder, full), path) == 0)
            each(user, slash ? slash + 1 : full);
    }
    return 0;
}

static int lock_folder(mt_io *io, const char *folder)
{
    disk_sim *s = (disk_sim *)io;
    if (!disk_is_folder(&s->live, folder))
        return refuse(ENOENT);
    if (s->locked)
        return refuse(EWOULDBLOCK);
    s->locked = disk_copied(folder);
    return FIRST_FD - 1;
}

static mt_status map_file(mt_io *io, mt_file_map *out, const char *path)
{
    int64_t size;
    const uint8_t *bytes = mt_disk_sim_file(io, path, &size);
    if (!bytes)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(ENOENT));
    uint8_t *copy = size ? disk_grown(NULL, size - 1, 1) : NULL; /* exact, so that reading past it is noticed */
    if (size)
        memcpy(copy, bytes, (size_t)size);
    *out = (mt_file_map){ .bytes = copy, .size = size };
    return MT_OK;
}

static void unmap_file(mt_io *io, mt_file_map *map)
{
    (void)io;
    free((void *)map->bytes);
}

/* ---- the disk --------------------------------------------------------------------------------- */

mt_io *mt_disk_sim_new(void)
{
    disk_sim *s = disk_grown(NULL, 0, sizeof *s);
    *s = (disk_sim){ .base = { create, write_some, name, fsync_file, close_file, rename_path, exchange_paths,
                               remove_path, make_folder, fsync_folder, list, lock_folder, map_file, unmap_file },
                     .fail_at = -1,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .go = PTHREAD_COND_INITIALIZER };
    return &s->base;
}

void mt_disk_sim_free(mt_io *disk)
{
    disk_sim *s = (disk_sim *)disk;
    for (op *o = s->op; o < s->op + s->ops; o++) {
        free(o->path);
        free(o->to);
        free(o->data);
    }
    free(s->op);
    free(s->locked);
    disk_free_view(&s->live);
    free(s);
}

void mt_disk_sim_fail(mt_io *disk, int64_t n, int error, bool from)
{
    disk_sim *s = (disk_sim *)disk;
    s->fail_at = n < 0 ? -1 : s->calls + n;
    s->error = error;
    s->fail_after = from;
    s->failed = false;
}

bool mt_disk_sim_failed(const mt_io *disk)
{
    return ((const disk_sim *)disk)->failed;
}

int64_t mt_disk_sim_ops(const mt_io *disk)
{
    return ((const disk_sim *)disk)->ops;
}

uint8_t *mt_disk_sim_file(mt_io *disk, const char *path, int64_t *size)
{
    disk_sim *s = (disk_sim *)disk;
    const named *n = disk_find(&s->live, path);
    if (!n || n->file == FOLDER)
        return NULL;
    contents *c = &s->live.file[n->file];
    *size = c->size;
    if (!c->bytes)
        c->bytes = disk_grown(NULL, 0, 1);
    return c->bytes;
}

void mt_disk_sim_put(mt_io *disk, const char *path, const void *bytes, int64_t size)
{
    disk_sim *s = (disk_sim *)disk;
    char folder[4096];
    uint8_t *copy = disk_grown(NULL, size, 1);
    if (size)
        memcpy(copy, bytes, (size_t)size);
    disk_change(s, (op){ .kind = CREATE, .file = s->live.files });
    int file = s->live.files - 1;
    disk_change(s, (op){ .kind = WRITE, .file = file, .data = copy, .bytes = size });
    disk_change(s, (op){ .kind = SYNC, .file = file });
    disk_change(s, (op){ .kind = NAME, .file = file, .path = disk_copied(path) });
    disk_change(s, (op){ .kind = SYNC_FOLDER, .path = disk_copied(disk_folder_of(folder, path)) });
}

void mt_disk_sim_hold(mt_io *disk, bool hold)
{
    disk_sim *s = (disk_sim *)disk;
    pthread_mutex_lock(&s->lock);
    s->held = hold;
    pthread_cond_broadcast(&s->go);
    pthread_mutex_unlock(&s->lock);
}
