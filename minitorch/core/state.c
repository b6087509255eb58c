/* state.c -- the list of named values of state.h. */
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
