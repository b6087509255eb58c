/* 15-goodput.c -- how the checks of goodput run (steps 15.10 and 15.11): against closed forms of their own, and against
 * failures and slow steps that are simulated one by one. Rows: 15-scale.c. */
#include "checks/15-scale.h"
#include "checks/15-seconds.h"
#include "checks/fill.h"
#include "plan/goodput.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { JOB = sizeof(mt_goodput_job) / 8, RUN = sizeof(mt_goodput) / 8, WORDS = 300 };

/* ---- 15.10 ----------------------------------------------------------------------------------------------------- */

static mt_goodput_job pick_job(mt_rng *rng)
{
    return (mt_goodput_job){ mg_pick(rng, 1, 4000),    mg_15_real(rng, 1e6, 1e7), mg_15_real(rng, 10, 90),
                             mg_15_real(rng, 50, 900), mg_15_real(rng, 0, 1e-3),  mg_15_real(rng, 0, 2) };
}

static bool ask_numbers(mg_run *run, const char *function, double *got, int64_t count, const mt_goodput_job *job)
{
    mg_begin(run, function);
    mg_out(run, "numbers", MT_I64, MT_SHAPE(count));
    memcpy(mg_in(run, "job", MT_I64, MT_SHAPE(JOB)), job, sizeof *job);
    if (!mg_call(run))
        return false;
    memcpy(got, mg_result(run, "numbers"), (size_t)count * sizeof *got);
    return true;
}

/* The zero of the derivative, in units of the time between failures, by bisection. */
static double best_interval(double save)
{
    long double low = 0, high = 1, c = (long double)save;
    for (int i = 0; i < 100; i++) {
        long double x = (low + high) / 2;
        if (expm1l(x + c) > x * expl(x + c))
            low = x;
        else
            high = x;
    }
    return (double)low;
}

void mg_15_interval(mg_run *run, const void *one_case)
{
    enum { ANY, MANY, INFINITE, NANO, PICO };
    static const char rare[] = "exp(x) - 1 for a small x loses digits: use a series, or a form without the difference";
    static const mg_idea tries[] = {
        { .times = 12 },
        { "millions of devices", NULL, MANY, 1 << INTERVAL_DEVICES, 6 },
        { "an infinite time between failures", NULL, INFINITE, 1 << INTERVAL_NEVER, 12 },
        { "a save of 1e-9 of that time", rare, NANO, 1 << INTERVAL_RARE },
        { "a save of 1e-12 of that time", rare, PICO, 1 << INTERVAL_RARE },
    };
    interval_about about = ((const interval_case *)one_case)->about;
    mt_rng *rng = mg_rng(run);
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        mt_goodput_job job = pick_job(rng);
        double of_all, got[2], allowed = 1e-6;
        job.devices = about == INTERVAL_DEVICES ? mg_pick(rng, 2, t.is == MANY ? 99999999 : 20000) : 1;
        job.save = ldexp(job.mtbf / (double)job.devices,
                         about == INTERVAL_OFTEN ? (int)mg_pick(rng, -4, 4) : (int)mg_pick(rng, -24, -6));
        if (t.is == INFINITE)
            job.mtbf = INFINITY;
        of_all = job.mtbf / (double)job.devices;
        if (t.is == NANO || t.is == PICO) { /* Young's is off by 1.5e-5 in the first */
            job.save = of_all * (t.is == PICO ? 1e-12 : 1e-9);
            allowed = t.is == PICO ? 2e-4 : 1e-5;
        }
        if (!ask_numbers(run, "mt_goodput_interval", got, 2, &job))
            return;
        double want = job.mtbf < INFINITY ? of_all * best_interval(job.save / of_all) : INFINITY;
        if (!mg_15_close_to(got[0], of_all)) {
            mg_fail(run, "%" PRId64 " devices, a failure of each in %.9g s: one of all in %.9g s, expected %.9g",
                    job.devices, job.mtbf, got[0], of_all);
            return;
        }
        if (!(fabs(got[1] - want) <= allowed * want) && got[1] != want) {
            mg_fail(run, "a save of %.9g s, a failure in %.9g s: an interval of %.9g s, the best is %.9g", job.save,
                    of_all, got[1], want);
            return;
        }
    }
}

/* ---- 15.11 ----------------------------------------------------------------------------------------------------- */

