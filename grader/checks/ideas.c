/* ideas.c -- what every kernel is asked, one part of a row after the other: sizes, places, threads, state, refusals.
 *
 * The order matters: a part changes one thing beside those before it, so that the part that fails names the mistake. */
#include "checks/kernel.h"
#include "rows/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CALLS = 3, /* of ideas with sizes or values that are drawn */
    SOME = 17,
    FEW = 3,        /* sizes beside a large one */
    BEYOND = 70001, /* more than 16 bits count */
    BESIDE = 37,    /* with this beside it, and STACK alone: floats of more than the 8 MiB of a stack */
    STACK = 2200003,
    EMULATED_ALONE = 262147, /* more than 1,024 blocks take */
    EMULATED = 16411,        /* columns that no shared memory holds */
    GRID = 1 << 24,          /* more than a grid has in y, of blocks of 256 */
    BLOCKS = 331,            /* several blocks of vectors, and a rest */
    THREADS = 17,
};

typedef struct asked {
    mg_trial t;
    const mg_kernel_row *row;
    int dims;
    bool device; /* a kernel of a .cu unit, which is emulated */
} asked;

typedef bool idea_fn(const asked *a);

static void part(const asked *a, const char *hint, const char *name, ...) MT_PRINTF(3, 4);

static void part(const asked *a, const char *hint, const char *name, ...)
{
    char text[80];
    va_list args;
    va_start(args, name);
    vsnprintf(text, sizeof text, name, args);
    va_end(args);
    mg_part(a->t.run, text, hint ? "%s" : NULL, hint);
}

/* ---- sizes --------------------------------------------------------------------------------------- */

static int64_t drawn(const asked *a)
{
    return mg_pick_size(mg_rng(a->t.run), 2, a->dims == 1 ? 600 : a->dims == 2 ? 200 : 80);
}

static bool has_sizes(const asked *a, const int64_t *size)
{
    for (int d = 0; d < a->dims; d++)
        if (size[d])
            return true;
    return false;
}

/* Sizes that are given, and drawn ones in place of 0. */
static mg_trial sized(const asked *a, const int64_t *size)
{
    mg_trial t = a->t;
    for (int d = 0; d < a->dims; d++)
        t.size[d] = size[d] == 0 ? drawn(a) : mt_max(size[d], 0);
    return t;
}

static bool with_size(const asked *a, int d, int64_t size)
{
    int64_t sizes[MG_SIZES] = { 0 };
    sizes[d] = size == 0 ? MG_ZERO : size;
    return mg_try(sized(a, sizes));
}

/* One size is large, another is `some`, and the others are few. */
static mg_trial with_large(const asked *a, int d, int64_t large, int64_t some)
{
    mg_trial t = a->t;
    for (int i = 0; i < a->dims; i++)
        t.size[i] = i == d ? large : i == (d == 0 ? a->dims - 1 : 0) ? some : FEW;
    return t;
}

static int64_t enough(const asked *a)
{
    return a->t.kernel->enough ? a->t.kernel->enough : a->dims == 1 ? 40009 : 8209;
}

static mg_trial for_threads(const asked *a)
{
    mg_trial t = a->t;
    for (int d = 0; d < a->dims; d++)
        t.size[d] = d == a->dims - 1 ? enough(a) : SOME;
    return t;
}

/* Multiples of 16, no two the same, in no two calls; or the sizes of the row. */
static bool ordinary(const asked *a)
{
    const int64_t from = mt_rng_below(mg_rng(a->t.run), 5);
    for (int i = 0; i < CALLS; i++) {
        int64_t size[MG_SIZES];
        for (int d = 0; d < a->dims; d++)
            size[d] = 16 * (1 + (from + i + 2 * d) % 5);
        if (!mg_try(sized(a, has_sizes(a, a->row->size) ? a->row->size : size)))
            return false;
    }
    return true;
}

/* Whole groups of four: of arrays that each begin at a multiple of 16 bytes but one. */
static bool one_unaligned(const asked *a)
{
    bool good = true;
    mg_trial t = a->t;
    for (int d = 0; d < a->dims; d++)
        t.size[d] = a->dims == 1 ? 520 : d == a->dims - 1 ? 64 : FEW;
    part(a, "a float4 must begin at a multiple of 16 bytes: test every pointer", "one array that is not aligned");
    for (int k = 0; k < MG_UNALIGNED_ONES && good; k++) {
        mg_unaligned_one(a->t.run, k);
        good = mg_try(t);
    }
    mg_unaligned(a->t.run, false);
    return good;
}

static bool some_calls(const asked *a)
{
    static const int64_t any[MG_SIZES];
    bool good = true;
    for (int i = 0; i < CALLS && good; i++)
        good = mg_try(sized(a, any));
    return good;
}

