/* disk_view.h -- inside the simulated disk: the list of its changes, and what a part of that list gives. */
#pragma once

#include "testing/disk_sim.h"

#include <pthread.h>

enum { FOLDER = -1 };

typedef enum kind { CREATE, WRITE, SYNC, NAME, RENAME, EXCHANGE, REMOVE, MKDIR, SYNC_FOLDER } kind;

typedef struct op {
    kind kind;
    int file;          /* of CREATE, WRITE, SYNC, NAME */
    char *path, *to;   /* the name that changes; the second one of RENAME and EXCHANGE */
    uint8_t *data;     /* of WRITE */
    int64_t bytes, at; /* bytes of data */
} op;

typedef struct named {
    char *path;
    int file; /* or FOLDER */
} named;

typedef struct contents {
    uint8_t *bytes;
    int64_t size;
} contents;

typedef struct view {
    named *name;
    contents *file;
    int names, files;
} view;

typedef struct disk_sim {
    mt_io base;
    op *op;
    int64_t ops, fail_at, calls;
    int error;
    bool fail_after, failed, held;
    pthread_mutex_t lock; /* of held */
    pthread_cond_t go;
    char *locked;
    view live;
} disk_sim;

void *disk_grown(void *array, int64_t count, size_t size); /* room for count + 1 elements */
char *disk_copied(const char *text);
const char *disk_folder_of(char *folder, const char *path); /* "/" of "/a", "." of "a".   folder [4096] */

named *disk_find(const view *v, const char *path); /* NULL: there is no such name */
bool disk_is_folder(const view *v, const char *path);

/* disk_apply -- make the change o. A WRITE writes only its first `bytes`, which are zeros when `zeros` is true. */
void disk_apply(view *v, const op *o, int64_t bytes, bool zeros);
void disk_free_view(view *v);

int disk_change(disk_sim *s, op o); /* append and apply it; 0 */
