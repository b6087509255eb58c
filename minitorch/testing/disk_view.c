/* disk_view.c -- names and bytes on the simulated disk after any part of its changes; see disk_view.h. */
#include "testing/disk_view.h"

#include <stdlib.h>
#include <string.h>

void *disk_grown(void *array, int64_t count, size_t size)
{
    array = realloc(array, (size_t)(count + 1) * size);
    MT_CHECK(array, "out of memory");
    return array;
}

char *disk_copied(const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    MT_CHECK(copy || !text, "out of memory");
    return copy;
}

/* ---- views ------------------------------------------------------------------------------------ */

named *disk_find(const view *v, const char *path)
{
    for (named *n = v->name; n < v->name + v->names; n++)
        if (strcmp(n->path, path) == 0)
            return n;
    return NULL;
}

const char *disk_folder_of(char *folder, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(folder, 4096, "%.*s", slash ? (int)mt_max(slash - path, 1) : 1, slash ? path : ".");
    return folder;
}

bool disk_is_folder(const view *v, const char *path)
{
    const named *n = disk_find(v, path);
    return strcmp(path, "/") == 0 || strcmp(path, ".") == 0 || (n && n->file == FOLDER);
}

static void drop(view *v, named *n)
{
    free(n->path);
    *n = v->name[--v->names];
}

static void set(view *v, const char *path, int file)
{
    named *n = disk_find(v, path);
    if (n) {
        n->file = file;
        return;
    }
    v->name = disk_grown(v->name, v->names, sizeof *v->name);
    v->name[v->names++] = (named){ disk_copied(path), file };
}

static void put(contents *c, const uint8_t *data, int64_t bytes, int64_t at)
{
    if (at + bytes > c->size) {
        c->bytes = disk_grown(c->bytes, at + bytes, 1);
        memset(c->bytes + c->size, 0, (size_t)(at + bytes - c->size));
        c->size = at + bytes;
    }
    if (data)
        memcpy(c->bytes + at, data, (size_t)bytes);
    else
        memset(c->bytes + at, 0, (size_t)bytes);
}

/* What is in a folder goes with it: removals of the names in it may be lost when that of the folder is not. */
static void drop_inside(view *v, const char *path)
{
    char folder[4096];
    for (int i = v->names - 1; i >= 0; i--)
        if (strcmp(disk_folder_of(folder, v->name[i].path), path) == 0)
            drop(v, &v->name[i]);
}

/* Another name for a file or folder, and for what is in that. */
static void move(view *v, const char *from, const char *to)
{
    size_t length = strlen(from);
    for (named *n = v->name; n < v->name + v->names; n++)
        if (strncmp(n->path, from, length) == 0 && (!n->path[length] || n->path[length] == '/')) {
            char path[4096];
            snprintf(path, sizeof path, "%s%s", to, n->path + length);
            free(n->path);
            n->path = disk_copied(path);
        }
}

void disk_apply(view *v, const op *o, int64_t bytes, bool zeros)
{
    named *n = o->path ? disk_find(v, o->path) : NULL;
    switch (o->kind) {
    case CREATE:
        v->file = disk_grown(v->file, v->files, sizeof *v->file);
        v->file[v->files++] = (contents){ 0 };
        break;
    case WRITE:
        if (bytes > 0)
            put(&v->file[o->file], zeros ? NULL : o->data, bytes, o->at);
        break;
    case NAME:
        set(v, o->path, o->file);
        break;
    case MKDIR:
        set(v, o->path, FOLDER);
        break;
    case RENAME:
        if (n && disk_find(v, o->to))
            drop(v, disk_find(v, o->to));
        if (n)
            move(v, o->path, o->to);
        break;
    case EXCHANGE:
        if (n && disk_find(v, o->to)) {
            move(v, o->path, "?");
            move(v, o->to, o->path);
            move(v, "?", o->to);
        }
        break;
    case REMOVE:
        if (n && n->file == FOLDER)
            drop_inside(v, o->path);
        n = disk_find(v, o->path);
        if (n)
            drop(v, n);
        break;
    case SYNC:
    case SYNC_FOLDER:
        break;
    }
}

void disk_free_view(view *v)
{
    for (int i = 0; i < v->names; i++)
        free(v->name[i].path);
    for (int i = 0; i < v->files; i++)
        free(v->file[i].bytes);
    free(v->name);
    free(v->file);
    *v = (view){ 0 };
}

int disk_change(disk_sim *s, op o)
{
    s->op = disk_grown(s->op, s->ops, sizeof *s->op);
    s->op[s->ops++] = o;
    disk_apply(&s->live, &o, o.bytes, false);
    return 0;
}
