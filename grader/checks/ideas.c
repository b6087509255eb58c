/* ideas.c -- what every kernel is asked, one part of a row after the other: sizes, places, threads, state, refusals.
 *
 * The order matters: a part changes one thing beside those before it, so that the part that fails names the mistake. */
#include "checks/ideas.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CALLS = 3, /* of ideas with sizes or values that are drawn */
    SOME = 17,
    BEYOND = 70001, /* more than 16 bits count */
    BESIDE = 37,    /* with this beside it, and STACK alone: floats of more than the 8 MiB of a stack */
    STACK = 2200003,
    BLOCKS = 331, /* several blocks of vectors, and a rest */
    THREADS = 17,
};

typedef bool idea_fn(const mg_asked *a);

void mg_name_part(const mg_asked *a, const char *hint, const char *name, ...)
{
    char text[80];
    va_list args;
    va_start(args, name);
    vsnprintf(text, sizeof text, name, args);
    va_end(args);
    mg_part(a->t.run, text, hint ? "%s" : NULL, hint);
}

/* ---- sizes --------------------------------------------------------------------------------------- */

static int64_t drawn(const mg_asked *a)
{
    return mg_pick_size(mg_rng(a->t.run), 2, a->dims == 1 ? 600 : a->dims == 2 ? 200 : 80);
}

static bool has_sizes(const mg_asked *a, const int64_t *size)
{
    for (int d = 0; d < a->dims; d++)
        if (size[d])
            return true;
    return false;
}

/* Sizes that are given, and drawn ones in place of 0. */
static mg_trial sized(const mg_asked *a, const int64_t *size)
{
    mg_trial t = a->t;
    for (int d = 0; d < a->dims; d++)
        t.size[d] = size[d] == 0 ? drawn(a) : mt_max(size[d], 0);
    return t;
}

static bool with_size(const mg_asked *a, int d, int64_t size)
{
    int64_t sizes[MG_SIZES] = { 0 };
    sizes[d] = size == 0 ? MG_ZERO : size;
    return mg_try(sized(a, sizes));
}

mg_trial mg_with_large(const mg_asked *a, int d, int64_t large, int64_t some)
{
    mg_trial t = a->t;
    for (int i = 0; i < a->dims; i++)
        t.size[i] = i == d ? large : i == (d == 0 ? a->dims - 1 : 0) ? some : MG_FEW;
    return t;
}

static int64_t enough(const mg_asked *a)
{
    return a->t.kernel->enough ? a->t.kernel->enough : a->dims == 1 ? 40009 : 8209;
}

static mg_trial for_threads(const mg_asked *a)
{
    mg_trial t = a->t;
    for (int d = 0; d < a->dims; d++)
        t.size[d] = d == a->dims - 1 ? enough(a) : SOME;
    return t;
}

/* Multiples of 16, no two the same, in no two calls; or the sizes of the row. */
static bool ordinary(const mg_asked *a)
{
    const int64_t from = mt_rng_below(mg_rng(a->t.run), 5);
    for (int i = 0; i < CALLS; i++) {
        int64_t size[MG_SIZES];
        if (i > 0 && has_sizes(a, a->row->size))
            mg_name_part(a, NULL, "again, with other numbers");
        for (int d = 0; d < a->dims; d++)
            size[d] = 16 * (1 + (from + i + 2 * d) % 5) << (a->t.device && d == a->dims - 1 ? 3 * i : 0);
        if (!mg_try(sized(a, has_sizes(a, a->row->size) ? a->row->size : size)))
            return false;
    }
    return true;
}

static bool some_calls(const mg_asked *a)
{
    static const int64_t any[MG_SIZES];
    bool good = true;
    for (int i = 0; i < CALLS && good; i++)
        good = mg_try(sized(a, any));
    return good;
}

static bool odd_sizes(const mg_asked *a)
{
    mg_name_part(a, NULL, "sizes that are no multiples of 16");
    mg_place_arrays(a->t.run, a->t.device ? MG_ANYWHERE : MG_ALIGNED);
    bool good = some_calls(a) && (!a->t.device || mg_odd_on_device(a));
    mg_place_arrays(a->t.run, MG_ANYWHERE);
    return good;
}

