/* values.c -- see values.h. */
#include "ckpt/values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- as texts ------------------------------------------------------------------------------------ */

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
