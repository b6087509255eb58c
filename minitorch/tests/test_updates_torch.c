/* test_updates_torch.c -- 1,000 steps beside torch.optim (datasets/reference/optimizers_torch.py), for torch's rules.
 *
 * Torch's values are in double, so two comparisons are possible. The kernel must be within the oracle's tolerance of
 * torch, whose own rounding is negligible. And the oracle must agree with torch in double precision: both round at most
 * as often as an f32 computation, each time 2^-29 as much (2^-53 against 2^-24), and both may be off. */
#include "cli/cli.h"
#include "testing/dump.h"
#include "testing/update_oracle.h"
#include "tests/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 17, ROWS = 250, KEPT = 6 };

static const char PATH[] = "datasets/reference/optimizers_torch.dump";

static mt_dump *reference(void)
{
    mt_dump *dump = NULL;
    cr_assert_eq(mt_dump_open(&dump, PATH), MT_OK, "%s (run this from the repository's root)", mt_last_error());
    return dump;
}

static const double *trajectory(const mt_dump *dump, const char *run, const char *what, int kept)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%s", run, what);
    return (const double *)mt_dump_array(dump, name, "f64", MT_SHAPE(KEPT, N)) + kept * N;
}

static void compare(const char *run, int64_t t, const float *got, const mt_approx *oracle, const double *torch)
{
    double tolerance[N];
    for (int i = 0; i < N; i++) {
        double off = fabs(oracle[i].value - torch[i]);
        cr_assert_leq(off, 2 * 0x1p-29 * oracle[i].error, "%s, step %d: the oracle's [%d] is %.17g, torch has %.17g",
                      run, (int)t, i, oracle[i].value, torch[i]);
        tolerance[i] = oracle[i].error + off;
    }
    const char *words = mt_compare(run, got, torch, tolerance, N);
    cr_assert_null(words, "step %d: %s", (int)t, words);
}

static void compare_all(const mt_dump *dump, const char *run, int kept, const mt_update *u,
                        const mt_update_oracle *oracle)
{
    const mt_update_rule *rule = &mt_update_rules[oracle->kind];
    compare(run, u->step, u->param, oracle->param, trajectory(dump, run, "param", kept));
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        if (rule->state_name[s])
            compare(run, u->step, u->state[s], oracle->state[s], trajectory(dump, run, rule->state_name[s], kept));
}

static mt_hyper hyper_of(const mt_dump *dump, const char *run)
{
    char name[64];
    snprintf(name, sizeof name, "%s/hyper", run);
    const double *h = mt_dump_array(dump, name, "f64", MT_SHAPE(6));
    return (mt_hyper){ h[0], h[1], h[2], h[3], h[4], h[5] };
}

/* A run is named after its rule, up to a dash. */
static mt_update_kind kind_of(const char *run)
{
    char rule[32];
    unsigned kind = MT_SGD;
    snprintf(rule, sizeof rule, "%.*s", (int)strcspn(run, "-"), run);
    cr_assert_eq(mt_cli_choice(&kind, "optimizer", rule, mt_update_names), MT_OK, "%s", mt_last_error());
    return (mt_update_kind)kind;
}

static void follow(const mt_dump *dump, const char *run)
{
    float param[N], m[N] = { 0 }, v[N] = { 0 };
    const float *grad = mt_dump_array(dump, "grad", "f32", MT_SHAPE(ROWS, N));
    const int64_t *kept = mt_dump_array(dump, "steps", "i64", MT_SHAPE(KEPT));
    mt_hyper hyper = hyper_of(dump, run);
    memcpy(param, mt_dump_array(dump, "init", "f32", MT_SHAPE(N)), sizeof param);
    mt_update u = { .param = param, .state = { m, v }, .rows = 1, .cols = N, .hyper = &hyper };
    mt_update_oracle *oracle = mt_update_oracle_new(kind_of(run), hyper, 1, N, param);
    for (int k = 0; k < KEPT; k++) {
        while (u.step < kept[k]) {
            u.grad = grad + u.step++ % ROWS * N;
            mt_update_rules[oracle->kind].update(&u);
            mt_update_oracle_step(oracle, u.grad);
        }
        compare_all(dump, run, k, &u, oracle);
    }
    mt_update_oracle_free(oracle);
}

Test(updates_torch, thousand_steps)
{
    static const char *const runs[] = { "sgd",      "sgd-decay",      "momentum", "momentum-decay",
                                        "nesterov", "nesterov-decay", "rmsprop",  "rmsprop-eps",
                                        "adam",     "adam-eps",       "adamw",    "adamw-decay" };
    mt_dump *dump = reference();
    for (int64_t r = 0; r < MT_COUNT(runs); r++)
        follow(dump, runs[r]);
    mt_dump_close(dump);
}
