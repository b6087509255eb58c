/* kernel.c -- one call of a kernel by its signature: describe, draw, prepare, expect, call, judge. */
#include "checks/ideas.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int operands(const mg_kernel *k)
{
    int count = 0;
    while (count < MG_OPERANDS && k->operand[count].name)
        count++;
    return count;
}

static int operand_of(const mg_kernel *k, const char *name)
{
    for (int i = 0; i < operands(k); i++)
        if (strcmp(k->operand[i].name, name) == 0)
            return i;
    MT_CHECK(false, "%s has no operand %s", k->function, name);
}

int64_t mg_size_of(const mg_trial *t, char letter)
{
    const char *at = strchr(t->kernel->sizes, letter);
    MT_CHECK(at, "%s has no size %c", t->kernel->function, letter);
    return t->size[at - t->kernel->sizes];
}

static mt_shape shape_of(const mg_trial *t, const char *dims)
{
    if (dims[0] >= '0' && dims[0] <= '9')
        return MT_SHAPE(atoll(dims));
    mt_shape shape = { .rank = (int)strlen(dims) };
    for (int d = 0; d < shape.rank; d++)
        shape.dim[d] = mg_size_of(t, dims[d]);
    return shape;
}

int64_t mg_count_of(const mg_trial *t, int i)
{
    return mt_shape_numel(shape_of(t, t->kernel->operand[i].dims));
}

void mg_nan_at(mg_trial *t, int i)
{
    int64_t n = mg_count_of(t, i);
    t->f[i][t->place == 0 ? 0 : t->place == 1 ? n - 1 : mt_rng_below(mg_rng(t->run), n)] = NAN;
}

static bool is_given(mg_dist dist)
{
    return dist.kind != MG_DIST_NORMAL || dist.b != 0;
}

static mg_dist dist_of(const mg_trial *t, int i)
{
    const mg_dist own = t->kernel->operand[i].dist;
    return is_given(own) ? own : is_given(t->dist) ? t->dist : t->kernel->dist;
}

static void describe_classes(mg_trial *t, const mg_operand *o, mt_shape shape)
{
    const char *sizes = t->kernel->sizes;
    t->label = mg_in(t->run, o->name, MT_I32, shape);
    mg_fill_labels(mg_rng(t->run), t->label, mt_shape_numel(shape),
                   mg_size_of(t, o->classes ? o->classes : sizes[strlen(sizes) - 1]));
}

/* Their numbers before the call: v of what is added to. */
static void describe_output(mg_trial *t, int i, mt_shape shape)
{
    const mg_operand *o = &t->kernel->operand[i];
    const int64_t n = mt_shape_numel(shape);
    float *x = o->role == MG_OVERWRITTEN ? NULL : mg_inout(t->run, o->name, MT_F32, shape);
    if (!x)
        mg_out(t->run, o->name, MT_F32, shape);
    if (o->role == MG_UPDATED)
        mg_fill(mg_rng(t->run), t->f[i] = x, n, dist_of(t, i));
    else if (x && t->held)
        mg_fill(mg_rng(t->run), x, n, is_given(o->dist) ? o->dist : (mg_dist)NORMAL(0, 1));
    t->v[i] = o->role == MG_ADDED_TO ? mg_lift(x, n) : mg_doubles(n);
    t->e[i] = mg_doubles(n);
}

static mg_answer describe_operand(mg_trial *t, int i)
{
    const mg_operand *o = &t->kernel->operand[i];
    mt_shape shape = shape_of(t, o->dims);
    if (t->null >> i & 1)
        mg_null(t->run, o->name);
    else if (o->describe)
        o->describe(t, i);
    else if (o->role == MG_CLASSES)
        describe_classes(t, o, shape);
    else if (o->role == MG_AN_INPUT)
        t->f[i] = mg_input(t->run, o->name, shape, dist_of(t, i));
    else if (o->role == MG_NOT_JUDGED)
        mg_out(t->run, o->name, MT_F32, shape);
    else
        describe_output(t, i, shape);
    return (mg_answer){ o->name, t->v[i], t->e[i], mt_shape_numel(shape) };
}

static bool is_refused(const mg_trial *t)
{
    return t->special && t->special->aborts;
}

static void describe_numbers(mg_trial *t)
{
    const mg_kernel *k = t->kernel;
    char name[16];
    if (k->scalar)
        mg_f32(t->run, k->scalar, t->scalar);
    for (int i = 0, at = 0, length; k->numbers && sscanf(k->numbers + at, "%15s%n", name, &length) == 1; at += length)
        mg_f64(t->run, name, t->number[i++]);
}

