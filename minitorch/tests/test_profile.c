/* test_profile.c -- what the profiler counts, alone and with many threads. */
#include "aborts.h"
#include "profile_work.h"

#include <math.h>
#include <stdatomic.h>

TestSuite(profile, .timeout = 60);

/* ---- what is counted ----------------------------------------------------------------------------------------- */

Test(profile, lines_hold_calls_times_and_work_of_a_name)
{
    mt_profile_begin(0);
    outer_work();
    outer_work();
    mt_profile *p = mt_profile_end();
    const mt_profile_line *outer = line_of(p, "outer"), *inner = line_of(p, "inner");
    cr_assert_eq(p->line_count, 2);
    cr_assert_eq(outer->calls, 2);
    cr_assert_eq(inner->calls, 4);
    cr_assert(outer->total >= 0.010 && inner->total >= 0.008 && outer->self >= 0.002);
    cr_assert_float_eq(outer->self + inner->self, outer->total, 1e-9, "self times add up to the whole");
    cr_assert_float_eq(inner->self, inner->total, 1e-12);
    cr_assert(inner->shortest >= 0.002 && inner->shortest <= inner->total / 4 && inner->longest >= inner->total / 4);
    cr_assert_eq(outer->flops, 20, "work belongs to the innermost span");
    cr_assert_eq(outer->bytes, 200);
    cr_assert_eq(inner->flops, 400);
    cr_assert_eq(inner->bytes, 4000);
    cr_assert_eq(p->flops, 420);
    cr_assert_eq(p->spans, 6);
    cr_assert(p->line[0].self >= p->line[1].self, "most self time first");
    cr_assert(outer->total <= p->seconds);
    mt_profile_free(p);
}

Test(profile, events_are_in_order_and_nested)
{
    mt_profile_begin(0);
    outer_work();
    mt_profile *p = mt_profile_end();
    const mt_profile_event *e = p->thread[0].event;
    cr_assert_eq(p->thread_count, 1);
    cr_assert_eq(p->thread[0].count, 3);
    cr_assert_str_eq(p->line[e[0].line].name, "outer");
    cr_assert_str_eq(p->line[e[2].line].name, "inner");
    cr_assert(e[0].depth == 0 && e[1].depth == 1 && e[2].depth == 1);
    cr_assert(e[0].begin >= 0 && e[0].begin <= e[1].begin && e[1].end <= e[2].begin && e[2].end <= e[0].end);
    cr_assert(e[0].end <= p->seconds);
    cr_assert_eq(e[0].flops, 10);
    mt_profile_free(p);
}

static void twice_named(const char *of)
{
    MT_SPAN_OF("backward", of);
}

Test(profile, a_span_of_something_has_a_line_of_its_own)
{
    static const char same[] = "linear", same_again[] = "linear"; /* two literals, one name */
    mt_profile_begin(0);
    twice_named(same);
    twice_named(same_again);
    twice_named("relu");
    twice_named(NULL);
    mt_profile *p = mt_profile_end();
    cr_assert_eq(p->line_count, 3);
    cr_assert_eq(line_of(p, "linear backward")->calls, 2);
    cr_assert_eq(line_of(p, "relu backward")->calls, 1);
    cr_assert_eq(line_of(p, "backward")->calls, 1);
    mt_profile_free(p);
}

static void begin_inside(void)
{
    MT_SPAN("open at begin");
    mt_profile_begin(0);
    inner_work();
}

static mt_profile *end_inside(void)
{
    MT_SPAN("open at end");
    inner_work();
    return mt_profile_end();
}

Test(profile, spans_open_at_begin_or_end_are_left_out)
{
    mt_profile *first, *second;
    begin_inside();
    outer_work();
    first = end_inside();
    cr_assert_eq(first->line_count, 2, "only inner and outer");
    cr_assert_eq(line_of(first, "inner")->calls, 4);
    cr_assert_null(mt_span_innermost(), "and the chain of open spans is as before");
    mt_profile_begin(0);
    second = mt_profile_end();
    cr_assert_eq(second->spans, 0, "nothing of the first is in the second");
    mt_profile_free(first);
    mt_profile_free(second);
}

static mt_profile *end_and_begin_inside(void)
{
    MT_SPAN("across");
    mt_profile *p = mt_profile_end();
    mt_profile_begin(0);
    inner_work();
    return p;
}

Test(profile, a_span_of_the_last_profile_is_not_taken_for_one_of_this)
{
    mt_profile_begin(0);
    mt_profile_free(end_and_begin_inside());
    mt_profile *p = mt_profile_end();
    cr_assert_null(line_of(p, "across"));
    cr_assert_eq(line_of(p, "inner")->calls, 1);
    mt_profile_free(p);
}
static void allocate_inside(void)
{
    MT_SPAN("around");
    allocate(5 << 20);
    MT_SPAN("after");
}

Test(profile, memory_high_water_of_each_span_and_of_all)
{
    void *before = mt_alloc(1 << 20, MT_CPU);
    mt_profile_begin(0);
    void *outside = mt_alloc(2 << 20, MT_CPU);
    allocate_inside();
    mt_free(mt_alloc(6 << 20, MT_CPU), 6 << 20, MT_CPU);
    mt_profile *p = mt_profile_end();
    cr_assert_eq(line_of(p, "allocate")->peak[MT_CPU], 8 << 20);
    cr_assert_eq(line_of(p, "around")->peak[MT_CPU], 8 << 20, "what happens inside happens in it");
    cr_assert_eq(line_of(p, "after")->peak[MT_CPU], 3 << 20, "what is live all along");
    cr_assert_eq(p->peak[MT_CPU], 9 << 20);
    cr_assert_eq(p->peak[MT_CUDA], 0);
    mt_free(before, 1 << 20, MT_CPU);
    mt_free(outside, 2 << 20, MT_CPU);
    mt_profile_free(p);
}

