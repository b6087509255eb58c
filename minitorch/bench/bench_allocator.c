/* bench_allocator.c -- the allocations of training steps of GPT-2, played again with several allocators: how much
 * memory each reserves for what is used, how often it asks the system, and what a pair of calls costs.
 *
 * An observer records a real run. Memory and calls are counted over a system that has addresses and no memory; the time
 * is that of the same trace over the CPU's allocator, beside malloc's, each in turn, and the fastest round counts. */
#include <inttypes.h>
#include <omp.h>

#include "bench/bench.h"
#include "core/scope.h"
#include "core/storage.h"
#include "fused/fused.h"
#include "memory/pool.h"
#include "plan/gpt2_cost.h"
#include "train/recipe.h"

enum { WARM = 2 /* steps after which the system should not be asked any more */, MOST_STEPS = 1000 };

typedef struct options {
    int64_t batch, time, steps, rounds, threads;
    const char *size;
    bool same;
} options;

static const mt_option flags[] = {
    { "size", 'z', "NAME", MT_TEXT(options, size), "gpt2 (124M), gpt2-medium, gpt2-large, gpt2-xl or toy" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Windows in a batch (4)" },
    { "time", 'T', "N", MT_I64(options, time, 16, 1 << 20), "Tokens in a window, at most (256)" },
    { "steps", 's', "N", MT_I64(options, steps, WARM + 1, MOST_STEPS), "Steps (12)" },
    { "same", 0, NULL, MT_FLAG(options, same), "Windows of the same length in all steps" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 10000), "Of timing; the fastest counts (20)" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "For the steps (2)" },
    { 0 },
};

/* ---- the trace ----------------------------------------------------------------------------------------- */

typedef struct event {
    int64_t bytes; /* > 0: an allocation */
    int64_t of;    /* a free: of the block of this event */
} event;

typedef struct trace {
    event *e;
    const void **data; /* of each event's block, while it is live; else NULL */
    int64_t n, room;
    int64_t ends[MOST_STEPS]; /* events until the end of each step */
    int64_t steps, live, peak;
} trace;

static void record(void *user, mt_device device, const void *data, int64_t bytes)
{
    trace *t = user;
    if (device != MT_CPU)
        return;
    if (t->n == t->room) {
        t->room = mt_max(4096, 2 * t->room);
        t->e = realloc(t->e, sizeof *t->e * (size_t)t->room);
        t->data = realloc(t->data, sizeof *t->data * (size_t)t->room);
        MT_CHECK(t->e && t->data, "out of memory");
    }
    event e = { bytes, 0 };
    if (bytes < 0) {
        e.of = t->n - 1;
        while (e.of >= 0 && t->data[e.of] != data)
            e.of--;
        if (e.of < 0) /* allocated before the recording */
            return;
        t->data[e.of] = NULL;
        e.bytes = 0;
    }
    t->live += bytes;
    t->peak = mt_max(t->peak, t->live);
    t->data[t->n] = e.bytes ? data : NULL;
    t->e[t->n++] = e;
}

static mt_tensor *tokens(int64_t batch, int64_t time, int64_t vocabulary, mt_rng *rng)
{
    mt_tensor *ids = mt_empty(MT_SHAPE(batch, time), MT_I32, MT_CPU);
    for (int64_t i = 0; i < mt_numel(ids); i++)
        ((int32_t *)mt_data(ids))[i] = (int32_t)mt_rng_below(rng, vocabulary);
    return ids;
}

typedef struct source {
    const options *o;
    int64_t vocabulary, step;
    mt_rng rng;
} source;

/* Lengths in no order, from a quarter of the longest on. */
static bool next_batch(void *user, mt_batch *batch)
{
    static const int sixteenths[] = { 8, 4, 10, 6, 14, 7, 16, 11, 5, 13, 9, 15 };
    source *s = user;
    int64_t time = s->o->same ? s->o->time : s->o->time * sixteenths[s->step++ % MT_COUNT(sixteenths)] / 16;
    batch->x = tokens(s->o->batch, time, s->vocabulary, &s->rng);
    batch->y = tokens(s->o->batch, time, s->vocabulary, &s->rng);
    batch->count = s->o->batch;
    return true;
}

