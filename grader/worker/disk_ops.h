/* disk_ops.h -- the changes of a simulated disk (testing/disk_sim.h) as bytes: what the checks of lab 12 send to the
 * worker to begin with, and what they get back.
 *
 *     kind, file, at, bytes, length of path, length of `to` (int64_t each), path, to, data, for each change
 *
 * Reading checks everything, because a worker's answer may be anything. */
#pragma once

#include "testing/disk_view.h"

#include <stdlib.h>
#include <string.h>

enum {
    MG_DISK_HEAD = 6,
    MG_DISK_BYTES = 1 << 16, /* of all changes of a call */
    MG_DISK_MOST = 1 << 20,  /* of one on a disk with at least so many changes: */
    MG_DISK_FEW = 1000,
};

/* mg_disk_pack -- changes `from` and later of a disk; the bytes used, or -1 when there are more than `room`. */
static inline int64_t mg_disk_pack(uint8_t *out, int64_t room, const mt_io *disk, int64_t from)
{
    const disk_sim *s = (const disk_sim *)disk;
    int64_t used = 0;
    for (const op *o = s->op + from; o < s->op + s->ops; o++) {
        int64_t path = o->path ? (int64_t)strlen(o->path) : 0, to = o->to ? (int64_t)strlen(o->to) : 0;
        int64_t data = o->data ? o->bytes : 0;
        const int64_t head[MG_DISK_HEAD] = { o->kind, o->file, o->at, data, path, to };
        if (used + (int64_t)sizeof head + path + to + data > room)
            return -1;
        memcpy(out + used, head, sizeof head);
        used += (int64_t)sizeof head;
        const void *part[] = { o->path, o->to, o->data };
        const int64_t bytes[] = { path, to, data };
        for (int i = 0; i < 3; used += bytes[i++])
            if (bytes[i] > 0)
                memcpy(out + used, part[i], (size_t)bytes[i]);
    }
    return used;
}

static inline void *mg_disk_taken(const uint8_t *from, int64_t bytes)
{
    char *copy = calloc((size_t)bytes + 1, 1);
    MT_CHECK(copy, "out of memory");
    memcpy(copy, from, (size_t)bytes);
    return copy;
}

/* Whether a change with these numbers can be made on this disk. */
static inline bool mg_disk_sound(const disk_sim *s, const int64_t head[MG_DISK_HEAD], int64_t left)
{
    int64_t what = head[0], file = head[1];
    bool of_file = what == WRITE || what == SYNC || what == NAME;
    for (int i = 2; i < MG_DISK_HEAD; i++)
        if (head[i] < 0 || head[i] > MG_DISK_BYTES)
            return false;
    return what >= CREATE && what <= SYNC_FOLDER && head[3] + head[4] + head[5] <= left &&
           (!of_file || (file >= 0 && file < s->live.files)) && (what != CREATE || file == s->live.files) &&
           (what >= NAME) == (head[4] > 0) && (what == RENAME || what == EXCHANGE) == (head[5] > 0) &&
           (what == WRITE || head[3] == 0);
}

/* mg_disk_unpack -- make these changes on a disk. False: they are not changes. */
static inline bool mg_disk_unpack(mt_io *disk, const uint8_t *bytes, int64_t size)
{
    disk_sim *s = (disk_sim *)disk;
    for (int64_t at = 0; at < size;) {
        int64_t head[MG_DISK_HEAD];
        if (size - at < (int64_t)sizeof head)
            return false;
        memcpy(head, bytes + at, sizeof head);
        at += (int64_t)sizeof head;
        if (!mg_disk_sound(s, head, size - at))
            return false;
        op o = { .kind = (kind)head[0], .file = (int)head[1], .at = head[2], .bytes = head[3] };
        o.path = head[4] ? mg_disk_taken(bytes + at, head[4]) : NULL;
        o.to = head[5] ? mg_disk_taken(bytes + at + head[4], head[5]) : NULL;
        o.data = o.kind == WRITE ? mg_disk_taken(bytes + at + head[4] + head[5], head[3]) : NULL;
        at += head[3] + head[4] + head[5];
        disk_change(s, o);
    }
    return true;
}