/* The mean of one factor over steps, and its standard error; device by device. */
static double simulated_stretch(const mt_goodput_job *job, mt_rng *rng, int64_t steps, double *error)
{
    double slow = 0;
    for (int64_t i = 0; i < steps; i++) {
        bool any = false;
        for (int64_t d = 0; d < job->devices; d++)
            any |= (double)mt_rng_uniform(rng) < job->slow;
        slow += any;
    }
    double share = slow / (double)steps;
    *error = job->slowdown * sqrt(share * (1 - share) / (double)steps);
    return 1 + job->slowdown * share;
}

void mg_15_stretch(mg_run *run, const void *one_case)
{
    enum { ANY, NEVER, ALWAYS, MANY };
    static const mg_idea tries[] = {
        { .times = 4 },
        { .rows = 1 << STRETCH_EXACT, .times = 12 },
        { "millions of devices", NULL, MANY, 1 << STRETCH_EXACT, 6 },
        { "no slow device", NULL, NEVER, 1 << STRETCH_EXACT },
        { "devices that are always slow", NULL, ALWAYS, 1 << STRETCH_EXACT },
    };
    interval_about about = ((const interval_case *)one_case)->about;
    bool simulated = about == STRETCH_SIMULATED;
    mt_rng *rng = mg_rng(run);
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        mt_goodput_job job = pick_job(rng);
        double got, tolerance = 1e-12;
        job.slow = t.is == NEVER ? 0 : t.is == ALWAYS ? 1 : ldexp(mg_15_real(rng, 1, 2), (int)mg_pick(rng, -50, -2));
        job.devices = t.is == MANY ? mg_pick(rng, 20000, 99999999) : job.devices;
        if (simulated) {
            job.devices = mg_pick(rng, 2, 9);
            job.slow = mg_15_real(rng, 0.05, 0.3);
        }
        if (!ask_numbers(run, "mt_goodput_stretch", &got, 1, &job))
            return;
        double want = 1 - (double)(job.slowdown * expm1l((long double)job.devices * log1pl(-(long double)job.slow)));
        /* What 1 - p loses in a long double, whose unit roundoff is 2^-64, and its power of all devices. */
        double rounded = ldexp((double)job.devices * job.slowdown, -64);
        if (simulated)
            want = simulated_stretch(&job, rng, 40000, &tolerance), tolerance *= 5;
        /* What is above 1 is compared: most of it is lost where 1 - p was formed in a double. */
        if (!(fabs(got - want) <= tolerance + rounded) ||
            (!simulated && fabs(got - want) > 1e-9 * (want - 1) + 5e-16 + rounded)) {
            mg_fail(run,
                    "%" PRId64 " devices, each slow with probability %.9g: a step is %.12g times as long, "
                    "expected %.12g (+- %.2g)",
                    job.devices, job.slow, got, want, tolerance);
            return;
        }
    }
}

static const char *const names[] = {
    "seconds", "work", "waiting", "saving", "lost", "restarting", "failures", "share"
};

typedef struct reply {
    mt_status status;
    const char *words;
    double is[RUN];
} reply;

static bool ask_run(mg_run *run, reply *r, const mt_goodput_job *job, double work, double interval)
{
    const double numbers[2] = { work, interval };
    mg_begin(run, "mt_goodput_of");
    mg_out(run, "status", MT_I64, MT_SHAPE(1));
    mg_out(run, "run", MT_I64, MT_SHAPE(RUN));
    mg_inout(run, "words", MT_U8, MT_SHAPE(WORDS));
    memcpy(mg_in(run, "job", MT_I64, MT_SHAPE(JOB)), job, sizeof *job);
    memcpy(mg_in(run, "work, interval", MT_I64, MT_SHAPE(2)), numbers, sizeof numbers);
    if (!mg_call(run))
        return false;
    r->status = (mt_status)((const int64_t *)mg_result(run, "status"))[0];
    r->words = mg_result(run, "words");
    memcpy(r->is, mg_result(run, "run"), sizeof r->is);
    return true;
}