static void record_steps(trace *t, const options *o, const mt_gpt2_config *config)
{
    const mt_recipe recipe = {
        .optimizer = MT_ADAMW, .schedule = MT_SCHEDULE_CONSTANT, .lr = 3e-4, .clip = 1, .weight_decay = 0.1
    };
    source s = { o, config->vocabulary, 0, mt_rng_new(1, MT_STREAM_DATA) };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_step_result done;
    mt_alloc_observe(record, t);
    mt_module *model = mt_gpt2_new(config, &rng);
    mt_optim *optim = mt_recipe_optim(&recipe, model);
    mt_training training = mt_recipe_training(&recipe, model, optim, o->steps);
    training.loss = mt_gpt2_loss;
    training.next = next_batch;
    training.source = &s;
    for (t->steps = 0; t->steps < o->steps; t->ends[t->steps++] = t->n)
        mt_train_step(&done, &training, t->steps);
    mt_optim_free(optim);
    mt_module_free(model);
    mt_alloc_observe(NULL, NULL);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Allocations of a step, and how many sizes they have. */
static void describe(const trace *t, int64_t step)
{
    int64_t from = t->ends[step - 1], to = t->ends[step], n = 0, sizes = 0, *size = malloc(sizeof *size * (size_t)t->n);
    for (int64_t i = from; i < to; i++)
        if (t->e[i].bytes)
            size[n++] = t->e[i].bytes;
    qsort(size, (size_t)n, sizeof *size, compare);
    for (int64_t i = 0; i < n; i++)
        sizes += i == 0 || size[i] != size[i - 1];
    printf("step %" PRId64 " makes %" PRId64 " allocations of %" PRId64 " sizes; live at most %.1f MB\n", step + 1, n,
           sizes, (double)t->peak / 1e6);
    free(size);
}

/* ---- a system without memory ----------------------------------------------------------------------------- */

static struct {
    uintptr_t next;
    int64_t given, peak, calls;
} counted;

static void *counted_alloc(int64_t bytes)
{
    uintptr_t at = counted.next;
    counted.next += (uintptr_t)bytes;
    counted.calls++;
    counted.given += bytes;
    counted.peak = mt_max(counted.peak, counted.given);
    return (void *)at; // NOLINT(performance-no-int-to-ptr)
}

static void counted_free(void *data, int64_t bytes)
{
    (void)data;
    counted.given -= bytes;
}

/* ---- allocators that are compared -------------------------------------------------------------------------- */

static mt_allocator below; /* what a cache or the pool asks */

/* Freed blocks of each size, for the same size only. */
enum { SIZES = 4096 };
static struct cached {
    int64_t bytes, count, room;
    void **data;
} cache[SIZES];

static struct cached *cache_of(int64_t bytes)
{
    uint64_t at = (uint64_t)bytes * UINT64_C(0x9E3779B97F4A7C15) >> 52;
    while (cache[at].bytes && cache[at].bytes != bytes)
        at = (at + 1) % SIZES;
    cache[at].bytes = bytes;
    return &cache[at];
}

static void *exact_alloc(int64_t bytes)
{
    struct cached *c = cache_of(bytes);
    return c->count ? c->data[--c->count] : below.alloc(bytes);
}

static void exact_free(void *data, int64_t bytes)
{
    struct cached *c = cache_of(bytes);
    if (c->count == c->room) {
        c->room = mt_max(16, 2 * c->room);
        c->data = realloc(c->data, sizeof *c->data * (size_t)c->room);
        MT_CHECK(c->data, "out of memory");
    }
    c->data[c->count++] = data;
}

static void cache_end(void)
{
    for (struct cached *c = cache; c < cache + SIZES; c++) {
        while (c->count)
            below.free(c->data[--c->count], c->bytes);
        free(c->data);
        *c = (struct cached){ 0 };
    }
}

static int64_t power(int64_t bytes)
{
    int64_t p = 64;
    while (p < bytes)
        p *= 2;
    return p;
}

static void *power_alloc(int64_t bytes)
{
    return exact_alloc(power(bytes));
}

static void power_free(void *data, int64_t bytes)
{
    exact_free(data, power(bytes));
}

static mt_pool *pool;
static int64_t reserve; /* bytes that the pool asks for at first; 0: none */

static void *pool_alloc(int64_t bytes)
{
    return mt_pool_alloc(pool, bytes);
}

static void pool_free(void *data, int64_t bytes)
{
    mt_pool_free(pool, data, bytes);
}

static void *malloc_alloc(int64_t bytes)
{
    return malloc((size_t)bytes);
}

static void malloc_free(void *data, int64_t bytes)
{
    (void)bytes;
    free(data);
}

typedef struct contender {
    const char *name;
    mt_allocator allocator;
    bool counts; /* what it reserves */
    bool plans;  /* the pool reserves the planned peak at first, as train_gpt2 does */
    double ns;   /* of a pair, fastest round */
} contender;

/* ---- replay ------------------------------------------------------------------------------------------------- */

/* Events from..to. data: of each event's block. */
static void replay(const trace *t, mt_allocator a, void **data, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        const event *e = &t->e[i];
        if (e->bytes)
            data[i] = a.alloc(e->bytes);
        else
            a.free(data[e->of], t->e[e->of].bytes);
    }
}

