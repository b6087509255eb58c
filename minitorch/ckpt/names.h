/* names.h -- what a folder contains. */
#pragma once

#include "ckpt/commit.h"

typedef struct mt_names {
    char **name; /* in no order */
    int64_t count;
} mt_names;

mt_status mt_names_of(mt_names *out, const char *folder); /* MT_ERR_IO: none is there; nothing to free */
void mt_names_free(mt_names *names);

/* mt_checkpoint_steps -- the steps of all folders DIR/step-N, valid or not, newest first; the caller frees them.
 * Other names are passed over. */
mt_status mt_checkpoint_steps(int64_t **steps, int64_t *count, const char *dir);
