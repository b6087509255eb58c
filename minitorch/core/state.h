/* state.h -- what a training run must save: a list of named values, which every part of the run appends its own to.
 *
 *     mt_state state = { 0 };
 *     mt_module_state(&state, model);                          // "h.0.ln_1.weight", ... (nn/module.h)
 *     mt_optim_state(&state, optim);                           // "h.0.ln_1.weight/exp_avg", ... (optim/optim.h)
 *     mt_state_integer(&state, &step, "step");
 *     mt_state_setting(&state, "seed", "%d", 1);               // real numbers and settings: ckpt/values.h
 *     status = mt_safetensors_write(path, &state);             // or read: the same list (ckpt/safetensors.h)
 *     mt_state_free(&state);
 *
 * Saving, loading, copying and counting bytes are loops over the list. Tensors are retained, integers borrowed: those
 * of an optimizer are valid until a parameter is added to it. */
#pragma once

#include "core/tensor.h"

MT_C_BEGIN

enum { MT_STATE_NAME = 112 };

/* One of the four is not NULL. */
typedef struct mt_state_item {
    char name[MT_STATE_NAME];
    mt_tensor *tensor; /* dense */
    int64_t *integer;
    double *real;  /* saved exactly, as a text of 17 digits */
    char *setting; /* chosen by the user of the program; a run is resumed only with the same text */
    int64_t rows;  /* of a tensor padded with rows that are never read: those in use, which a file must have. 0: all */
    bool longer;   /* a file may have more rows: the first ones are read */
    bool table;    /* of a parameter: a sample reads some of its rows (mt_table_layer) */
} mt_state_item;

typedef struct mt_state {
    mt_state_item *item; /* in order of addition */
    int64_t count;
} mt_state;

/* Append a value. Names are printf formats, at most 111 characters long.
 * Aborts: a longer name; a tensor that is not dense. */
void mt_state_tensor(mt_state *state, mt_tensor *tensor, const char *name, ...) __attribute__((format(printf, 3, 4)));
void mt_state_integer(mt_state *state, int64_t *integer, const char *name, ...) __attribute__((format(printf, 3, 4)));
void mt_state_rng(mt_state *state, mt_rng *rng, const char *name); /* NAME.seed, NAME.stream, NAME.counter */

mt_state_item *mt_state_find(const mt_state *state, const char *name); /* lent; NULL when there is none */
int64_t mt_state_bytes(const mt_state *state);                         /* of all tensors, and 8 for each number */

/* mt_state_clone -- new tensors on the CPU with the values and names of these; what is not a tensor is left out.
 * mt_state_copy -- copy the values of all tensors between two such lists, in either direction. Aborts: other names or
 * sizes. */
mt_state mt_state_clone(const mt_state *state);
void mt_state_copy(const mt_state *to, const mt_state *from);

void mt_state_free(mt_state *state); /* leaves it empty; tensors that nothing else holds are freed */

MT_C_END