static bool odd_sizes(const asked *a)
{
    mg_run *run = a->t.run;
    part(a, NULL, "sizes that are no multiples of 16");
    mg_place_arrays(run, MG_ALIGNED);
    bool good = some_calls(a);
    part(a,
         "arrays may begin at any multiple of 4 bytes: read and write them without aligned vectors, or test where "
         "they begin",
         "arrays that are not aligned");
    mg_place_arrays(run, MG_AT_END);
    mg_unaligned(run, a->device);
    good = good && some_calls(a);
    mg_unaligned(run, false);
    mg_place_arrays(run, MG_ANYWHERE);
    return good && (!a->device || one_unaligned(a));
}

static bool ones(const asked *a)
{
    for (int d = 0; d < a->dims; d++) {
        part(a, NULL, "%c = 1", a->t.kernel->sizes[d]);
        if (!with_size(a, d, 1))
            return false;
    }
    return true;
}

static bool launches_nothing(const asked *a)
{
    if (!a->device || mg_device_counts(a->t.run)->launches == 0)
        return true;
    mg_hint(a->t.run, "a size of 0 launches nothing: return before the launch");
    return mg_fail(a->t.run, "%lld launches for a size of 0", (long long)mg_device_counts(a->t.run)->launches);
}

static bool no_elements(const asked *a)
{
    static const int64_t none[] = { MG_ZERO, MG_ZERO, MG_ZERO, MG_ZERO };
    for (int d = 0; d < a->dims; d++) {
        part(a,
             "a size of 0 is allowed: an output that still has elements gets sums without terms, which are 0, and "
             "nothing else is read or written",
             "no elements, %c = 0", a->t.kernel->sizes[d]);
        if (a->t.kernel->least[d] == 0 && !(with_size(a, d, 0) && launches_nothing(a)))
            return false;
    }
    part(a, "all sizes may be 0 at once, even where one alone must not be", "no elements, every size is 0");
    return a->dims == 1 || (mg_try(sized(a, none)) && launches_nothing(a));
}

/* The launches of a size that only the grid is tested with: the kernels do not run. */
static bool large_grid(const asked *a, int d)
{
    const mg_kernel *k = a->t.kernel;
    mg_run *run = a->t.run;
    char function[80];
    snprintf(function, sizeof function, "%s of many rows", k->function);
    part(a, "a grid has at most 65,535 blocks in y and in z, and 2^31 - 1 in x: put the rows, or columns, along x",
         "a large grid, %c = %d", k->sizes[d], GRID);
    mg_begin(run, function);
    for (int i = 0; i < MG_OPERANDS && k->operand[i].name; i++)
        mg_inout(run, k->operand[i].name, MT_F32, MT_SHAPE(3));
    for (int i = 0; i < a->dims; i++)
        mg_i64(run, (char[]){ k->sizes[i], 0 }, i == d ? GRID : 1);
    if (k->scalar)
        mg_f32(run, k->scalar, 1);
    return mg_call(run);
}

static bool large_on_device(const asked *a)
{
    const char *grid = a->t.kernel->grid;
    const int most = a->dims == 1 ? EMULATED_ALONE : EMULATED;
    for (int d = 0; d < a->dims; d++) {
        part(a, "a row may have more columns than a block has threads or shared memory for: loop over them",
             "large arrays, %c = %d", a->t.kernel->sizes[d], most);
        if (!mg_try(with_large(a, d, most, FEW)) || (grid && strchr(grid, a->t.kernel->sizes[d]) && !large_grid(a, d)))
            return false;
    }
    return true;
}

static bool large(const asked *a)
{
    if (a->device)
        return large_on_device(a);
    for (int d = 0; d < a->dims; d++) {
        mg_trial t = with_large(a, d, a->dims == 1 ? STACK : BEYOND, BESIDE);
        part(a, "sizes are int64_t and may be large: use no smaller type, and no array of such a size on the stack",
             "large arrays, %c = %lld", a->t.kernel->sizes[d], (long long)t.size[d]);
        if (!mg_try(t))
            return false;
    }
    return true;
}

static bool specials(const asked *a)
{
    for (const mg_special *s = a->row->special; s && s->part; s++) {
        mg_trial t = sized(a, has_sizes(a, s->size) ? s->size : a->row->size);
        t.special = s;
        t.change = s->prepare ? s->prepare : a->row->prepare;
        t.place = s->place;
        t.value = s->value;
        if (s->dist.kind || s->dist.b != 0)
            t.dist = s->dist;
        part(a, s->hint, "%s", s->part);
        if (!mg_try(t))
            return false;
    }
    return true;
}

