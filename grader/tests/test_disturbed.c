/* test_disturbed.c -- races and gradings while other processes are busy, or after the machine was suspended: such
 * disturbances change no verdict. */
#include "sandbox/session.h"
#include "toy_units.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A race that is disturbed by a busy machine is INCONCLUSIVE, and run again; *measured: the last run was conclusive. */
static mg_results race(toy *t, const char *body, bool *measured)
{
    mg_results r = toy_grade(t, body, "90.2");
    for (int tries = 1; r.rows[0].verdict == MG_INCONCLUSIVE && tries < 5; tries++) {
        mg_results_free(&r);
        sleep((unsigned)tries);
        r = toy_grade(t, body, "90.2");
    }
    *measured = r.rows[0].verdict != MG_INCONCLUSIVE;
    return r;
}

/* The one that sleeps takes many times as long as a disturbed reference. A worker of a race has at least five calls. */
Test(disturbed, a_race_pays_for_speed, .timeout = 600)
{
    bool fast_measured, slow_measured, alone_measured, asleep_measured;
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    mg_results fast = race(&t, BODY(DO), &fast_measured);
    mg_results slow = race(&t, BODY("for (volatile int r = 0; r < 40; r++) { " DO " }"), &slow_measured);
    mg_results alone =
        race(&t, BODY("cpu_set_t c; if (sched_getaffinity(0, sizeof c, &c) || CPU_COUNT(&c) != 1) return; " DO),
             &alone_measured);
    mg_results asleep = race(&t, BODY("usleep(600000); " DO), &asleep_measured);
    mg_results wrong = toy_grade(&t, UNIT "static int c;\n" TOY "{ " DO " if (c++ == 3) out[3] = 0; }", "90.2");
    cr_expect(!fast_measured || fast.rows[0].verdict == MG_PASS, "%s", fast.rows[0].note);
    cr_expect(!fast_measured || !slow_measured || fast.points > slow.points, "%s / %s", fast.rows[0].note,
              slow.rows[0].note);
    cr_expect(!alone_measured || alone.rows[0].verdict == MG_PASS, "a race of one thread has one processor: %s",
              alone.rows[0].detail);
    cr_expect(!asleep_measured || asleep.rows[0].verdict == MG_FAIL, "sleeping is not being disturbed: %s",
              asleep.rows[0].note);
    cr_expect_eq(wrong.rows[0].verdict, MG_FAIL, "a wrong timed reply: %s", wrong.rows[0].note);
    cr_expect_eq(wrong.points, 0);
    mg_results_free(&fast);
    mg_results_free(&slow);
    mg_results_free(&alone);
    mg_results_free(&asleep);
    mg_results_free(&wrong);
    toy_close(&t);
}

/* The machine may have too little memory for it, or kill it: that is reported, and costs no points. */
Test(disturbed, a_worker_that_ended_before_its_request_is_an_error)
{
    mg_worker worker = { .path = "/usr/bin/true", .launcher = "/usr/bin/true", .limits = { 1, 2, 64, 1, 16, 1 } };
    mg_invocation nothing = { .function = "toy" };
    mg_outcome outcome;
    mg_session *s = mg_session_start(&worker);
    cr_assert(s, "%s", mt_last_error());
    usleep(200000); /* most likely it has ended */
    mg_session_call(s, &nothing, &outcome);
    cr_expect_eq(outcome.verdict, MG_ERROR, "%s", mg_verdict_name(outcome.verdict));
    cr_expect(strstr(outcome.detail, "the worker ended before its first call"), "%s", outcome.detail);
    mg_session_end(s);
}

enum { NEIGHBOURS = 4 }; /* for each processor */

/* The unit needs 0.8 s of processor time and gets a fifth of a processor, so that it takes longer than its
 * 2 seconds. */
Test(disturbed, time_that_other_programs_take_does_not_count, .timeout = 600)
{
    toy t;
    pid_t busy[NEIGHBOURS * 256];
    int count = NEIGHBOURS * (int)mt_min(sysconf(_SC_NPROCESSORS_ONLN), 256);
    toy_open(&t);
    for (int i = 0; i < count; i++)
        if ((busy[i] = fork()) == 0) {
            setsid(); /* where the scheduler serves sessions in turn, each is one */
            for (volatile unsigned x = 0;; x++)
                ;
        }
    mg_results r = toy_grade(&t,
                             BODY("struct timespec t = { 0 }; static int calls; while (!calls && t.tv_sec == 0 &&"
                                  " t.tv_nsec < 800000000) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); calls++; " DO),
                             "90.1");
    for (int i = 0; i < count; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
    cr_expect_eq(r.rows[0].verdict, MG_PASS, "%s", r.rows[0].detail);
    mg_results_free(&r);
    toy_close(&t);
}

/* Stops this process for three seconds, like a suspended machine, when it waits for its worker. */
static pid_t stop_me(void)
{
    pid_t me = getpid(), other = fork();
    char look[128];
    if (other)
        return other;
    snprintf(look, sizeof look, "pgrep -P %d -f 'bin/launch [0-9]+ .*/worker-ffff' >/dev/null", (int)me);
    for (int i = 0; i < 300 && system(look); i++)
        usleep(100000);
    usleep(300000);
    kill(me, SIGSTOP);
    sleep(3);
    kill(me, SIGCONT);
    _exit(0);
}

Test(disturbed, a_machine_that_stood_still_is_not_the_workers_fault, .timeout = 600)
{
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    pid_t other = stop_me();
    mg_results r = toy_grade(&t, UNIT "static int calls;\n" TOY "{ if (!calls++) usleep(3500000); " DO " }", "90.1");
    cr_expect_eq(r.rows[0].verdict, MG_PASS, "%s", r.rows[0].detail);
    waitpid(other, NULL, 0);
    mg_results_free(&r);
    toy_close(&t);
}