static bool places(const mg_asked *a)
{
    mg_run *run = a->t.run;
    mg_name_part(a,
                 "arrays may begin at any multiple of a number's size: read and write them without aligned vectors, or "
                 "test where they begin",
                 "arrays that are not aligned");
    mg_place_arrays(run, MG_AT_END);
    mg_unaligned(run, a->t.device);
    bool good = some_calls(a);
    mg_unaligned(run, false);
    mg_place_arrays(run, MG_ANYWHERE);
    return good && (!a->t.device || mg_unaligned_on_device(a));
}

static bool ones(const mg_asked *a)
{
    for (int d = 0; d < a->dims; d++) {
        mg_name_part(a, NULL, "%c = 1", a->t.kernel->sizes[d]);
        if (!with_size(a, d, 1))
            return false;
    }
    return true;
}

static bool no_elements(const mg_asked *a)
{
    static const int64_t none[] = { MG_ZERO, MG_ZERO, MG_ZERO, MG_ZERO };
    for (int d = 0; d < a->dims; d++) {
        mg_name_part(
            a,
            "a size of 0 is allowed: an output that still has elements gets sums without terms, which are 0, and "
            "nothing else is read or written",
            "no elements, %c = 0", a->t.kernel->sizes[d]);
        if (a->t.kernel->least[d] == 0 && !with_size(a, d, 0))
            return false;
    }
    mg_name_part(a, "all sizes may be 0 at once, even where one alone must not be", "no elements, every size is 0");
    return a->dims == 1 || mg_try(sized(a, none));
}

static bool large(const mg_asked *a)
{
    if (a->t.device)
        return mg_large_on_device(a);
    for (int d = 0; d < a->dims; d++) {
        mg_trial t = mg_with_large(a, d, a->dims == 1 ? STACK : BEYOND, BESIDE);
        mg_name_part(
            a, "sizes are int64_t and may be large: use no smaller type, and no array of such a size on the stack",
            "large arrays, %c = %lld", a->t.kernel->sizes[d], (long long)t.size[d]);
        if (!mg_try(t))
            return false;
    }
    return true;
}

static bool specials_of(const mg_asked *a, const mg_special *s)
{
    for (; s && s->part; s++) {
        mg_trial t = sized(a, has_sizes(a, s->size) ? s->size : a->row->size);
        t.special = s;
        t.change = s->prepare || s->aborts ? s->prepare : a->row->prepare;
        t.place = s->place;
        t.value = s->value;
        t.how = s->how;
        if (s->dist.kind || s->dist.b != 0)
            t.dist = s->dist;
        mg_name_part(a, s->hint, "%s", s->part);
        if (!mg_try(t))
            return false;
    }
    return true;
}

static bool specials(const mg_asked *a)
{
    return specials_of(a, a->row->special) && specials_of(a, a->row->more);
}

/* ---- threads and state ----------------------------------------------------------------------------- */

static bool state(const mg_asked *a)
{
    int64_t size[MG_SIZES] = { 0 };
    mg_trial t = sized(a, size);
    mg_name_part(
        a,
        "the call before had the same addresses and sizes but other numbers: a result depends on the arguments "
        "alone, so keep nothing from call to call",
        "other numbers at the same addresses");
    mg_place_arrays(a->t.run, MG_AT_END);
    bool good = mg_try(t) && mg_try(t);
    mg_place_arrays(a->t.run, MG_ANYWHERE);
    return good;
}

static bool many_threads(const mg_asked *a)
{
    bool good = true;
    mg_name_part(
        a,
        "there may be more threads than processors, or than rows: divide the work by omp_get_num_threads(), without "
        "an array of a fixed size for them",
        "%d threads", THREADS);
    for (int d = 0; d < a->dims && good; d++) {
        mg_trial t = mg_with_large(a, d, enough(a), SOME);
        t.threads = THREADS;
        good = mg_try(t);
    }
    return good;
}

static bool races(const mg_asked *a)
{
    mg_trial t = for_threads(a);
    t.how = MG_CALL_SEARCHED;
    mg_name_part(a, NULL, "data races");
    return mg_try(t);
}

/* Few rows, too: then columns may be divided among threads, and sums of them must not be. */
static bool bits(const mg_asked *a)
{
    if (a->t.device)
        return mg_bits_on_device(a);
    mg_name_part(
        a, "the result has the same bits with any number of threads: each sum is computed by one thread, in one order",
        "equal bits with 1, 2 and 3 threads");
    for (int rows = a->dims == 1 ? SOME : 1; rows <= 3 + SOME; rows += rows < 3 ? 1 : SOME) {
        mg_trial t = for_threads(a);
        t.how = MG_CALL_BY_THREADS;
        if (a->dims > 1)
            t.size[0] = rows < 3 ? rows : SOME;
        if (!mg_try(t))
            return false;
    }
    for (int d = 0; d < a->dims - 1; d++) {
        mg_trial t = mg_with_large(a, d, enough(a), SOME);
        t.how = MG_CALL_BY_THREADS;
        if (!mg_try(t))
            return false;
    }
    return true;
}