/* ---- threads and state ----------------------------------------------------------------------------- */

static bool state(const asked *a)
{
    int64_t size[MG_SIZES] = { 0 };
    mg_trial t = sized(a, size);
    part(a,
         "the call before had the same addresses and sizes but other numbers: a result depends on the arguments "
         "alone, so keep nothing from call to call",
         "other numbers at the same addresses");
    mg_place_arrays(a->t.run, MG_AT_END);
    bool good = mg_try(t) && mg_try(t);
    mg_place_arrays(a->t.run, MG_ANYWHERE);
    return good;
}

static bool many_threads(const asked *a)
{
    bool good = true;
    part(a,
         "there may be more threads than processors, or than rows: divide the work by omp_get_num_threads(), without "
         "an array of a fixed size for them",
         "%d threads", THREADS);
    for (int d = 0; d < a->dims && good; d++) {
        mg_trial t = with_large(a, d, enough(a), SOME);
        t.threads = THREADS;
        good = mg_try(t);
    }
    return good;
}

static bool races(const asked *a)
{
    mg_trial t = for_threads(a);
    t.how = MG_CALL_SEARCHED;
    part(a, NULL, "data races");
    return mg_try(t);
}

/* Few rows, too: then columns may be divided among threads, and sums of them must not be. */
static bool bits(const asked *a)
{
    part(a, "the result has the same bits with any number of threads: each sum is computed by one thread, in one order",
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
        mg_trial t = with_large(a, d, enough(a), SOME);
        t.how = MG_CALL_BY_THREADS;
        if (!mg_try(t))
            return false;
    }
    return true;
}

/* ---- arguments ------------------------------------------------------------------------------------- */

static bool in_place(const asked *a)
{
    asked over = *a;
    over.t.in_place = true;
    part(a, "an output may be the input itself: read all that you need of x[i] before you write out[i]", "in place");
    return some_calls(&over);
}

static bool subsets(const asked *a)
{
    const unsigned optional = mg_optional(a->t.kernel);
    int64_t size[MG_SIZES] = { 0 };
    part(a, "each gradient may be NULL, in every combination: compute those that are given", "some outputs are NULL");
    for (unsigned null = optional;; null = (null - 1) & optional) {
        mg_trial t = sized(a, size);
        t.null |= null;
        if (!mg_try(t))
            return false;
        if (!null)
            return true;
    }
}

/* The first element, the last one and any; with a last size of 1, of several blocks, of enough for threads. */
static bool nan_stays(const asked *a)
{
    const int64_t last[] = { 0, 1, BLOCKS, enough(a) };
    const int lengths = a->device ? 1 : a->dims == 1 ? 4 : 3;
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
        part(a,
             "a NaN must not be lost: every result that it has a part in is NaN, and no other; comparisons, fminf and "
             "fmaxf can lose it",
             "a NaN%s", t.in_place ? " in place" : "");
        if (!mg_try(t))
            return false;
    }
    return true;
}

static bool counted(const asked *a)
{
    mg_trial t = sized(a, a->row->size);
    t.how = MG_CALL_COUNTED;
    t.cache = a->row->cache;
    if (!mg_try(t))
        return false;
    mg_traffic_credit(t.run, a->row->bar, mg_moved(a->row));
    return true;
}

bool mg_ask(const mg_trial *t, const mg_kernel_row *row)
{
    // clang-format off
    static const struct {
        unsigned asked;
        idea_fn *ask;
    } ideas[] = {
        { MG_ORDINARY, ordinary }, { MG_ODD, odd_sizes }, { MG_ONE, ones }, { MG_NO_ELEMENTS, no_elements },
        { MG_SPECIAL, specials }, { MG_IN_PLACE, in_place }, { MG_SUBSETS, subsets }, { MG_STATE, state },
        { MG_RACES, races }, { MG_NAN, nan_stays }, { MG_LARGE, large }, { MG_MANY_THREADS, many_threads },
        { MG_BITS, bits },
    };
    // clang-format on
    asked a = {
        .t = *t, .row = row, .dims = (int)strlen(t->kernel->sizes), .device = strstr(t->kernel->function, "_cuda")
    };
    const unsigned asks = MG_SPECIAL | (row->asks                  ? row->asks
                                        : has_sizes(&a, row->size) ? MG_ORDINARY
                                                                   : MG_ORDINARY | MG_ODD);
    bool good = !row->bar || counted(&a);
    for (int i = 0; i < MT_COUNT(ideas) && good && !row->bar; i++) {
        mg_part(t->run, NULL, NULL);
        good = !(asks & ideas[i].asked) || ideas[i].ask(&a);
    }
    return good;
}
