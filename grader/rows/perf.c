/* perf.c -- running a race: two workers, the same calls with fresh values, A B B A, every reply of ours verified.
 *
 * While one side runs, the other is stopped. Each launch is a fresh pair of workers, because the position of a program
 * in memory has an influence, too. Both sides get the same processors, as many as the race has threads, and each pair
 * of calls the same values. A race ends when its ratio is reliable, or when the disturbances are too small to change
 * the result. On a busy machine the scheduler often puts two threads on one processor, where they take turns. So in a
 * repeat each thread is tied to one of its own; not earlier, because threads that a unit creates during the call would
 * all inherit the binding of the first one. */
#include "rows/processors.h"
#include "rows/race.h"
#include "rows/run.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 9, LEAST_ROUNDS = 2, LAUNCHES = 2, REPEATS = 3, MEASUREMENTS = 3 };

#define LAUNCH_SECONDS 2.0  /* no further round of a launch begins after that: long slices vary little */
#define RACE_SECONDS   20.0 /* no repeat begins that would end after that, if it takes as long as the previous one */

typedef struct contest {
    mg_run *run;
    const mg_race *race;
    const mg_race_case *cases;
    int count, at; /* how many cases there are; which one is raced now */
    mg_session *ours, *theirs;
    mg_tally tally[MG_RACE_CASES];
    char call[MG_RACE_CASES][sizeof((mg_row *)0)->call]; /* as the row shows it */
} contest;

static bool reference_failed(mg_run *run)
{
    char why[512];
    snprintf(why, sizeof why, "the reference did not answer: %.480s", run->row->detail);
    run->judged = false;
    mg_judge(run, MG_ERROR, "%s", why);
    return false;
}

/* Make the described call on one side. False: the race has its verdict. */
static bool slice(contest *c, bool ours, bool timed)
{
    mg_run *run = c->run;
    mg_session **session = ours ? &c->ours : &c->theirs;
    snprintf(run->function, sizeof run->function, "%s", ours ? c->race->ours : c->race->theirs);
    run->threads = c->race->threads;
    run->session = *session;
    omp_pause_resource_all(omp_pause_soft); /* ends threads of the grader that spin after the oracle */
    bool answered = mg_call(run);
    *session = run->session;
    run->session = NULL;
    if (!answered && !ours && run->row->verdict != MG_ERROR)
        return reference_failed(run);
    if (!answered || (ours && !c->race->verify(run, c->cases[c->at].one_case)))
        return false;
    mg_tally *tally = &c->tally[c->at];
    memcpy(c->call[c->at], run->row->call, sizeof c->call[0]);
    if (timed)
        mg_race_slice(tally, ours ? &tally->ours : &tally->theirs, run->outcome.wall, run->outcome.cpu,
                      run->outcome.waited);
    return true;
}

/* Both sides once, with the same values: making them can take longer than the calls. */
static bool pair(contest *c, bool ours_first, bool timed)
{
    c->race->describe(c->run, c->cases[c->at].one_case, c->race->ours);
    return slice(c, ours_first, timed) && slice(c, !ours_first, timed);
}

/* A round: each case, ours second and then first. */
static bool go_round(contest *c)
{
    bool good = true;
    for (c->at = 0; good && c->at < c->count; c->at++)
        good = pair(c, false, true) && pair(c, true, true);
    c->at = 0;
    return good;
}

static bool start_pair(contest *c, int launch)
{
    mg_bench *b = c->run->bench;
    mg_worker worker = b->worker;
    char log[1024] = "";
    worker.cpus = c->race->threads;
    worker.cpu_shift = launch;
    worker.spread = c->tally[0].launches > LAUNCHES;
    c->ours = mg_session_start(&worker);
    c->race->describe(c->run, c->cases[0].one_case, c->race->ours);
    if (c->ours &&
        !slice(c, true, false)) /* before the reference is built, so that an unwritten step takes little time */
        return false;
    if (c->ours && mg_build_later(&b->build, b->info.id)) {
        mg_judge(c->run, MG_INCONCLUSIVE,
                 "this race is against the reference, which is handed out later: your instructor measures it");
        return false;
    }
    if (c->ours && !b->reference_path[0] &&
        mg_build_worker(&b->build, b->info.id, MG_REFERENCE, b->reference_path, log, sizeof log) != MT_OK) {
        b->reference_path[0] = 0;
        mg_judge(c->run, MG_ERROR, "no reference worker: %.200s %.600s", mt_last_error(), log);
        return false;
    }
    worker.path = b->reference_path;
    c->theirs = c->ours ? mg_session_start(&worker) : NULL;
    if (c->theirs)
        return slice(c, false, false);
    mg_judge(c->run, MG_ERROR, "%s", mt_last_error());
    return false;
}

static bool launch_once(contest *c, int launch)
{
    double begin = mt_now();
    for (int i = 0; i < c->count; i++)
        mg_race_launch(&c->tally[i]);
    bool good = start_pair(c, launch);
    for (int round = 0; good && round < ROUNDS; round++) {
        if (round >= LEAST_ROUNDS && mt_now() - begin > LAUNCH_SECONDS)
            break;
        good = go_round(c);
        if (c->ours)
            mg_session_renew(c->ours); /* limits are per check, and a round counts as a check */
        if (c->theirs)
            mg_session_renew(c->theirs);
    }
    mg_session_end(c->ours);
    mg_session_end(c->theirs);
    c->ours = c->theirs = NULL;
    return good;
}

