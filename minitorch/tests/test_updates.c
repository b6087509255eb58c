/* test_updates.c -- every update rule over 1,000 steps against an oracle in double that computes its own tolerances
 * (error growth: testing/update_oracle.h), and AdamW fused against AdamW in passes. */
#include "core/rng.h"
#include "testing/update_oracle.h"
#include "tests/must.h"

#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef struct rule {
    const char *name;
    mt_update_fn *update;
    mt_update_kind kind;
} rule;

static const rule rules[] = {
    { "sgd", mt_sgd_update_cpu, MT_SGD },
    { "momentum", mt_momentum_update_cpu, MT_MOMENTUM },
    { "nesterov", mt_nesterov_update_cpu, MT_NESTEROV },
    { "rmsprop", mt_rmsprop_update_cpu, MT_RMSPROP },
    { "adam", mt_adam_update_cpu, MT_ADAM },
    { "adamw", mt_adamw_update_cpu, MT_ADAMW },
    { "adamw in passes", mt_adamw_multipass_update_cpu, MT_ADAMW },
    { "lion", mt_lion_update_cpu, MT_LION },
    { "adafactor", mt_adafactor_update_cpu, MT_ADAFACTOR },
    { "muon", mt_muon_update_cpu, MT_MUON },
};

/* ---- a parameter and all that moves it --------------------------------------------------------- */

typedef struct fixture {
    mt_update u;
    mt_hyper hyper;
    float *grad;
    int64_t n;
} fixture;

static const float GUARD = 77;

static float *zeros(int64_t n)
{
    float *a = calloc((size_t)(n + 1), sizeof *a);
    a[n] = GUARD;
    return a;
}

static void fixture_init(fixture *f, mt_hyper hyper, int64_t rows, int64_t cols)
{
    int64_t n = rows * cols, largest = mt_max(n, mt_max(rows, cols));
    *f = (fixture){ .hyper = hyper, .n = n, .grad = zeros(n) };
    f->u = (mt_update){ .param = mt_test_uniform(1, n, -1, 1),
                        .grad = f->grad,
                        .state = { zeros(largest), zeros(largest) },
                        .scratch = zeros(4 * n),
                        .rows = rows,
                        .cols = cols,
                        .hyper = &f->hyper };
    f->u.param[n] = GUARD;
}

static void fixture_free(fixture *f)
{
    free(f->u.param), free(f->grad), free(f->u.scratch);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        free(f->u.state[s]);
}

/* Gradients of very different magnitudes; every 11th element never has one. */
static void fixture_next(fixture *f)
{
    mt_rng rng = mt_rng_new((uint64_t)++f->u.step, MT_STREAM_USER);
    mt_rng_fill_uniform(&rng, f->grad, f->n, -1, 1);
    for (int64_t i = 0; i < f->n; i++) {
        if (i % 7 == 3)
            f->grad[i] *= 1e-4f;
        if (i % 11 == 5)
            f->grad[i] = 0;
    }
}

static void check_guards(const fixture *f, const char *name)
{
    int64_t n = f->n, largest = mt_max(n, mt_max(f->u.rows, f->u.cols));
    cr_assert(f->u.param[n] == GUARD && f->grad[n] == GUARD && f->u.scratch[4 * n] == GUARD &&
                  f->u.state[0][largest] == GUARD && f->u.state[1][largest] == GUARD,
              "%s wrote past an end", name);
}

/* ---- against the oracle ------------------------------------------------------------------------- */

static void follow(const rule *r, mt_hyper hyper, int64_t rows, int64_t cols, int64_t steps)
{
    fixture f;
    fixture_init(&f, hyper, rows, cols);
    mt_update_oracle *oracle = mt_update_oracle_new(r->kind, hyper, rows, cols, f.u.param);
    for (int64_t t = 1; t <= steps; t++) {
        fixture_next(&f);
        r->update(&f.u);
        mt_update_oracle_step(oracle, f.grad);
        if (t <= 3 || t == steps) {
            const char *words = mt_update_oracle_check(oracle, f.u.param, f.u.state);
            cr_assert_null(words, "%s [%d,%d] step %d: %s", r->name, (int)rows, (int)cols, (int)t, words);
        }
    }
    check_guards(&f, r->name);
    mt_update_oracle_free(oracle);
    fixture_free(&f);
}