/* ---- arguments ------------------------------------------------------------------------------------- */

static bool in_place(const mg_asked *a)
{
    mg_asked over = *a;
    over.t.in_place = true;
    mg_name_part(a, "an output may be the input itself: read all that you need of x[i] before you write out[i]",
                 "in place");
    return some_calls(&over);
}

/* Those that the row does not ask for are given, too, but not judged. */
static bool subsets(const mg_asked *a)
{
    const unsigned optional = mg_optional(a->t.kernel);
    int64_t size[MG_SIZES] = { 0 };
    mg_name_part(a, "each gradient may be NULL, in every combination: compute those that are given",
                 "some outputs are NULL");
    for (unsigned null = optional;; null = (null - 1) & optional) {
        mg_trial t = sized(a, size);
        t.ignored = a->t.null & optional;
        t.null = null | (a->t.null & ~optional);
        if (!mg_try(t))
            return false;
        if (!null)
            return true;
    }
}

/* The first element, the last one and any; with a last size of 1, of several blocks, of enough for threads. */
static bool nan_stays(const mg_asked *a)
{
    const int64_t last[] = { 0, 1, BLOCKS, enough(a) };
    const int lengths = a->t.device ? 1 : a->dims == 1 ? 4 : 3;
    bool over = false;
    for (int i = 0; i < MG_OPERANDS; i++)
        over = over || a->t.kernel->operand[i].over;
    for (int i = 0; i < lengths * 3 * (1 + over); i++) {
        int64_t size[MG_SIZES] = { 0 };
        size[a->dims - 1] = last[i / 3 % lengths];
        mg_trial t = sized(a, size);
        t.place = i % 3;
        t.change = a->t.kernel->nan;
        t.in_place = a->t.in_place || i >= lengths * 3;
        mg_name_part(
            a,
            "a NaN must not be lost: every result that it has a part in is NaN, and no other; comparisons, fminf and "
            "fmaxf can lose it",
            "a NaN%s", t.in_place ? " in place" : "");
        if (!mg_try(t))
            return false;
    }
    return true;
}

static bool counted(const mg_asked *a)
{
    mg_trial t = sized(a, a->row->size);
    t.how = a->row->bar ? MG_CALL_COUNTED : MG_CALL_PLAIN;
    t.cache = a->row->cache;
    if (!mg_try(t))
        return false;
    if (a->row->bar)
        mg_traffic_credit(t.run, a->row->bar, mg_moved(a->row));
    else
        a->row->credit(t.run, a->row);
    return true;
}

bool mg_ask(const mg_trial *t, const mg_kernel_row *row)
{
    // clang-format off
    static const struct {
        unsigned asked;
        idea_fn *ask;
    } ideas[] = {
        { MG_ORDINARY, ordinary }, { MG_ODD, odd_sizes }, { MG_PLACES, places }, { MG_ONE, ones },
        { MG_NO_ELEMENTS, no_elements },
        { MG_SPECIAL, specials }, { MG_IN_PLACE, in_place }, { MG_SUBSETS, subsets }, { MG_STATE, state },
        { MG_RACES, races }, { MG_NAN, nan_stays }, { MG_LARGE, large }, { MG_MANY_THREADS, many_threads },
        { MG_BITS, bits },
    };
    // clang-format on
    mg_asked a = { .t = *t, .row = row, .dims = (int)strlen(t->kernel->sizes) };
    const unsigned asks = MG_SPECIAL | (row->asks                  ? row->asks
                                        : has_sizes(&a, row->size) ? MG_ORDINARY
                                                                   : MG_ORDINARY | MG_ODD | MG_PLACES);
    if (row->bar || row->credit)
        return counted(&a);
    bool good = true;
    for (int i = 0; i < MT_COUNT(ideas) && good; i++) {
        mg_part(t->run, NULL, NULL);
        good = !(asks & ideas[i].asked) || ideas[i].ask(&a);
    }
    return good;
}
