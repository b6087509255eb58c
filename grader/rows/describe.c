/* describe.c -- describing a call: its arguments with their names, kinds and contents (check.h). */
#include "rows/run.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON_BYTE = 0xA5 };

void mg_forget_call(mg_run *run)
{
    for (int i = 0; i < run->arguments; i++) {
        free(run->argument[i].data);
        free(run->argument[i].result);
    }
    run->arguments = 0;
}

int mg_default_threads(void)
{
    cpu_set_t cpus;
    return sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : (int)mt_min(CPU_COUNT(&cpus), 8);
}

void mg_forget_hint(mg_run *run)
{
    run->hinted = run->part_hinted;
    if (!run->judged)
        memcpy(run->row->hint, run->own_hint, sizeof run->own_hint);
}

void mg_begin(mg_run *run, const char *function)
{
    mg_forget_call(run);
    mg_forget_hint(run);
    run->as_called[0] = run->in_words[0] = 0;
    run->threads = mg_default_threads();
    snprintf(run->function, sizeof run->function, "%s", function);
}

/* The number of the argument with this name; -1: there is none. */
static int number_of(const mg_run *run, const char *name)
{
    int i = run->arguments - 1;
    while (i >= 0 && strcmp(run->argument[i].name, name) != 0)
        i--;
    return i;
}

static mg_argument *add(mg_run *run, mg_kind kind, const char *name)
{
    MT_CHECK(run->arguments < MG_WIRE_VALUES, "%s: more than %d arguments", run->function, MG_WIRE_VALUES);
    MT_CHECK(strlen(name) < MG_WIRE_ARGUMENT && number_of(run, name) < 0, "%s: argument %s", run->function, name);
    mg_argument *a = &run->argument[run->arguments++];
    *a = (mg_argument){ .kind = kind };
    snprintf(a->name, sizeof a->name, "%s", name);
    return a;
}

static mg_argument *add_array(mg_run *run, mg_kind kind, const char *name, mt_dtype dtype, mt_shape shape)
{
    mg_argument *a = add(run, kind, name);
    a->dtype = dtype;
    a->shape = shape;
    a->bytes = mt_shape_numel(shape) * mt_dtype_size(dtype);
    a->data = calloc(1, (size_t)a->bytes + 1);
    a->result = kind == MG_IN ? NULL : calloc(1, (size_t)a->bytes + 1);
    MT_CHECK(a->data && (a->result || kind == MG_IN), "out of memory for %s %s", name, mt_shape_text(shape));
    return a;
}

void *mg_in(mg_run *run, const char *name, mt_dtype dtype, mt_shape shape)
{
    return add_array(run, MG_IN, name, dtype, shape)->data;
}

void *mg_inout(mg_run *run, const char *name, mt_dtype dtype, mt_shape shape)
{
    return add_array(run, MG_INOUT, name, dtype, shape)->data;
}

void mg_out(mg_run *run, const char *name, mt_dtype dtype, mt_shape shape)
{
    mg_argument *a = add_array(run, MG_OUT, name, dtype, shape);
    bool integers = dtype == MT_I32 || dtype == MT_I64 || dtype == MT_U8;
    memset(a->data, POISON_BYTE, (size_t)a->bytes);
    for (int64_t i = 0, n = mt_shape_numel(shape); i < n && !integers; i++)
        mt_store_f64(a->data, dtype, i, NAN);
}

void mg_i64(mg_run *run, const char *name, int64_t value)
{
    add(run, MG_I64, name)->i64 = value;
}

void mg_f32(mg_run *run, const char *name, float value)
{
    add(run, MG_F32, name)->real = (double)value;
}

void mg_f64(mg_run *run, const char *name, double value)
{
    add(run, MG_F64, name)->real = value;
}

void mg_null(mg_run *run, const char *name)
{
    add(run, MG_NULL, name);
}

void mg_in_place(mg_run *run, const char *out, const char *in)
{
    int output = number_of(run, out), input = number_of(run, in);
    MT_CHECK(output >= 0 && input >= 0, "%s has no %s or no %s", run->function, out, in);
    mg_argument *a = &run->argument[output], *array = &run->argument[input];
    MT_CHECK(a->kind == MG_OUT && array->kind == MG_IN && a->bytes == array->bytes, "%s: %s in place of %s",
             run->function, out, in);
    array->kind = MG_INOUT;
    array->result = a->result;
    free(a->data);
    a->data = a->result = NULL;
    a->kind = MG_ALIAS;
    a->i64 = input;
}

void mg_threads(mg_run *run, int threads)
{
    run->threads = threads;
    mg_session_end(run->session);
    run->session = NULL;
}

mt_rng *mg_rng(mg_run *run)
{
    return &run->rng;
}
