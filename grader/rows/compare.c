/* compare.c -- compares outputs with an oracle, and measured numbers with bars. */
#include "rows/counted.h"
#include "rows/device.h"
#include "rows/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mg_argument *find_output(const mg_run *run, const char *name)
{
    for (int i = 0; i < run->arguments; i++) {
        const mg_argument *a = &run->argument[i], *array = a->kind == MG_ALIAS ? &run->argument[a->i64] : a;
        if (strcmp(a->name, name) == 0 && array->result)
            return array;
    }
    MT_CHECK(false, "the check asks for output \"%s\", which %s was not given", name, run->function);
}

const void *mg_result(mg_run *run, const char *name)
{
    return find_output(run, name)->result;
}

double mg_got(mg_run *run, const char *name, int64_t i)
{
    const mg_argument *a = find_output(run, name);
    return mt_load_f64(a->result, a->dtype, i);
}

/* NaN matches NaN and infinity itself, where the oracle says so; otherwise only finite values can match. */
static bool matches(double got, double want, double tolerance)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return isfinite(got) && fabs(got - want) <= tolerance;
}

/* "[0,3]" for element i of a shape, "" for a scalar. */
static void index_text(char *text, size_t size, mt_shape shape, int64_t i)
{
    int64_t index[MT_MAX_RANK];
    for (int d = shape.rank - 1; d >= 0; d--) {
        index[d] = i % shape.dim[d];
        i /= shape.dim[d];
    }
    size_t used = 0;
    text[0] = 0;
    for (int d = 0; d < shape.rank && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld%s", d ? "," : "[", (long long)index[d],
                                 d == shape.rank - 1 ? "]" : "");
}

/* Prints two different numbers with as few digits as make them look different; integers with all. */
static void number_texts(char got_text[40], char want_text[40], double got, double want, bool integers)
{
    for (int digits = integers ? 17 : 6; digits <= 17; digits += digits == 6 ? 3 : 8) {
        snprintf(got_text, 40, "%.*g", digits, isnan(got) ? NAN : got); /* no "-nan" */
        snprintf(want_text, 40, "%.*g", digits, want);
        if (strcmp(got_text, want_text))
            return;
    }
}

/* The bits that were there before the call. A NaN that is added to keeps its bits, too. */
static bool untouched(const mg_argument *a, int64_t i)
{
    int64_t size = mt_dtype_size(a->dtype);
    return memcmp((const char *)a->result + i * size, (const char *)a->data + i * size, (size_t)size) == 0;
}

bool mg_wrong(mg_run *run, const char *name, int64_t i, double want, double tolerance)
{
    return !matches(mg_got(run, name, i), want, tolerance);
}

/* On the device, several elements at the end that were not written, and no other wrong ones: threads are missing. */
static void recognise_unwritten(mg_run *run, const mg_argument *a, int64_t first, int64_t wrong)
{
    int64_t n = mt_shape_numel(a->shape);
    bool several = wrong >= 4 || first % 256 == 0; /* fewer may be the rest of a float4 */
    bool all = mg_on_the_device(run) && first + wrong == n && first > 0 && several;
    for (int64_t i = first; i < n && all; i++)
        all = untouched(a, i);
    if (all)
        mg_hint(run,
                "of %lld elements the last %lld were not written: does the grid have threads for all, and do they "
                "pass the kernel's test?",
                (long long)n, (long long)wrong);
}

bool mg_expect(mg_run *run, const char *name, const double *want, const double *tolerance)
{
    const mg_argument *a = find_output(run, name);
    int64_t n = mt_shape_numel(a->shape), wrong = 0, first = -1;
    bool before = false; /* an element that was not written says more than a wrong value before it */
    if (run->judged)
        return false;
    for (int64_t i = 0; i < n; i++)
        if (!matches(mt_load_f64(a->result, a->dtype, i), want[i], tolerance ? tolerance[i] : 0)) {
            if (first < 0 || (!before && untouched(a, i))) {
                first = i;
                before = untouched(a, i);
            }
            wrong++;
        }
    if (wrong == 0)
        return true;
    recognise_unwritten(run, a, first, wrong);
    char index[128], got_text[40], want_text[40], bound[64] = "";
    index_text(index, sizeof index, a->shape, first);
    number_texts(got_text, want_text, mt_load_f64(a->result, a->dtype, first), want[first],
                 a->dtype == MT_I32 || a->dtype == MT_I64 || a->dtype == MT_U8);
    if (tolerance)
        snprintf(bound, sizeof bound, "   tolerance %.2g", tolerance[first]);
    mg_judge(run, MG_FAIL, "%s%s = %s%s   expected %s%s   (%lld of %lld wrong)", name, index, got_text,
             !before                                          ? ""
             : isnan(mt_load_f64(a->result, a->dtype, first)) ? ", as before the call (not written, or added to)"
                                                              : ", as before the call",
             want_text, bound, (long long)wrong, (long long)n);
    return false;
}

bool mg_fail(mg_run *run, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    mg_judge(run, MG_FAIL, "%s", text);
    return false;
}

void mg_hint(mg_run *run, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!run->judged) {
        run->hinted = true;
        vsnprintf(run->row->hint, sizeof run->row->hint, fmt, args);
    }
    va_end(args);
}