/* Every field differs from the defaults and matters: eps = 0.05 tells sqrt(v) + eps from sqrt(v + eps). */
static mt_hyper unusual(void)
{
    return (mt_hyper){ .lr = 0.003, .momentum = 0.7, .beta1 = 0.8, .beta2 = 0.95, .eps = 0.05, .weight_decay = 0.02 };
}

Test(updates, follow_the_oracle_for_1000_steps)
{
    for (const rule *r = rules; r < rules + MT_COUNT(rules); r++) {
        follow(r, mt_hyper_default(r->kind), 1, 33, 1000);
        follow(r, mt_hyper_default(r->kind), 7, 5, 1000);
        follow(r, unusual(), 1, 31, 1000);
        follow(r, unusual(), 13, 3, 1000);
    }
}

Test(updates, any_size)
{
    static const int64_t sizes[][2] = { { 1, 0 },   { 0, 1 },     { 0, 0 },    { 1, 1 },    { 1, 2 },
                                        { 1, 15 },  { 1, 17 },    { 9, 1 },    { 1, 1021 }, { 31, 33 },
                                        { 2, 257 }, { 130, 300 }, { 1, 40009 } };
    for (const rule *r = rules; r < rules + MT_COUNT(rules); r++)
        for (int64_t s = 0; s < MT_COUNT(sizes); s++)
            follow(r, unusual(), sizes[s][0], sizes[s][1], 5);
}

/* The oracle's tolerance must not be too large: after 1,000 steps it is below half of one step. */
Test(updates, oracle_is_tight)
{
    for (int kind = 0; kind < MT_MUON; kind++) {
        fixture f;
        mt_hyper hyper = unusual();
        fixture_init(&f, hyper, 1, 33);
        mt_update_oracle *oracle = mt_update_oracle_new((mt_update_kind)kind, hyper, 1, 33, f.u.param);
        for (int t = 0; t < 1000; t++) {
            fixture_next(&f);
            mt_update_oracle_step(oracle, f.grad);
        }
        for (int i = 0; i < 33; i++)
            cr_assert_leq(oracle->param[i].error, hyper.lr / 2, "%s: tolerance %g after 1000 steps of %g",
                          mt_update_rules[kind].name, oracle->param[i].error, hyper.lr);
        mt_update_oracle_free(oracle);
        fixture_free(&f);
    }
}

/* Muon's is one for the whole matrix, whose step has a length of about lr 0.2 sqrt(max(rows, cols) min(rows, cols)). */
Test(updates, muons_oracle_is_tight)
{
    static const int64_t sizes[][2] = { { 1, 33 }, { 7, 5 }, { 16, 64 }, { 67, 64 } };
    for (int64_t s = 0; s < MT_COUNT(sizes); s++) {
        fixture f;
        fixture_init(&f, unusual(), sizes[s][0], sizes[s][1]);
        mt_update_oracle *oracle = mt_update_oracle_new(MT_MUON, f.hyper, f.u.rows, f.u.cols, f.u.param);
        fixture_next(&f);
        mt_update_oracle_step(oracle, f.grad);
        double length = f.hyper.lr * 0.2 * sqrt((double)f.n);
        cr_assert_leq(oracle->whole, 0.02 * length, "[%d,%d]: tolerance %g for a step of %g", (int)f.u.rows,
                      (int)f.u.cols, oracle->whole, length);
        mt_update_oracle_free(oracle);
        fixture_free(&f);
    }
}

/* ---- promises of single rules -------------------------------------------------------------------- */

/* m_hat = g and v_hat = g^2 after one step, so Adam's step is lr g / (|g| + eps): lr, for any magnitude of g. */
Test(updates, adams_first_step_is_lr)
{
    static const mt_update_kind adams[] = { MT_ADAM, MT_ADAMW };
    for (int64_t a = 0; a < MT_COUNT(adams); a++) {
        for (double size = 1e-3; size < 1e4; size *= 10) {
            mt_hyper hyper = mt_hyper_default(adams[a]);
            float param = 0, grad = (float)-size, m = 0, v = 0;
            mt_update u = { &param, &grad, { &m, &v }, NULL, 1, 1, 1, &hyper };
            hyper.weight_decay = 0;
            mt_update_rules[adams[a]].update(&u);
            double want = hyper.lr * size / (size + hyper.eps), tolerance = mt_tolerance(20, want);
            must(mt_compare(mt_update_rules[adams[a]].name, &param, &want, &tolerance, 1));
        }
    }
}

