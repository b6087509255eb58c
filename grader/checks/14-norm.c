/* 14-norm.c -- how the checks of step 14.13 run: the norm of gradients of which each rank has a part. Rows:
 * 14-model-parallel.c. */
#include "checks/14-integers.h"
#include "checks/14-model-parallel.h"
#include "checks/worlds.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* broken: a norm that is not finite, NAN or INFINITY: that of one rank, or the replicated one; 0: none. */
static bool norm_once(mg_run *run, norm_about about, int64_t ranks, double broken)
{
    mt_rng *rng = mg_rng(run);
    double divided[MG_WORLD_MOST], scale = about == NORM_LARGE ? 1e30 : 1, all = 0;
    double replicated = about == NORM_PARTS ? 0 : scale * (1 + (double)mt_rng_uniform(rng));
    int64_t fails = about == NORM_FAILS ? 0 : -1, one = mg_pick(rng, 0, ranks - 1), bits;
    if (broken != 0 && about == NORM_REPLICATED)
        replicated = broken;
    memcpy(&bits, &replicated, sizeof bits);
    mg_begin(run, "mt_tp_norm");
    mg_as_called(run, "mt_tp_norm(tp, divided, replicated) on %" PRId64 " ranks", ranks);
    mg_14_ranks(run, ranks);
    mg_out(run, "norm", MT_I64, MT_SHAPE(ranks));
    mg_14_numbers(run, fails, NULL, 0);
    for (int64_t r = 0; r < ranks; r++) {
        divided[r] = broken != 0 && about == NORM_PARTS && r == one ? broken : scale * (double)mt_rng_uniform(rng);
        all += divided[r] * divided[r];
    }
    memcpy(mg_in(run, "divided", MT_I64, MT_SHAPE(ranks)), divided, (size_t)ranks * sizeof *divided);
    int64_t *same = mg_in(run, "replicated", MT_I64, MT_SHAPE(ranks));
    for (int64_t r = 0; r < ranks; r++)
        same[r] = bits;
    double want = sqrt(all + replicated * replicated);
    if (!mg_14_call(run, ranks, about == NORM_PARTS && broken == 0))
        return false;
    const int64_t *got = mg_result(run, "norm");
    for (int64_t r = 0; r < ranks; r++) { /* ranks + 1 squares, their sum, the root: in double */
        double is;
        memcpy(&is, &got[r], sizeof is);
        bool good = is == want || fabs(is - want) <= (double)(ranks + 12) * 0x1p-53 * want;
        good = about == NORM_FAILS || isnan(want) ? isnan(is) : good && got[r] == got[0];
        if (!good)
            return mg_fail(run,
                           "%" PRId64 " ranks: the norm is %.17g on rank %" PRId64
                           ", expected %.17g%s, with the same bits on all",
                           ranks, is, r, about == NORM_FAILS ? (double)NAN : want,
                           about == NORM_FAILS ? " (the collective has failed)" : "");
    }
    return about == NORM_FAILS ? mg_14_judge_failure(run, ranks, 0)
                               : mg_14_judge_calls(run, ranks, &(tensor_calls){ 1, 1, 0, 0, sizeof(double), false });
}

void mg_14_norm(mg_run *run, const void *one_case)
{
    norm_about about = ((const norm_case *)one_case)->about;
    enum { SUM, FINITE = 1 << NORM_PARTS | 1 << NORM_REPLICATED, NANS, INFINITE, WORLD };
    static const char stays[] = "a norm that is not finite stays so: it is not left out, and fmax hides a NaN";
    static const mg_idea tries[] = {
        { .times = 8 },
        { .rows = 1 << NORM_LARGE, .times = 56 }, /* on 3 and 4 ranks two orders often give one sum */
        { "many ranks", MG_MANY_RANKS, WORLD, ~(1 << NORM_FAILS) },
        { "a norm that is NaN", stays, NANS, FINITE, RANKS },
        { "a norm that is infinite", stays, INFINITE, FINITE, RANKS },
    };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        int least = about == NORM_FAILS ? 2 : 1, ranks = least + (int)t.made % (RANKS - least + 1);
        norm_once(run, about, t.is == WORLD ? mg_world(mg_rng(run), MG_WORLD_MANY) : ranks,
                  t.is == NANS       ? (double)NAN
                  : t.is == INFINITE ? (double)INFINITY
                                     : 0);
    }
}