void mg_part(mg_run *run, const char *name, const char *hint, ...)
{
    const mg_case *row = run->row->one_case;
    va_list args;
    va_start(args, hint);
    snprintf(run->part, sizeof run->part, "%s", name ? name : "");
    run->part_hinted = hint;
    if (hint)
        vsnprintf(run->own_hint, sizeof run->own_hint, hint, args);
    else
        snprintf(run->own_hint, sizeof run->own_hint, "%s", row->hint ? row->hint : "");
    va_end(args);
    mg_forget_hint(run);
}

bool mg_next(mg_run *run, mg_ideas *t, const mg_idea *tries, int64_t count, int about)
{
    if (t->at > 0 && ++t->made < tries[t->at - 1].times)
        return !run->judged;
    while (t->at < count && tries[t->at].rows && !(tries[t->at].rows >> about & 1))
        t->at++;
    if (t->at == count || run->judged)
        return false;
    const mg_idea *one = &tries[t->at++];
    t->made = 0;
    t->is = one->is;
    mg_part(run, one->part, one->hint ? "%s" : NULL, one->hint);
    return true;
}

void mg_note(mg_run *run, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(run->row->note, sizeof run->row->note, fmt, args);
    va_end(args);
}

void mg_data_folder(mg_run *run, char *out, size_t size)
{
    if (getenv("MT_DATA"))
        snprintf(out, size, "%s", getenv("MT_DATA"));
    else
        snprintf(out, size, "%s/datasets/cache", run->bench->build.root);
}

double mg_bar(mg_run *run, const char *bar, const char *field)
{
    double value = NAN;
    if (!mg_labinfo_bar(&run->bench->info, bar, field, &value))
        mg_judge(run, MG_ERROR, "lab.json has no bars.\"%s\".\"%s\"", bar, field);
    return value;
}

void mg_flops(mg_run *run, double flops)
{
    run->row->flops = flops;
}

void mg_review(mg_run *run, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!run->hinted)
        mg_hint(run, "if the code does all that the step asks, there is nothing to mend: an instructor looks at it and "
                     "gives the points");
    mg_judge(run, MG_REVIEW, "%s", text);
}

/* A count so low may be a better idea than ours; or the unit does what is not counted. */
static void doubt(mg_run *run, const char *bar, double value)
{
    double least = 0;
    if (mg_labinfo_bar(&run->bench->info, bar, "least", &least)) {
        if (value < least)
            mg_review(run, "counted %.3g, less than the lowest that is known, %.3g", value, least);
    } else if (value < run->row->reference / 2) {
        mg_review(run, "counted %.3g, less than half of the reference's %.3g", value, run->row->reference);
    }
}

void mg_credit(mg_run *run, const char *bar, double value)
{
    double low = mg_bar(run, bar, "low"), full = mg_bar(run, bar, "full");
    double share = full != low ? (value - low) / (full - low) : value >= full; /* full < low: less is better */
    if (run->judged)
        return;
    run->row->measured = value;
    run->row->low = low;
    run->row->full = full;
    if (!mg_labinfo_bar(&run->bench->info, bar, "toy", &run->row->toy))
        run->row->toy = NAN;
    if (!mg_labinfo_bar(&run->bench->info, bar, "reference", &run->row->reference))
        run->row->reference = NAN;
    if (mg_on_the_device(run))
        mg_counted_keep(run);
    if (full < low)
        doubt(run, bar, value);
    run->credit = share >= 1 ? 1 : share > 0 ? share : 0; /* NaN earns nothing */
    if (run->credit == 0)
        mg_judge(run, MG_FAIL, "measured %.3g, credit begins %s %.3g", value, full < low ? "below" : "above", low);
}