/* Elements whose gradient was always 0 do not change and do not become NaN: 0 / sqrt(0), a row of zeros. */
Test(updates, no_gradient_no_move)
{
    for (const rule *r = rules; r < rules + MT_COUNT(rules); r++) {
        fixture f;
        mt_hyper hyper = mt_hyper_default(r->kind);
        hyper.weight_decay = 0;
        fixture_init(&f, hyper, 3, 5);
        float before[15];
        memcpy(before, f.u.param, sizeof before);
        for (f.u.step = 1; f.u.step <= 10; f.u.step++) {
            r->update(&f.u); /* all zeros */
            must(mt_compare_bits(r->name, f.u.param, before, 15));
        }
        for (int j = 0; j < 4; j++)
            f.grad[j] = 1; /* rows 1 and 2, and column 4, stay without */
        r->update(&f.u);
        must(mt_compare_bits(r->name, f.u.param + 4, before + 4, 11));
        cr_assert(f.u.param[0] < before[0], "%s does not go against the gradient", r->name);
        fixture_free(&f);
    }
}

/* One step from the same state differs by roundings only. Each side takes at most 4 to m, 5 to v (products, a sum, the
 * constants), and to the step 4 + 5 / 2 (the root halves) + 2 (hats) + 1 (root) + 1 (sum) + 1 (quotient) + 3 (decay,
 * lr, sum) of its magnitude; the last subtraction rounds once. (Here gcc makes them the same bits; it need not.) */
Test(updates, fused_adamw_is_adamw_in_passes)
{
    static const int64_t sizes[] = { 0, 1, 31, 33, 1021, 40009 };
    for (int64_t k = 0; k < MT_COUNT(sizes); k++) {
        int64_t n = sizes[k];
        fixture a, b;
        fixture_init(&a, unusual(), 1, n);
        fixture_init(&b, unusual(), 1, n);
        double *want = malloc((size_t)(n + 1) * sizeof *want), *tolerance = malloc((size_t)(n + 1) * sizeof *tolerance);
        for (int t = 0; t < 20; t++) {
            fixture_next(&a);
            fixture_next(&b);
            float *old_m = mt_test_uniform(1, n, 0, 1);
            memcpy(old_m, a.u.state[0], (size_t)n * sizeof *old_m);
            mt_adamw_multipass_update_cpu(&a.u);
            mt_adamw_update_cpu(&b.u);
            for (int s = 0; s < 3; s++) {
                float *from = s < 2 ? a.u.state[s] : a.u.param, *got = s < 2 ? b.u.state[s] : b.u.param;
                for (int64_t i = 0; i < n; i++) {
                    /* |m_hat| / (sqrt(v_hat) + eps) with m's magnitude, not its value: its two terms may cancel. */
                    double m = (0.8 * fabs(old_m[i]) + 0.2 * fabs(a.grad[i])) / (1 - pow(0.8, (double)a.u.step));
                    double v_hat = a.u.state[1][i] / (1 - pow(0.95, (double)a.u.step));
                    double p = fabs(a.u.param[i]), step = 0.003 * (m / (sqrt(v_hat) + 0.05) + 0.02 * (p + 1));
                    want[i] = from[i];
                    tolerance[i] = s == 0   ? mt_tolerance(2 * 4, m)
                                   : s == 1 ? mt_tolerance(2 * 5, want[i])
                                            : mt_tolerance(2 * 15, step) + mt_tolerance(2, p);
                }
                must(mt_compare(s < 2 ? mt_update_rules[MT_ADAMW].state_name[s] : "param", got, want, tolerance, n));
                memcpy(got, from, (size_t)n * sizeof *got); /* the next step from the same state */
            }
            free(old_m);
        }
        free(want), free(tolerance);
        fixture_free(&a), fixture_free(&b);
    }
}

Test(updates, gradient_is_not_touched)
{
    for (const rule *r = rules; r < rules + MT_COUNT(rules); r++) {
        fixture f;
        fixture_init(&f, unusual(), 5, 7);
        fixture_next(&f);
        float before[35];
        memcpy(before, f.grad, sizeof before);
        r->update(&f.u);
        must(mt_compare_bits(r->name, f.grad, before, 35));
        fixture_free(&f);
    }
}