/* The score of the worst case, which is c->at. */
static mg_score score_all(contest *c, bool last)
{
    mg_score worst = mg_race_score(&c->tally[0], last);
    c->at = 0;
    for (int i = 1; i < c->count; i++) {
        mg_score next = mg_race_score(&c->tally[i], last);
        c->at = next.ratio < worst.ratio ? i : c->at;
        worst = mg_race_worse(&worst, &next);
    }
    return worst;
}

/* A row that stays without points has what was measured, too: an instructor may accept it (course/students.h). */
static void stay_open(mg_run *run, double ratio, double low, double full)
{
    run->row->measured = ratio;
    run->row->low = low;
    run->row->full = full;
}

static void judge_race(contest *c, const mg_score *score, int measured, double low, double full)
{
    mg_run *run = c->run;
    bool least = score->contended && score->least >= full, most = score->contended && score->most <= low;
    memcpy(run->row->call, c->call[c->at], sizeof c->call[0]);
    double ratio = least ? score->least : most ? score->most : score->ratio;
    mg_note(run, "%s%.2fx of %s%s (bar %.2f .. %.2f)  %lld rounds, spread %.0f %%%s%s",
            least  ? "at least "
            : most ? "at most "
                   : "",
            ratio, c->race->against, c->cases[c->at].words, low, full, (long long)c->tally[0].ours.count / 2,
            100 * score->spread, score->net ? ", without waiting for a processor" : "",
            measured > 1 ? ", the median of three" : "");
    if (score->contended && !least && !most) {
        stay_open(run, score->least, low, full);
        mg_judge(run, MG_INCONCLUSIVE,
                 "other programs used the processors during the race: run it again when the machine is less busy");
    } else if (measured < MEASUREMENTS && mg_race_near(score, ratio, low)) {
        stay_open(run, ratio, low, full);
        mg_judge(run, MG_INCONCLUSIVE,
                 "%.2f is too near to %.2f, where credit begins, to be called a FAIL on a busy machine: no points, as "
                 "there",
                 ratio, low);
    } else {
        mg_credit(run, c->race->bar, ratio);
    }
}

/* Each case is called once, and nothing is timed: for make debug, which makes the calls again, and where the processors
 * are too few. False: the race has its verdict. */
static bool call_once(contest *c, mg_verdict verdict, const char *words)
{
    bool good = true;
    for (c->at = 0; good && c->at < c->count; c->at++) {
        c->race->describe(c->run, c->cases[c->at].one_case, c->race->ours);
        good = slice(c, true, false);
    }
    mg_session_end(c->ours);
    if (good)
        mg_judge(c->run, verdict, "%s", words);
    return false;
}

/* Races until the ratio is reliable, or the time is over. False: the race has its verdict. */
static bool measure(contest *c, mg_score *score, double low, double full)
{
    double begin = mt_now();
    bool good = true, open = true;
    for (int i = 0; i < c->count; i++)
        c->tally[i] = (mg_tally){ .processors = (int)mt_min(c->race->threads, mg_default_threads()) };
    for (int attempt = 0; good && open; attempt++) {
        double start = mt_now();
        for (int launch = 0; good && launch < LAUNCHES; launch++)
            good = launch_once(c, launch);
        bool last = attempt == REPEATS || 2 * mt_now() - start - begin > RACE_SECONDS;
        *score = score_all(c, last);
        open = score->contended && score->least < full && score->most > low && !last;
    }
    return good;
}

static bool is_quiet(const mg_score *score)
{
    return !score->contended && !score->net;
}

/* Two quiet races of the same units may lie on both sides of a bar; of a third one the median decides. */
static void race_for_credit(contest *c, double low, double full)
{
    mg_score score[MEASUREMENTS];
    int measured = 0;
    bool good = true, quiet = true;
    while (good && quiet && measured < MEASUREMENTS) {
        good = measure(c, &score[measured], low, full);
        quiet = good && is_quiet(&score[measured]);
        measured++;
        if (measured == 1 && good && !mg_race_near(&score[0], score[0].ratio, low))
            break;
    }
    if (good && measured == MEASUREMENTS && quiet)
        score[0] = mg_race_median(score);
    if (good)
        judge_race(c, &score[quiet || measured == 1 ? 0 : measured - 1], quiet ? measured : 1, low, full);
}

void mg_perf(mg_run *run, const mg_race *race, const void *one_case)
{
    mg_perf_each(run, race, &(mg_race_case){ "", one_case }, 1);
}

void mg_perf_each(mg_run *run, const mg_race *race, const mg_race_case *cases, int count)
{
    contest c = { .run = run, .race = race, .cases = cases, .count = count };
    double low = mg_bar(run, race->bar, "low"), full = mg_bar(run, race->bar, "full"), processors = mg_processors();
    mg_session *kept = run->session;
    char words[160];
    MT_CHECK(run->row->is & MG_TIMED, "%s %s races, and its case does not say MG_TIMED", run->row->step,
             run->row->name);
    if (run->bench->no_speed) {
        mg_judge(run, MG_INCONCLUSIVE, "no speed was measured: --no-speed");
        return;
    }
    run->session = NULL;
    snprintf(words, sizeof words, "this row needs %d processors, and here %.3g may be used: it does not count here",
             race->threads, processors);
    if (run->bench->capture.file)
        call_once(&c, MG_INCONCLUSIVE, "no speed was measured: make debug");
    else if (race->threads > 1 && processors < race->threads)
        call_once(&c, MG_SKIPPED, words);
    else
        race_for_credit(&c, low, full);
    run->session = kept;
}
