/* called.c -- how a row shows its call: the worker's function with its arguments, or what the check says in their
 * place, where the worker's call is not the one that a student writes; and the inputs in words. */
#include "rows/run.h"

#include <stdarg.h>
#include <stdio.h>

void mg_as_called(mg_run *run, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(run->as_called, sizeof run->as_called, fmt, args);
    va_end(args);
}

void mg_in_words(mg_run *run, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(run->in_words, sizeof run->in_words, fmt, args);
    va_end(args);
}

void mg_put_call(const mg_run *run, char *text, size_t size)
{
    if (run->as_called[0]) {
        snprintf(text, size, "%s", run->as_called);
        return;
    }
    size_t used = (size_t)snprintf(text, size, "%s(", run->function);
    for (int i = 0; i < run->arguments && used < size; i++) {
        const mg_argument *a = &run->argument[i];
        const char *comma = i ? ", " : "";
        if (!a->name[0]) /* the grader's own */
            continue;
        char *at = text + used;
        size_t left = size - used;
        const char *is = a->kind == MG_ALIAS ? run->argument[a->i64].name : "NULL";
        bool real = a->kind == MG_F32 || a->kind == MG_F64;
        int n = a->kind == MG_I64 ? snprintf(at, left, "%s%s=%lld", comma, a->name, (long long)a->i64)
                : real            ? snprintf(at, left, "%s%s=%g", comma, a->name, a->real)
                : a->data         ? snprintf(at, left, "%s%s", comma, a->name)
                                  : snprintf(at, left, "%s%s=%s", comma, a->name, is);
        used += (size_t)n;
    }
    if (used < size)
        snprintf(text + used, size - used, ")%s",
                 run->off == MG_OFF_NONE  ? ""
                 : run->off == MG_OFF_ALL ? " of arrays that do not begin at multiples of 16 bytes"
                                          : " of arrays of which one does not begin at a multiple of 16 bytes");
}