Test(profile, of_very_many_spans_the_latest_are_kept_and_all_are_counted)
{
    enum { SPANS = 100000, KEPT = 1000 };
    mt_profile_begin(KEPT);
    for (int i = 0; i < SPANS; i++) {
        MT_SPAN("short");
        mt_count_work(i, 1);
    }
    mt_profile *p = mt_profile_end();
    const mt_profile_thread *thread = &p->thread[0];
    cr_assert_eq(line_of(p, "short")->calls, SPANS);
    cr_assert_eq(p->bytes, SPANS);
    cr_assert_eq(p->spans, SPANS);
    cr_assert_eq(p->dropped, SPANS - KEPT);
    cr_assert_eq(thread->count, KEPT);
    for (int i = 0; i < KEPT; i++)
        cr_assert_eq(thread->event[i].flops, SPANS - KEPT + i);
    mt_profile_free(p);
}

Test(profile, many_names)
{
    enum { NAMES = 1000 };
    static char name[NAMES][16];
    mt_profile_begin(0);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < NAMES; i++) {
            snprintf(name[i], sizeof name[i], "n%d", i);
            MT_SPAN(name[i]);
            mt_count_work(i, 0);
        }
    mt_profile *p = mt_profile_end();
    cr_assert_eq(p->line_count, NAMES);
    for (int i = 0; i < NAMES; i++)
        cr_assert(line_of(p, name[i])->calls == 3 && line_of(p, name[i])->flops == 3 * i);
    mt_profile_free(p);
}

Test(profile, misuse_is_told)
{
    ABORTS("no recording is running", mt_profile_end());
    mt_profile_begin(0);
    ABORTS("a recording is running", mt_profile_begin(0));
    mt_profile_free(mt_profile_end());
    ABORTS("-1 events", mt_profile_begin(-1));
    mt_profile_free(NULL);
}

/* Off: no observer is registered or called. The cost is only printed: a time on a shared machine proves nothing. */
Test(profile, off_nothing_happens)
{
    enum { SPANS = 1000000, ROUNDS = 5 };
    double cost[3] = { 1, 1, 1 }; /* of an empty iteration, with a span without observers, with a profiled span */
    volatile int64_t sink = 0;
    outer_work();
    {
        MT_SPAN("off");
        cr_assert_null(mt_span_innermost());
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < 3; kind++) {
            if (kind == 2)
                mt_profile_begin(1);
            double start = mt_now();
            for (int i = 0; kind == 0 && i < SPANS; i++)
                sink += i;
            for (int i = 0; kind > 0 && i < SPANS; i++) {
                MT_SPAN("off");
                mt_count_work(i, i);
                sink += i;
            }
            cost[kind] = fmin(cost[kind], (mt_now() - start) / SPANS);
            if (kind == 2)
                mt_profile_free(mt_profile_end());
        }
    printf("a turn: %.2f ns; with a span and a count: %.2f ns; while a profile runs: %.1f ns\n", 1e9 * cost[0],
           1e9 * cost[1], 1e9 * cost[2]);
    mt_profile_begin(0);
    mt_profile *p = mt_profile_end();
    cr_assert_eq(p->spans, 0, "what came before is not in it");
    mt_profile_free(p);
}

/* ---- threads ------------------------------------------------------------------------------------------------- */

static atomic_bool stop;
static void *loader_until_stopped(void *unused)
{
    (void)unused;
    int one = 1;
    while (!stop)
        loader(&one);
    return NULL;
}

Test(profile, spans_of_all_threads_even_of_those_that_have_ended)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    int calls = 5000;
    mt_profile_begin(0);
    outer_work();
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, loader, &calls);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    mt_profile *p = mt_profile_end();
    cr_assert_eq(line_of(p, "fetch")->calls, THREADS * calls);
    cr_assert_eq(line_of(p, "decode")->flops, THREADS * calls);
    cr_assert_eq(p->thread_count, THREADS + 1);
    for (int t = 0, loaders = 0; t <= THREADS; t++) {
        bool is_loader = strncmp(p->thread[t].name, "loader ", 7) == 0;
        cr_assert_eq(p->thread[t].count, is_loader ? 2 * calls : 3, "%s", p->thread[t].name);
        cr_assert((loaders += is_loader) <= THREADS);
    }
    mt_profile_free(p);
}

Test(profile, begins_and_ends_while_other_threads_have_spans_open)
{
    enum { THREADS = 2, PROFILES = 50 };
    pthread_t thread[THREADS];
    int64_t spans = 0;
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, loader_until_stopped, NULL);
    for (int i = 0; i < PROFILES; i++) {
        mt_profile_begin(64);
        usleep(1000);
        mt_profile *p = mt_profile_end();
        for (int64_t t = 0; t < p->thread_count; t++)
            for (int64_t k = 0; k < p->thread[t].count; k++) {
                const mt_profile_event *e = &p->thread[t].event[k];
                cr_assert(e->begin >= 0 && e->begin <= e->end && e->end <= p->seconds);
            }
        spans += p->spans;
        mt_profile_free(p);
    }
    stop = true;
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    cr_assert(spans > 0);
}