/* A run of pieces of which all but the last have the same length: one after the other. */
static void expected_run(double want[RUN], const mt_goodput_job *job, double work, int64_t pieces, double piece)
{
    long double mtbf = (long double)job->mtbf / job->devices, n = job->devices, left;
    long double stretch = 1 - job->slowdown * expm1l(n * log1pl(-(long double)job->slow));
    mt_goodput w = { .work = work, .waiting = (double)(work * (stretch - 1)) };
    left = work * stretch;
    for (int64_t i = 0; i < pieces; i++) {
        long double length = i < pieces - 1 ? (long double)piece : left, once = length + job->save;
        left -= length;
        w.saving += job->save;
        if (job->mtbf == INFINITY)
            continue;
        w.failures += (double)expm1l(once / mtbf);
        w.lost += (double)(mtbf * expm1l(once / mtbf) - once);
        w.restarting += (double)(job->restart * expm1l(once / mtbf));
    }
    w.seconds = w.work + w.waiting + w.saving + w.lost + w.restarting;
    w.share = work / w.seconds;
    memcpy(want, &w, sizeof w);
}

/* One run: each device has a life of its own. Adds to seconds, lost, failures. */
static void simulate(double sums[3], const mt_goodput_job *job, double work, double interval, mt_rng *rng)
{
    double left = work, life = INFINITY;
    bool fresh = true;
    while (left > 0) {
        double piece = fmin(interval, left), now = piece + job->save;
        if (fresh) {
            life = INFINITY;
            for (int64_t d = 0; d < job->devices; d++)
                life = fmin(life, -job->mtbf * log(((double)mt_rng_u32(rng) + 0.5) / 4294967296.0));
        }
        fresh = life < now;
        if (fresh) {
            sums[0] += life + job->restart, sums[1] += life, sums[2] += 1;
        } else {
            sums[0] += now, left -= piece, life -= now;
        }
    }
}

/* Means of 20,000 runs: the answer is within 5 standard errors of each. One right answer in 500,000 is not. */
static void against_simulation(mg_run *run)
{
    static const char *const what[] = { "seconds", "lost", "failures" };
    const int64_t runs = 20000;
    for (int i = 0; i < 3; i++) {
        mt_rng *rng = mg_rng(run);
        mt_goodput_job job = { mg_pick(rng, 1, 5), 0, mg_15_real(rng, 1, 20), mg_15_real(rng, 5, 90), 0, 1 };
        double work = mg_15_real(rng, 300, 600), interval = mg_15_real(rng, 40, 150);
        reply r;
        job.mtbf = (double)job.devices * mg_15_real(rng, 60, 300);
        if (!ask_run(run, &r, &job, work, interval))
            return;
        const double got[3] = { r.is[0], r.is[4], r.is[6] };
        double sum[3] = { 0 }, squares[3] = { 0 };
        for (int64_t k = 0; k < runs; k++) {
            double one[3] = { 0 };
            simulate(one, &job, work, interval, rng);
            for (int j = 0; j < 3; j++)
                sum[j] += one[j], squares[j] += one[j] * one[j];
        }
        for (int j = 0; j < 3; j++) {
            double mean = sum[j] / (double)runs;
            double error = sqrt((squares[j] / (double)runs - mean * mean) / (double)runs);
            if (!(fabs(got[j] - mean) <= 5 * error)) {
                mg_fail(run, "%s %.6g; the mean of %" PRId64 " simulated runs is %.6g, with a standard error of %.2g",
                        what[j], got[j], runs, mean, error);
                return;
            }
        }
    }
}

/* One piece that is begun exp(1000) times: no double is as large. */
static void endless_run(mg_run *run)
{
    mg_part(run, "a run that never ends",
            "a piece may be too long for any attempt: then seconds are INFINITY, share 0");
    for (int restart = 0; restart <= 5; restart += 5) {
        mt_goodput_job job = { .devices = 1000, .mtbf = 1e5, .save = 10, .restart = restart };
        reply r;
        if (!ask_run(run, &r, &job, 1e5 - 10, INFINITY))
            return;
        if (!(r.status == MT_OK && r.is[0] == INFINITY && r.is[RUN - 1] == 0))
            mg_fail(run, "a run that never ends: %s %g and %s %g, expected infinity and 0", names[0], r.is[0],
                    names[RUN - 1], r.is[RUN - 1]);
    }
}

/* The input of a run. */
typedef struct goodput_input {
    mt_goodput_job job;
    double work, interval;
} goodput_input;

/* Something is right before anything is refused: a function that refuses all is none. */
static bool refuses(mg_run *run, const mg_15_wrong *wrong)
{
    goodput_input in = { pick_job(mg_rng(run)), 1e5, 1e3 };
    reply r;
    mg_15_spoil(run, &in, wrong);
    if (!ask_run(run, &r, &in.job, in.work, in.interval))
        return false;
    bool right = wrong ? r.status == MT_ERR_ARGUMENT && r.words[0] && r.is[0] == MG_15_UNCHANGED
                       : r.status == MT_OK && r.is[0] > in.work;
    if (!right)
        mg_fail(run, "status %d, \"%.80s\", *out is %s", r.status, r.words,
                r.is[0] == MG_15_UNCHANGED ? "unchanged" : "written");
    return right;
}