static void begin(const contender *c, mt_allocator system)
{
    below = system;
    pool = mt_pool_open(system);
    if (c->plans)
        mt_pool_reserve(pool, reserve);
}

static void end(void)
{
    cache_end();
    mt_pool_close(pool);
}

static void count_memory(const trace *t, const contender *c, void **data)
{
    memset(&counted, 0, sizeof counted);
    counted.next = (uintptr_t)1 << 40;
    begin(c, (mt_allocator){ counted_alloc, counted_free });
    replay(t, c->allocator, data, 0, t->ends[WARM - 1]);
    int64_t warm = counted.calls;
    replay(t, c->allocator, data, t->ends[WARM - 1], t->ends[t->steps - 1]);
    printf("%-25s %10.3f %10.1f %12" PRId64 " %12.1f", c->name, (double)counted.peak / (double)t->peak,
           (double)counted.peak / 1e6, warm, (double)(counted.calls - warm) / (double)(t->steps - WARM));
    replay(t, c->allocator, data, t->ends[t->steps - 1], t->n);
    end();
}

/* The steps after the first ones; the rest of the trace is not timed. */
static void time_once(const trace *t, contender *c, void **data)
{
    begin(c, mt_allocator_of(MT_CPU));
    int64_t from = t->ends[WARM - 1], to = t->ends[t->steps - 1];
    replay(t, c->allocator, data, 0, from);
    double start = bench_cpu(CLOCK_THREAD_CPUTIME_ID);
    replay(t, c->allocator, data, from, to);
    bench_keep_least(&c->ns, (bench_cpu(CLOCK_THREAD_CPUTIME_ID) - start) * 1e9 / ((double)(to - from) / 2));
    replay(t, c->allocator, data, to, t->n);
    end();
}

int main(int argc, char **argv)
{
    options o = { .size = "gpt2", .batch = 4, .time = 256, .steps = 12, .rounds = 20, .threads = 2 };
    mt_gpt2_config config = { 0 };
    trace t = { 0 };
    mt_fused_use();
    mt_cli_parse(argc, argv, "Allocators on the trace of a training step of GPT-2.", flags, &o);
    omp_set_num_threads((int)o.threads);
    mt_status status = mt_gpt2_fill(&config, o.size);
    if (status != MT_OK)
        return mt_cli_exit(status);
    config.block = mt_max(config.block, o.time);
    config.vocabulary = 50257;
    record_steps(&t, &o, &config);
    reserve =
        mt_gpt2_cost_of(&config, &(mt_gpt2_batch){ o.batch, o.time, 1, MT_F32, 0, false }, NULL).peak_bytes / 40 * 41;
    printf("%s\n%s, batches of %" PRId64 ", windows of %" PRId64 " tokens%s, %" PRId64 " steps\n", bench_machine(),
           o.size, o.batch, o.time, o.same ? "" : " at most", o.steps);
    describe(&t, WARM);
    contender all[] = {
        { "malloc", { malloc_alloc, malloc_free }, false, false, 1e18 },
        { "system (cpu's)", mt_allocator_of(MT_CPU), false, false, 1e18 },
        { "cache of exact sizes", { exact_alloc, exact_free }, true, false, 1e18 },
        { "... of powers of two", { power_alloc, power_free }, true, false, 1e18 },
        { "pool", { pool_alloc, pool_free }, true, false, 1e18 },
        { "... after mt_pool_reserve", { pool_alloc, pool_free }, true, true, 1e18 },
    };
    void **data = malloc(sizeof *data * (size_t)t.n);
    for (int64_t r = 0; r < o.rounds; r++)
        for (int i = 0; i < MT_COUNT(all); i++)
            time_once(&t, &all[i], data);
    printf("%-25s %10s %10s %12s %12s %12s\n", "", "reserved", "reserved", "system calls", "system calls", "ns a pair");
    printf("%-25s %10s %10s %12s %12s %12s\n", "", "/ live", "MB", "steps 1, 2", "a step after", "");
    for (int i = 0; i < MT_COUNT(all); i++) {
        if (all[i].counts)
            count_memory(&t, &all[i], data);
        else
            printf("%-25s %10s %10s %12s %12s", all[i].name, "", "", "", "");
        printf(" %12.1f\n", all[i].ns);
    }
    free(data);
    free(t.data);
    free(t.e);
    return 0;
}