Test(updates, same_bits_for_any_thread_count)
{
    enum { R = 301, C = 307, N = R * C };
    for (const rule *r = rules; r < rules + MT_COUNT(rules); r++) {
        fixture first, now;
        for (int threads = 1; threads <= 4; threads++) {
            fixture *f = threads == 1 ? &first : &now;
            fixture_init(f, unusual(), R, C);
            omp_set_num_threads(threads);
            for (int t = 0; t < 4; t++) {
                fixture_next(f);
                r->update(&f->u);
            }
            if (threads == 1)
                continue;
            must(mt_compare_bits(r->name, now.u.param, first.u.param, N));
            for (int s = 0; s < MT_UPDATE_STATES; s++)
                must(mt_compare_bits(r->name, now.u.state[s], first.u.state[s], N));
            fixture_free(&now);
        }
        fixture_free(&first);
    }
}

/* A diagonal matrix stays one: Muon's step has what five iterations make of each element's share of the norm. */
Test(updates, muons_step_is_the_polynomial_of_each_singular_value)
{
    enum { N = 7 };
    mt_hyper hyper = mt_hyper_default(MT_MUON);
    float param[N * N] = { 0 }, grad[N * N] = { 0 }, state[N * N] = { 0 }, scratch[4 * N * N];
    double squares = 0;
    hyper.weight_decay = 0;
    for (int i = 0; i < N; i++) {
        grad[i * N + i] = (float)(i + 1);
        squares += (i + 1) * (i + 1);
    }
    mt_muon_update_cpu(&(mt_update){ param, grad, { state }, scratch, N, N, 1, &hyper });
    for (int i = 0; i < N * N; i++) {
        double s = i % (N + 1) == 0 ? (i / N + 1) / sqrt(squares) : 0;
        for (int k = 0; k < 5; k++)
            s = 3.4445 * s - 4.775 * pow(s, 3) + 2.0315 * pow(s, 5);
        /* 20 roundings of an iteration, and those of the division, each at most 4 times as large after an iteration. */
        cr_assert_float_eq(param[i], -hyper.lr * 0.2 * sqrt(N) * s, hyper.lr * mt_tolerance(20 * 1365, 1), "%d", i);
    }
    cr_assert_eq(mt_muon_flops(3, 5), 5 * (2 * 3 * 3 * 5 + 2 * 3 * 3 * 3 + 2 * 3 * 3 * 5));
    cr_assert_eq(mt_muon_flops(5, 3), mt_muon_flops(3, 5));
}

/* ---- the table ------------------------------------------------------------------------------------ */

Test(updates, table_names_and_sizes)
{
    /* floats of state of a [30,50] parameter: the chapter's 1x, 2x, 2x, 3x with the parameter itself */
    static const int64_t want[MT_UPDATE_KINDS] = { 0, 1500, 1500, 1500, 3000, 3000, 1500, 80, 1500 };
    for (int kind = 0; kind < MT_UPDATE_KINDS; kind++) {
        cr_assert_str_eq(mt_update_rules[kind].name, mt_update_names[kind]);
        int64_t floats = 0;
        for (int s = 0; s < MT_UPDATE_STATES; s++) {
            floats += mt_update_state_floats((mt_update_kind)kind, s, 30, 50);
            cr_assert_eq(mt_update_rules[kind].state_size[s] == MT_STATE_NONE, !mt_update_rules[kind].state_name[s]);
        }
        cr_assert_eq(floats, want[kind], "%s: %d", mt_update_rules[kind].name, (int)floats);
    }
    cr_assert_null(mt_update_names[MT_UPDATE_KINDS]);
}

static void update_at_step_zero(mt_update_fn *update)
{
    mt_hyper hyper = unusual();
    float a[4] = { 0 };
    mt_update u = { a, a, { a, a }, a, 1, 1, 0, &hyper };
    update(&u);
}

Test(updates, adam_counts_from_one, .signal = SIGABRT)
{
    update_at_step_zero(mt_adam_update_cpu);
}

Test(updates, adamw_counts_from_one, .signal = SIGABRT)
{
    update_at_step_zero(mt_adamw_update_cpu);
}

Test(updates, adafactor_counts_from_one, .signal = SIGABRT)
{
    update_at_step_zero(mt_adafactor_update_cpu);
}
