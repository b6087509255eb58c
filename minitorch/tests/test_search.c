/* test_search.c -- searches for hyperparameters on synthetic functions in virtual time (search/order.h). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "search/slot.h"
#include "search/gauss.h"
#include "search/order.h"

typedef double objective(const mt_point *point, int64_t steps, uint64_t problem);

/* Runs a search in virtual time; jobs are told in another order than they end. Returns the best job. */
static mt_job solve(const mt_search *search, int64_t workers, objective *f, uint64_t problem, int64_t *cost)
{
    mt_order order = mt_order_new(search, workers);
    for (mt_order_event e; (e = mt_order_next(&order)).kind != MT_ORDER_END;)
        if (e.kind == MT_ORDER_WAIT)
            for (int64_t i = order.count - 1; i >= e.job; i--)
                if (order.told[i].state == MT_JOB_RUNNING && (i == e.job || i % 3))
                    mt_order_tell(&order, i, MT_JOB_DONE, f(&order.told[i].point, order.told[i].steps, problem));
    mt_job best = order.job[mt_search_best(order.job, order.count)];
    *cost = order.cost;
    mt_order_free(&order);
    return best;
}

static double number(uint64_t problem, uint64_t i)
{
    uint32_t bits[4];
    mt_philox(bits, 77, problem, i);
    return bits[0] * 0x1p-32;
}

/* A learning curve: settings differ in the loss that they reach and in how fast. */
static double curve(const mt_point *p, int64_t steps, uint64_t problem)
{
    double x = p->at[0] - number(problem, 0), y = p->at[1] - number(problem, 1);
    double end = x * x + 0.5 * y * y + 0.1 * x * y, speed = 0.7 + 0.3 * number(problem, 2 + (uint64_t)(p->at[0] * 100));
    return end + 0.5 * pow((double)steps, -speed);
}

static double bowl(const mt_point *p, int64_t steps, uint64_t problem)
{
    double x = p->at[0] - 0.1 - 0.8 * number(problem, 0), y = p->at[1] - 0.1 - 0.8 * number(problem, 1);
    (void)steps;
    return x * x + 2 * y * y + x * y + 0.02 * cos(12 * x);
}

static mt_search search_of(const char *space, mt_search_sampler sampler, int64_t trials, int64_t most, int64_t eta)
{
    mt_search s = { .sampler = sampler, .trials = trials, .least = 1, .most = most, .eta = eta, .seed = 5 };
    cr_assert_eq(mt_space_parse(&s.space, space), MT_OK, "%s", mt_last_error());
    return s;
}

Test(search, asha_finds_the_best_of_a_grid_at_a_third_of_its_cost)
{
    double excess[20], share[20];
    for (uint64_t problem = 0; problem < 20; problem++) {
        int64_t full, less;
        mt_search grid = search_of("x=0..1:9,y=0..1:9", MT_SAMPLE_GRID, 81, 27, 0), asha = grid;
        asha.eta = 3;
        mt_job best = solve(&grid, 4, curve, problem, &full), found = solve(&asha, 4, curve, problem, &less);
        cr_assert_eq(full, 81 * 27);
        excess[problem] = found.value - best.value;
        share[problem] = (double)less / (double)full;
    }
    qsort(excess, 20, sizeof *excess, mt_search_ascending);
    qsort(share, 20, sizeof *share, mt_search_ascending);
    cr_log_info(
        "ASHA, median of 20 problems: its best is worse than the grid's by %g, at %.3f of the cost (%.3f to %.3f)",
        excess[10], share[10], share[0], share[19]);
    cr_assert_leq(share[10], 1.0 / 3, "%g of the grid's cost", share[10]);
    cr_assert_eq(excess[10], 0, "its best is worse by %g", excess[10]);
}

static double median_of(mt_search_sampler sampler)
{
    double value[20];
    int64_t cost;
    for (uint64_t problem = 0; problem < 20; problem++) {
        mt_search s = search_of("x=0..1,y=0..1", sampler, 30, 1, 0);
        s.seed = problem;
        mt_job best = solve(&s, 2, bowl, problem, &cost);
        value[problem] = best.value;
    }
    qsort(value, 20, sizeof *value, mt_search_ascending);
    return value[10];
}

Test(search, bayes_and_evolution_beat_random_on_smooth_functions)
{
    double random = median_of(MT_SAMPLE_RANDOM), bayes = median_of(MT_SAMPLE_BAYES),
           evolve = median_of(MT_SAMPLE_EVOLVE);
    cr_log_info("30 trials, median of 20 problems: random %g, bayes %g, evolve %g", random, bayes, evolve);
    cr_assert_lt(bayes, random, "%g, random %g", bayes, random);
    cr_assert_lt(evolve, random, "%g, random %g", evolve, random);
}