static void refusals(mg_run *run)
{
#define WRONG(...) MG_15_WRONG(goodput_input, __VA_ARGS__)
    static const mg_15_wrong wrong[] = {
        WRONG("no work", work, .real = 0),
        WRONG("work that is no number", work, .real = NAN),
        WRONG("an interval of 0 s", interval, .real = 0),
        WRONG("an interval below 0 s", interval, .real = -1),
        WRONG("an interval that is no number", interval, .real = NAN),
        WRONG("no devices", job.devices, 0),
        WRONG("0 s between failures", job.mtbf, .real = 0),
        WRONG("an mtbf that is no number", job.mtbf, .real = NAN),
        WRONG("saves of 0 s", job.save, .real = 0),
        WRONG("a restart below 0 s", job.restart, .real = -1),
        WRONG("a probability above 1", job.slow, .real = 1.01),
        WRONG("a probability that is no number", job.slow, .real = NAN),
        WRONG("a slowdown that is no number", job.slowdown, .real = NAN),
    };
    bool good = refuses(run, NULL);
    for (int i = 0; i < MT_COUNT(wrong) && good; i++)
        good = refuses(run, &wrong[i]);
}

void mg_15_goodput(mg_run *run, const void *one_case)
{
    enum { ANY, SHORT, TINY, WHOLE, ROUNDED, ONE };
    static const mg_idea tries[] = {
        { .times = 4 },
        { "a short last piece", NULL, SHORT, .times = 3 },
        { "a last piece below 1e-9 of the run", "however short the last piece is, it has a save", TINY },
        { "pieces of one length", "where nothing remains there is no further piece", WHOLE, .times = 3 },
        { "a rounding behind the last piece", "what is left by rounding is no piece", ROUNDED, .times = 3 },
        { "one piece", "a run shorter than the interval is one piece", ONE, .times = 2 },
    };
    goodput_about about = ((const goodput_case *)one_case)->about;
    if (about == GOODPUT_SIMULATED) {
        against_simulation(run);
        return;
    }
    if (about == GOODPUT_REFUSED) {
        refusals(run);
        return;
    }
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        mt_rng *rng = mg_rng(run);
        mt_goodput_job job = pick_job(rng);
        bool many = about == GOODPUT_PIECES && t.is != ONE, whole = t.is == WHOLE || t.is == ROUNDED;
        int64_t pieces = many ? mg_pick(rng, t.is == TINY ? 100 : 2, 300) : t.is == ONE ? 1 : mg_pick(rng, 1, 3);
        double piece = mg_15_real(rng, 200, 4000), interval = piece, want[RUN];
        reply r;
        job.mtbf = about == GOODPUT_SAFE ? INFINITY : job.mtbf;
        job.slow = about == GOODPUT_PIECES ? 0 : job.slow;
        double stretch = 1 - job.slowdown * expm1((double)job.devices * log1p(-job.slow));
        double rest = whole ? t.is == ROUNDED ? 3e-10 : 0 : mg_15_real(rng, 0.1, 0.9); /* of a piece, the last one */
        if (t.is == SHORT || t.is == TINY)
            rest = ldexp(rest, t.is == TINY ? -24 : (int)mg_pick(rng, -20, -1));
        double time = ((double)(pieces - !whole) + rest) * piece;
        if (pieces == 1)
            interval = mg_pick(rng, 0, 1) ? 2 * piece : INFINITY;
        if (!ask_run(run, &r, &job, time / stretch, interval))
            return;
        expected_run(want, &job, time / stretch, pieces, piece);
        for (int k = 0; k < RUN; k++)
            if (r.status != MT_OK || !(fabs(r.is[k] - want[k]) <= 1e-9 * fmax(fabs(want[k]), k < 6 ? want[0] : 1))) {
                mg_fail(run, "%s %.9g, expected %.9g: %" PRId64 " pieces of %.6g s, the last one %s", names[k], r.is[k],
                        want[k], pieces, piece, whole ? "as long" : "shorter");
                return;
            }
    }
    if (about == GOODPUT_PIECES)
        endless_run(run);
}
