/* draw_15.c -- pictures of lab 15: the goodput by the interval between saves, and a list of jobs by three policies. */
#include <stdlib.h>

#include "bench/draw.h"
#include "plan/goodput.h"
#include "plan/scheduler.h"

/* ---- goodput ---------------------------------------------------------------------------------------------------- */

static void goodput(void)
{
    enum { LEFT = 60, BOTTOM = 250, WIDE = 90, HIGH = 200, OCTAVES = 8, EACH = 8, POINTS = OCTAVES * EACH + 1 };
    draw_text('t', LEFT, 24,
              "goodput by the interval between saves: 54 days of work, a save of 1 minute, a restart of 10");
    for (int i = 0; i <= 4; i++) {
        draw_text('e', LEFT - 8, BOTTOM - i * HIGH / 4 + 4, "%d %%", 25 * i);
        draw_line('d', LEFT, BOTTOM - i * HIGH / 4, LEFT + OCTAVES * WIDE, BOTTOM - i * HIGH / 4);
    }
    for (int i = 0; i <= OCTAVES; i++)
        draw_text('m', LEFT + i * WIDE, BOTTOM + 18, i == OCTAVES ? "%d minutes" : "%d", 1 << i);
    mt_goodput_job job = { .mtbf = 50700 * 3600.0, .save = 60, .restart = 600 };
    for (int curve = 0; curve < 4; curve++) {
        double x[POINTS], y[POINTS];
        mt_goodput run;
        job.devices = 1024 << 2 * curve;
        for (int i = 0; i < POINTS; i++) {
            MT_CHECK(mt_goodput_of(&run, &job, 54 * 86400.0, 60 * exp2((double)i / EACH)) == MT_OK, "%s",
                     mt_last_error());
            x[i] = LEFT + (double)i / EACH * WIDE, y[i] = BOTTOM - HIGH * run.share;
        }
        draw_curve("acbd"[curve], x, y, POINTS);
        double best = mt_goodput_interval(&job), at = LEFT + log2(best / 60) * WIDE;
        MT_CHECK(mt_goodput_of(&run, &job, 54 * 86400.0, best) == MT_OK, "%s", mt_last_error());
        draw_line('x', at, BOTTOM - HIGH * run.share - 7, at, BOTTOM - HIGH * run.share + 7);
        draw_text('m', at, BOTTOM - HIGH * run.share + (curve == 1 ? -10 : 22), "%lld devices", (long long)job.devices);
    }
}

/* ---- a queue ---------------------------------------------------------------------------------------------------- */

enum { DEVICES = 8, EVENTS = 200, SECOND = 6, HIGH = 13 };

static const mt_sched_job jobs[] = {
    /* arrival, devices, least, seconds, estimate, priority */
    { 0, 4, 1, 20, 22, 0 }, { 0, 2, 1, 34, 40, 0 }, { 2, 8, 2, 16, 20, 0 }, { 4, 2, 1, 14, 16, 0 },
    { 5, 2, 1, 10, 10, 0 }, { 8, 6, 2, 18, 20, 0 }, { 9, 3, 1, 12, 14, 0 }, { 12, 1, 1, 24, 30, 0 },
};

enum { JOBS = MT_COUNT(jobs) };

typedef struct change {
    int64_t time, job, devices;
} change;

typedef struct changes {
    change list[EVENTS];
    int count;
} changes;

static void tell(void *context, int64_t time, int64_t job, int64_t devices)
{
    changes *c = context;
    MT_CHECK(c->count < EVENTS, "more than %d changes", EVENTS);
    c->list[c->count++] = (change){ time, job, devices };
}

/* A job gets or gives back devices, which of them is nowhere said: the first that are free, the last that it has. */
static void adapt(const change *c, bool more, int *owner, int64_t *since, double x, double y)
{
    int64_t has = 0;
    for (int d = 0; d < DEVICES; d++)
        has += owner[d] == c->job;
    for (int d = 0; more && d < DEVICES && has < c->devices; d++)
        if (owner[d] < 0)
            owner[d] = (int)c->job, since[d] = c->time, has++;
    for (int d = DEVICES - 1; !more && d >= 0 && has > c->devices; d--)
        if (owner[d] == c->job) {
            double wide = (double)(c->time - since[d]) * SECOND;
            draw_box("abcdef"[c->job % 6], c -> job < 6 ? 0.8 : 0.4, x + (double)since[d] * SECOND, y + d * HIGH, wide,
                     HIGH, wide > 14 ? "%d" : "", (int)c->job);
            owner[d] = -1, has--;
        }
}

static void policy(double y, const char *name, mt_sched_policy policy)
{
    const double x = 84;
    mt_sched_cluster cluster = { .devices = DEVICES, .policy = policy };
    mt_sched_run runs[JOBS];
    changes c = { .count = 0 };
    int owner[DEVICES];
    int64_t since[DEVICES], last = 0;
    double slowdown = 0;
    memset(owner, -1, sizeof owner);
    MT_CHECK(mt_sched(runs, jobs, JOBS, &cluster, tell, &c) == MT_OK, "%s", mt_last_error());
    for (int begin = 0, end; begin < c.count; begin = end) { /* all of one second: first those that give devices back */
        for (end = begin; end < c.count && c.list[end].time == c.list[begin].time;)
            end++;
        for (int more = 0; more < 2; more++)
            for (int i = begin; i < end; i++)
                adapt(&c.list[i], more, owner, since, x, y + 10);
        last = mt_max(last, c.list[begin].time);
    }
    for (int j = 0; j < JOBS; j++)
        slowdown += mt_sched_slowdown(&jobs[j], &runs[j]) / JOBS;
    draw_text('t', 12, y + 4, "%s: all end after %lld s, mean slowdown %.2f", name, (long long)last, slowdown);
    draw_text('s', 12, y + 10 + DEVICES * HIGH / 2, "%d devices", DEVICES);
    draw_line('l', x, y + 10, x, y + 10 + DEVICES * HIGH);
    draw_line('l', x, y + 10 + DEVICES * HIGH, x + (double)last * SECOND, y + 10 + DEVICES * HIGH);
}

static void policies(void)
{
    policy(26, "FIFO", MT_SCHED_FIFO);
    policy(166, "backfill", MT_SCHED_BACKFILL);
    policy(306, "elastic", MT_SCHED_ELASTIC);
}

int main(int argc, char **argv)
{
    static const draw_picture pictures[] = {
        { "goodput.svg", 286,
          "Goodput of 1024, 4096, 16384 and 65536 devices by the interval between saves, and where it is highest",
          goodput },
        { "policies.svg", 442, "Eight jobs on eight devices by FIFO, backfill and elastic scheduling", policies },
        { 0 },
    };
    return draw_all(argc, argv, pictures);
}