Test(search, cholesky)
{
    enum { N = 7 };
    double l[N * N], a[N * N] = { 0 };
    for (int i = 0; i < N * N; i++)
        l[i] = number(9, (uint64_t)i) + (i % (N + 1) == 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k <= (i < j ? i : j); k++)
                a[i * N + j] += l[i * N + k] * l[j * N + k];
    cr_assert(mt_cholesky(a, N, N));
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            cr_assert_float_eq(a[j * N + i], l[i * N + j], 1e-9);
    a[0] = -1;
    cr_assert_not(mt_cholesky(a, N, N));
}

/* The least processor time of a few calls. */
static double least_time(void call(mt_gauss *), mt_gauss *g)
{
    double least = INFINITY;
    for (int i = 0; i < 9; i++) {
        clock_t start = clock();
        call(g);
        least = fmin(least, (double)(clock() - start));
    }
    return least;
}

/* L of the covariances as textbooks have it: dot products of rows. */
static void textbook_factor(mt_gauss *g)
{
    enum { N = MT_GAUSS_POINTS };
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = exp(-fabs(g->point[i].at[0] - g->point[j].at[0])) + (i == j);
            for (int64_t k = 0; k < j; k++)
                sum -= g->factor[i * N + k] * g->factor[j * N + k];
            g->factor[i * N + j] = i == j ? sqrt(sum) : sum / g->factor[j * N + j];
        }
}

/* A trial of 8 hyperparameters waits for this: 46 factors of 64 points and one of 128, in the time of 11 textbook ones
 * of 128. Along columns, and with all entries of the tables tried, it is 139 in the time of 54. */
Test(search, a_fit_takes_few_factors_and_these_little_time)
{
    mt_search s = search_of("a=0..1,b=0..1,c=0..1,d=0..1,e=0..1,f=0..1,g=0..1,h=1|2|3", MT_SAMPLE_BAYES, 1, 1, 0);
    mt_gauss *g = mt_calloc(1, sizeof *g);
    mt_rng rng = mt_rng_new(3, MT_STREAM_USER);
    g->space = &s.space;
    g->count = MT_GAUSS_POINTS;
    for (int64_t i = 0; i < g->count; i++) {
        g->point[i] = mt_space_random(&s.space, &rng);
        g->value[i] = 2 * sin(3 * g->point[i].at[0]) - 1;
    }
    mt_gauss_fit(g);
    int64_t factors = g->factors;
    double fit = least_time(mt_gauss_fit, g), textbook = least_time(textbook_factor, g);
    cr_log_info("a fit: %d factors, in the time of %.1f textbook factors", (int)factors, fit / textbook);
    cr_assert_leq(factors, 60);
    cr_assert_leq(fit, 20 * textbook, "the time of %g textbook factors", fit / textbook);
    free(g);
}

Test(search, spaces)
{
    static const char *const bad[] = {
        "",     "x",       "x=",         "x=1..0",          "x=log:0..1",     "x=int:0.5..2",
        "x=a|", "x=a b",   "x=0..1,x=a", "x=0..nan",        "x=0..1:1",       "x=0..1,",
        "=1|2", "x=$(ls)", "x=0..1:",    "x=-1e308..1e308", "x=log:1e-320..1"
    };
    mt_space space;
    for (int i = 0; i < MT_COUNT(bad); i++)
        cr_assert_eq(mt_space_parse(&space, bad[i]), MT_ERR_ARGUMENT, "'%s' is taken", bad[i]);
    cr_assert_eq(mt_space_parse(&space, "lr=log:1e-5..1e-2,b=4|8|16,n=int:1..3,d=0..0.5:3"), MT_OK);
    cr_assert_eq(mt_space_grid(&space), 4 * 3 * 3 * 3);
    mt_point first = mt_space_grid_point(&space, 0), last = mt_space_grid_point(&space, 107);
    static const char *const low[] = { "1e-05", "4", "1", "0" }, *const high[] = { "0.01", "16", "3", "0.5" };
    for (int64_t d = 0; d < 4; d++) {
        cr_assert_str_eq(mt_space_value(&space, d, &first), low[d]);
        cr_assert_str_eq(mt_space_value(&space, d, &last), high[d]);
    }
}

Test(search, commands)
{
    char text[MT_COMMAND_BYTES];
    mt_search s = search_of("x=a|b", MT_SAMPLE_GRID, 2, 9, 3);
    mt_job job = { .trial = 4, .steps = 9, .point = mt_space_grid_point(&s.space, 1) };
    cr_assert_eq(mt_command_fill(text, "p {x} {steps} {trial} ${x} { print } -o {dir}", &s.space, &job, "a'b"), MT_OK);
    cr_assert_str_eq(text, "p b 9 4 ${x} { print } -o 'a'\\''b'");
    cr_assert_eq(mt_command_check("p {x} {steps}", &s), MT_OK);
    cr_assert_eq(mt_command_check("p {x}", &s), MT_ERR_ARGUMENT);
    cr_assert_eq(mt_command_check("p {steps}", &s), MT_ERR_ARGUMENT);
    cr_assert_eq(mt_command_check("p {x} {y} {steps}", &s), MT_ERR_ARGUMENT);
}
