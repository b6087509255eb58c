/* disk_cut.c -- what a power cut may leave of the simulated disk: the list of its changes less some unsynced ones. */
#include "testing/disk_view.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 /* states */ };

/* Whether the disk has op i for certain after `ops` of them. */
static bool synced(const disk_sim *s, int64_t i, int64_t ops)
{
    char folder[4096];
    const op *o = &s->op[i];
    bool names = o->path && o->kind != SYNC_FOLDER;
    if (names)
        disk_folder_of(folder, o->path);
    for (int64_t k = i + 1; k < ops; k++) {
        const op *later = &s->op[k];
        if (names ? later->kind == SYNC_FOLDER && strcmp(later->path, folder) == 0
                  : later->kind == SYNC && later->file == o->file)
            return true;
        if (names && later->kind == REMOVE && strcmp(later->path, folder) == 0 && synced(s, k, ops))
            return true; /* nothing in a folder matters that is gone for certain */
    }
    return !names && o->kind != WRITE;
}

/* One unsynced change of a group: a folder's names, or a file's bytes. Groups are chosen independently. */
static bool same_group(const op *a, const op *b)
{
    char x[4096], y[4096];
    if (a->kind == WRITE || b->kind == WRITE)
        return a->kind == b->kind && a->file == b->file;
    return strcmp(disk_folder_of(x, a->path), disk_folder_of(y, b->path)) == 0;
}

/* The choices of group `first` begins: first parts of the changes of names; none, all, a half, zeros of the bytes. */
static int64_t choices(const disk_sim *s, int64_t first, int64_t ops, int64_t *bytes)
{
    int64_t count = 0;
    *bytes = 0;
    for (int64_t i = first; i < ops; i++)
        if (!synced(s, i, ops) && same_group(&s->op[first], &s->op[i])) {
            count++;
            *bytes += s->op[i].bytes;
        }
    return s->op[first].kind == WRITE ? 4 : count + 1;
}

static bool begins_group(const disk_sim *s, int64_t i, int64_t ops)
{
    if (synced(s, i, ops))
        return false;
    for (int64_t k = 0; k < i; k++)
        if (!synced(s, k, ops) && same_group(&s->op[k], &s->op[i]))
            return false;
    return true;
}

int64_t mt_disk_sim_states(const mt_io *disk, int64_t ops)
{
    const disk_sim *s = (const disk_sim *)disk;
    int64_t states = 1, bytes;
    for (int64_t i = 0; i < ops && states < MOST; i++)
        if (begins_group(s, i, ops))
            states *= choices(s, i, ops, &bytes);
    return mt_min(states, MOST);
}

/* For each op the bytes of it that are kept: those of a change of names count 1. -1: all of them, as zeros. */
static int64_t *keep(const disk_sim *s, int64_t ops, int64_t state)
{
    int64_t *kept = disk_grown(NULL, ops, sizeof *kept), bytes;
    for (int64_t i = 0; i < ops; i++)
        kept[i] = s->op[i].kind == WRITE ? s->op[i].bytes : 1;
    for (int64_t first = 0; first < ops; first++) {
        if (!begins_group(s, first, ops))
            continue;
        int64_t n = choices(s, first, ops, &bytes), choice = state % n;
        bool zeros = s->op[first].kind == WRITE && choice == 3;
        int64_t budget = s->op[first].kind != WRITE ? choice : choice == 0 ? 0 : choice == 1 ? bytes : bytes / 2;
        state /= n;
        for (int64_t i = first; i < ops; i++)
            if (!synced(s, i, ops) && same_group(&s->op[first], &s->op[i])) {
                kept[i] = zeros ? -1 : mt_min(kept[i], budget);
                budget -= mt_max(kept[i], 0);
            }
    }
    return kept;
}

mt_io *mt_disk_sim_cut(const mt_io *disk, int64_t ops, int64_t state)
{
    const disk_sim *s = (const disk_sim *)disk;
    mt_io *left = mt_disk_sim_new();
    disk_sim *to = (disk_sim *)left;
    view v = { 0 };
    int64_t *kept = keep(s, ops, state);
    for (int64_t i = 0; i < ops; i++) {
        const op *o = &s->op[i];
        if (kept[i] || o->kind == WRITE)
            disk_apply(&v, o, kept[i] < 0 ? o->bytes : kept[i], kept[i] < 0);
    }
    for (bool more = true; more;) { /* a folder before what is in it; what has no folder is lost */
        more = false;
        for (named *n = v.name; n < v.name + v.names; n++) {
            char folder[4096];
            if (disk_find(&to->live, n->path) || !disk_is_folder(&to->live, disk_folder_of(folder, n->path)))
                continue;
            more = true;
            if (n->file == FOLDER) {
                disk_change(to, (op){ .kind = MKDIR, .path = disk_copied(n->path) });
                disk_change(to, (op){ .kind = SYNC_FOLDER, .path = disk_copied(folder) });
            } else {
                mt_disk_sim_put(left, n->path, v.file[n->file].bytes, v.file[n->file].size);
            }
        }
    }
    disk_free_view(&v);
    free(kept);
    return left;
}
