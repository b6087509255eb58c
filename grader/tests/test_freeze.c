/* test_freeze.c -- stopping a program, binding its threads to processors, and time limits on a machine that was
 * suspended. */
#include "sandbox/freeze.h"
#include "sandbox/patience.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *idle(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* A program of this many threads, on the first two available processors; 0 if there is only one. */
static pid_t start(int threads)
{
    cpu_set_t all, two;
    pthread_t thread;
    CPU_ZERO(&two);
    sched_getaffinity(0, sizeof all, &all);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &two);
    if (CPU_COUNT(&two) < 2)
        return 0;
    int ready[2];
    char byte;
    cr_assert_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        sched_setaffinity(0, sizeof two, &two);
        for (int i = 1; i < threads; i++)
            pthread_create(&thread, NULL, idle, NULL);
        if (write(ready[1], "", 1) == 1)
            idle(NULL);
        _exit(1);
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

/* Stops a program and binds its threads; returns the number of processors on which each may run, added up. */
static int places_of(pid_t pid)
{
    char path[64];
    int places = 0;
    cpu_set_t set;
    cr_assert_eq(mg_freeze(pid), MG_FROZEN);
    mg_spread(pid);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; (e = readdir(tasks));)
        if (e->d_name[0] != '.' && sched_getaffinity((pid_t)atoi(e->d_name), sizeof set, &set) == 0)
            places += CPU_COUNT(&set);
    closedir(tasks);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return places;
}

Test(freeze, two_threads_get_a_processor_each)
{
    pid_t pid = start(2);
    if (pid)
        cr_expect_eq(places_of(pid), 2);
}

Test(freeze, three_threads_share_two_processors_as_they_like)
{
    pid_t pid = start(3);
    if (pid)
        cr_expect_eq(places_of(pid), 6);
}

Test(freeze, a_program_that_ended_is_not_frozen)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    cr_expect_eq(mg_freeze(pid), MG_UNFROZEN);
    mg_spread(pid);
}

/* What mg_session_call reads to detect that a stopped worker did not run (session.c). */
Test(freeze, a_stopped_program_uses_no_processor_time_until_it_is_woken)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            ;
    cr_assert_eq(mg_freeze(pid), MG_FROZEN);
    double stopped = mg_cpu_seconds(pid);
    usleep(50000);
    cr_expect_lt(mg_cpu_seconds(pid) - stopped, MG_AWAKE_SECONDS, "%g s", mg_cpu_seconds(pid) - stopped);
    kill(pid, SIGCONT);
    for (int i = 0; i < 5000 && mg_cpu_seconds(pid) - stopped < 1e-3; i++)
        usleep(1000);
    cr_assert_eq(mg_freeze(pid), MG_FROZEN);
    cr_expect_gt(mg_cpu_seconds(pid) - stopped, MG_AWAKE_SECONDS);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Such a program uses no processor time either, but the machine is not the reason. */
Test(freeze, a_program_that_waits_for_its_vfork_is_not_starved)
{
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        if (vfork() == 0) {
            for (;;)
                pause();
        }
        _exit(0);
    }
    usleep(50000);
    cr_expect_eq(mg_freeze(pid), MG_UNFROZEN);
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

Test(patience, a_clock_that_jumps_is_no_waiting)
{
    mg_patience p = mg_patience_new();
    p.before -= 1000; /* as if this process had been stopped */
    double waited = mg_waiting(&p);
    cr_expect_float_eq(waited, MG_MOST_TICK, 1e-9);
    p.before -= 0.1;
    waited = mg_waiting(&p);
    cr_expect(waited >= MG_MOST_TICK + 0.1 && waited < MG_MOST_TICK + 0.6, "%g", waited);
}

Test(patience, a_silent_pipe_is_given_up_and_a_closed_one_is_not_waited_for)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_expect_not(mg_wait_readable(ends[0], 0.2));
    close(ends[1]);
    cr_expect(mg_wait_readable(ends[0], 100));
    close(ends[0]);
}
