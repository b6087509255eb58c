/* state.c -- the list of named values of state.h: made, copied, as texts. */
#include "core/state.h"
#include "core/scope.h"

#include <inttypes.h>
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

void mt_state_real(mt_state *state, double *real, const char *name)
{
    mt_state_integer(state, NULL, "%s", name);
    state->item[state->count - 1].real = real;
}

void mt_state_setting(mt_state *state, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mt_state_integer(state, NULL, "%s", name);
    int length = vasprintf(&state->item[state->count - 1].setting, format, args);
    MT_CHECK(length >= 0, "out of memory");
    va_end(args);
}

void mt_state_fix(mt_state *state)
{
    for (mt_state_item *i = state->item; i < state->item + state->count; i++)
        if (i->integer) {
            MT_CHECK(asprintf(&i->setting, "%" PRId64, *i->integer) >= 0, "out of memory");
            i->integer = NULL;
        }
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

/* ---- numbers and settings as texts --------------------------------------------------------------- */

mt_state mt_state_texts(const mt_state *state)
{
    mt_state texts = { 0 };
    for (const mt_state_item *i = state->item; i < state->item + state->count; i++)
        if (i->integer)
            mt_state_setting(&texts, i->name, "%" PRId64, *i->integer);
        else if (i->real)
            mt_state_setting(&texts, i->name, "%.17g", *i->real);
        else if (i->setting)
            mt_state_setting(&texts, i->name, "%s", i->setting);
    return texts;
}

mt_status mt_state_read(const mt_state_item *i, const char *text, const char *path, bool dry)
{
    char *end = "";
    if (!text)
        return mt_fail(MT_ERR_FORMAT, "%s: there is no %s: it is damaged, or was not written by a run", path, i->name);
    if (i->setting && strcmp(text, i->setting) != 0)
        return mt_fail(MT_ERR_ARGUMENT, "%s was written with %s %s, not %s", path, i->name, text, i->setting);
    int64_t value = i->integer ? strtoll(text, &end, 10) : 0;
    double real = i->real ? strtod(text, &end) : 0;
    if (*end || !*text)
        return mt_fail(MT_ERR_FORMAT, "%s: \"%s\" is \"%s\", not %s", path, i->name, text,
                       i->real ? "a number" : "an integer");
    if (i->integer && !dry)
        *i->integer = value;
    if (i->real && !dry)
        *i->real = real;
    return MT_OK;
}