static void describe(mg_trial *t, mg_answer *answer)
{
    const mg_kernel *k = t->kernel;
    char function[80];
    if (k->fit)
        k->fit(t);
    snprintf(function, sizeof function, "%s%s", is_refused(t) ? "may abort: " : "", t->function);
    (is_refused(t) ? mg_begin_refused : mg_begin)(t->run, function);
    for (int i = 0; i < operands(k); i++)
        answer[i] = describe_operand(t, i);
    for (int d = 0; k->sizes[d]; d++)
        mg_i64(t->run, (char[]){ k->sizes[d], 0 }, t->size[d]);
    for (int i = 0; i < operands(k) && t->in_place; i++)
        if (k->operand[i].over)
            mg_in_place(t->run, k->operand[i].name, k->operand[i].over);
    t->scalar = mt_rng_normal(mg_rng(t->run));
    mg_trial_fn *const changes[] = { k->draw, t->change, k->prepare };
    for (int i = 0; i < MT_COUNT(changes); i++)
        if (changes[i])
            changes[i](t);
    describe_numbers(t);
}

static void expect(mg_trial *t)
{
    for (int i = 0; i < operands(t->kernel); i++)
        t->x[i] = t->f[i] ? mg_lift(t->f[i], mg_count_of(t, i)) : NULL;
    t->kernel->oracle(t);
    for (int i = 0; i < operands(t->kernel); i++)
        free(t->x[i]);
}

static bool judged(mg_trial *t)
{
    if (t->special && t->special->adjust)
        t->special->adjust(t);
    return !t->kernel->judge || t->kernel->judge(t);
}

static bool called(const mg_trial *t)
{
    return t->how == MG_CALL_SEARCHED  ? mg_shared_call(t->run)
           : t->how == MG_CALL_COUNTED ? mg_traffic_call(t->run, t->cache)
                                       : mg_call(t->run);
}

bool mg_try(mg_trial t)
{
    mg_answer answer[MG_OPERANDS] = { 0 };
    int count = operands(t.kernel);
    bool good, refused = is_refused(&t);
    describe(&t, answer);
    if (!refused)
        expect(&t);
    for (int i = 0; i < count; i++)
        if (refused || t.ignored >> i & 1)
            mg_answer_drop(&answer[i]);
    if (t.threads)
        mg_threads(t.run, t.threads);
    if (t.how == MG_CALL_BY_THREADS)
        good = mg_threads_and_judge(t.run, answer, count);
    else if (refused)
        good = mg_refused(t.run, "the call", t.special->aborts);
    else
        good = mg_judge_answers(t.run, called(&t) && judged(&t), answer, count);
    return good && (!t.device || mg_launched_nothing(&t)) && (!t.special || !t.special->after || t.special->after(&t));
}

/* ---- a row --------------------------------------------------------------------------------------- */

/* The next operand of a list, "dx dw db"; -1 at its end. */
static int next_of(const mg_kernel *k, const char **list)
{
    char name[32];
    size_t length = strcspn(*list, " ");
    if (length == 0)
        return -1;
    snprintf(name, sizeof name, "%.*s", (int)length, *list);
    *list += length + strspn(*list + length, " ");
    return operand_of(k, name);
}

static unsigned named(const mg_kernel *k, const char *list)
{
    unsigned bits = 0;
    for (int i; list && (i = next_of(k, &list)) >= 0;)
        bits |= 1U << i;
    return bits;
}

unsigned mg_optional(const mg_kernel *k)
{
    return named(k, k->optional);
}

static mg_trial trial_of(mg_run *run, const mg_kernel_row *row, int i)
{
    const mg_kernel *k = row->kernel[i];
    mg_trial t = { .run = run,
                   .kernel = k,
                   .dist = row->dist,
                   .null = named(k, row->null),
                   .in_place = row->in_place,
                   .held = row->held,
                   .change = row->prepare };
    snprintf(t.function, sizeof t.function, "%.*s%s", (int)strlen(k->function) - (row->on_device ? 4 : 0), k->function,
             row->on_device ? "_cuda" : "");
    t.device = strstr(t.function, "_cuda");
    return t;
}

double mg_moved(const mg_kernel_row *row)
{
    mg_trial t = { .kernel = row->kernel[0] };
    const char *list = row->moves;
    double floats = 0;
    memcpy(t.size, row->size, sizeof t.size);
    for (int i; (i = next_of(t.kernel, &list)) >= 0;)
        floats += (double)mg_count_of(&t, i);
    return floats * (double)sizeof(float);
}

void mg_kernel_run(mg_run *run, const void *one_case)
{
    const mg_kernel_row *row = one_case;
    for (int i = 0; i < MT_COUNT(row->kernel) && row->kernel[i]; i++) {
        const mg_trial t = trial_of(run, row, i);
        if (!mg_ask(&t, row))
            return;
    }
}
