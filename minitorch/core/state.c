/* state.c -- the list of named values of state.h: made, searched, copied. */
#include "core/state.h"
#include "core/scope.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mt_state_item *append(mt_state *state, const char *format, va_list args)
{
    state->item = mt_realloc(state->item, state->count + 1, sizeof *state->item);
    mt_state_item *item = &state->item[state->count++];
    *item = (mt_state_item){ 0 };
    int length = vsnprintf(item->name, sizeof item->name, format, args);
    MT_CHECK(length < (int)sizeof item->name, "the name %s... is too long", item->name);
    return item;
}

void mt_state_tensor(mt_state *state, mt_tensor *tensor, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    mt_state_item *item = append(state, name, args);
    va_end(args);
    MT_CHECK(mt_view_is_contiguous(&tensor->view), "%s is %s: only dense tensors are saved", item->name,
             mt_view_text(&tensor->view));
    item->tensor = mt_retain(tensor);
}

void mt_state_integer(mt_state *state, int64_t *integer, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    append(state, name, args)->integer = integer;
    va_end(args);
}

void mt_state_rng(mt_state *state, mt_rng *rng, const char *name)
{
    mt_state_integer(state, (int64_t *)&rng->seed, "%s.seed", name);
    mt_state_integer(state, (int64_t *)&rng->stream, "%s.stream", name);
    mt_state_integer(state, (int64_t *)&rng->counter, "%s.counter", name);
}

void mt_state_free(mt_state *state)
{
    for (mt_state_item *i = state->item; i < state->item + state->count; i++) {
        mt_release(i->tensor);
        free(i->setting);
    }
    free(state->item);
    *state = (mt_state){ 0 };
}

/* ---- found, counted, copied --------------------------------------------------------------------- */

mt_state_item *mt_state_find(const mt_state *state, const char *name)
{
    for (mt_state_item *i = state->item; i < state->item + state->count; i++)
        if (strcmp(i->name, name) == 0)
            return i;
    return NULL;
}

static int64_t bytes_of(const mt_state_item *i)
{
    return i->tensor ? mt_numel(i->tensor) * mt_dtype_size(i->tensor->dtype) : 0;
}

int64_t mt_state_bytes(const mt_state *state)
{
    int64_t bytes = 0;
    for (const mt_state_item *i = state->item; i < state->item + state->count; i++)
        bytes += bytes_of(i) + (i->integer || i->real ? (int64_t)sizeof *i->integer : 0);
    return bytes;
}

mt_state mt_state_clone(const mt_state *state)
{
    mt_state clone = { 0 };
    mt_scope_begin();
    for (const mt_state_item *i = state->item; i < state->item + state->count; i++)
        if (i->tensor)
            mt_state_tensor(&clone, mt_empty(mt_view_shape(&i->tensor->view), i->tensor->dtype, MT_CPU), "%s", i->name);
    mt_scope_end();
    mt_state_copy(&clone, state);
    return clone;
}

void mt_state_copy(const mt_state *to, const mt_state *from)
{
    const mt_state_item *f = from->item, *end = from->item + from->count;
    for (const mt_state_item *t = to->item; t < to->item + to->count; t++) {
        if (!t->tensor)
            continue;
        while (f < end && !f->tensor)
            f++;
        MT_CHECK(f < end && strcmp(t->name, f->name) == 0 && bytes_of(t) == bytes_of(f),
                 "copying state: %s has no counterpart", t->name);
        mt_copy(mt_data(t->tensor), t->tensor->storage->device, mt_data(f->tensor), f->tensor->storage->device,
                bytes_of(t));
        t->tensor->storage->version++;
        f++;
    }
}
