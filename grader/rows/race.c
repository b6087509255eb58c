/* race.c -- see race.h.
 *
 * The smallest time is the least disturbed one, so only the slices with the minima must be undisturbed. A disturbance
 * is time in which a thread, or the grader, is ready to run but has no processor; the kernel counts it. A thread that
 * sleeps or waits for another is slow but not disturbed, which wall and processor time alone cannot distinguish. Hence
 *
 *   net = wall - waited, but no less than processor time / processors
 *
 * which is a lower bound of the undisturbed time: a program that waits for its own threads keeps its processors busy,
 * and then net equals wall. So theirs.net / ours.wall is a lower bound of the true ratio, and theirs.wall / ours.net an
 * upper bound.
 *
 * On several processors a slice can be disturbed without being noticed (its threads were put on one processor and ran
 * in turn), so the best time must be reached again in another launch. */
#include "rows/race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHARE  1.15 /* wall over net time */
#define MOST_DIFFER 0.05 /* between the ratio of wall times and that of net times */
#define MOST_APART  0.10 /* between the best two launches of a side */
#define NEAR        0.10 /* below a bar: more than two races of the same units differ */
#define NEAR_BUSY   0.25 /* the same on a busy machine, where waiting is allowed for already; what remains are caches */

void mg_race_launch(mg_tally *t)
{
    t->launches++;
}

static bool is_less(double x, double than)
{
    return than == 0 || x < than;
}

/* `waited` decreases when a thread ends, because its count is lost. */
void mg_race_slice(mg_tally *t, mg_side *side, double wall, double cpu, double waited)
{
    double net = fmax(fmax(wall - fmax(waited, 0), cpu / t->processors), 1e-9);
    double *launch = &side->launch[mt_min(mt_max(t->launches, 1), MG_LAUNCHES) - 1];
    if (side->count < MG_SLICES)
        side->wall[side->count] = wall;
    if (is_less(wall, side->best)) {
        side->best = wall;
        side->best_share = wall / net;
    }
    if (is_less(net, side->best_net))
        side->best_net = net;
    if (is_less(wall, *launch))
        *launch = wall;
    side->count++;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double spread(const mg_side *side)
{
    double sorted[MG_SLICES];
    int64_t n = mt_min(side->count, MG_SLICES);
    memcpy(sorted, side->wall, (size_t)n * sizeof sorted[0]);
    qsort(sorted, (size_t)n, sizeof sorted[0], ascending);
    return n ? sorted[n / 2] / side->best - 1 : 0;
}

/* Whether another launch came as near to the best time as two launches do. */
static bool is_repeated(const mg_side *side)
{
    int near = 0;
    for (int i = 0; i < MG_LAUNCHES; i++)
        near += side->launch[i] > 0 && side->launch[i] <= side->best * (1 + MOST_APART);
    return near > 1;
}

mg_score mg_race_score(const mg_tally *t, bool last)
{
    const mg_side *ours = &t->ours, *theirs = &t->theirs;
    double by_wall = theirs->best / ours->best, by_net = theirs->best_net / ours->best_net;
    mg_score score = { .ratio = by_wall, .spread = spread(ours) };
    score.least = theirs->best_net / ours->best;
    score.most = theirs->best / ours->best_net;
    score.contended =
        ours->best_share > MOST_SHARE || theirs->best_share > MOST_SHARE || fabs(by_wall / by_net - 1) > MOST_DIFFER;
    if (t->processors > 1)
        score.contended = score.contended || !is_repeated(ours) || !is_repeated(theirs);
    else if (score.contended && last) {
        score.ratio = by_net;
        score.net = true;
        score.contended = false;
    }
    return score;
}

/* A disturbed race does not matter if it is certain to be the better one. */
mg_score mg_race_worse(const mg_score *a, const mg_score *b)
{
    const mg_score *worse = a->ratio <= b->ratio ? a : b, *other = worse == a ? b : a;
    mg_score score = *worse;
    score.least = fmin(a->least, b->least);
    score.most = fmin(a->most, b->most);
    score.contended = worse->contended || (other->contended && other->least < worse->ratio);
    return score;
}

mg_score mg_race_median(const mg_score s[3])
{
    int low = s[1].ratio < s[0].ratio, high = !low; /* of the first two */
    return s[2].ratio < s[low].ratio ? s[low] : s[2].ratio > s[high].ratio ? s[high] : s[2];
}

bool mg_race_near(const mg_score *score, double ratio, double low)
{
    double factor = 1 + (score->net || score->contended ? NEAR_BUSY : NEAR);
    return ratio <= low && ratio * factor > low;
}
