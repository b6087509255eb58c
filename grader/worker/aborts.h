/* aborts.h -- whether a call aborts, as its header says that it must. The worker goes on either way, to the end of the
 * call that the checker has asked for. The next one has a fresh worker: variables of the unit, or of the framework, may
 * say that it is still in the middle of something (mt_no_grad_begin). */
#pragma once

#include <setjmp.h>
#include <signal.h>

#include "worker/call.h"

static sigjmp_buf mg_before_abort;
static volatile sig_atomic_t mg_caught;

static void mg_on_abort(int signal_number)
{
    mg_keeps = mg_aborted = true;
    mg_caught = signal_number;
    siglongjmp(mg_before_abort, signal_number);
}

/* mg_aborts -- whether call(v) does; SIGFPE does not count as an abort. */
static inline bool mg_aborts(void (*call)(const mg_value *), const mg_value *v)
{
    static const int numbers[] = { SIGABRT, SIGFPE };
    struct sigaction action = { .sa_handler = mg_on_abort }, before[MT_COUNT(numbers)];
    for (int i = 0; i < MT_COUNT(numbers); i++)
        sigaction(numbers[i], &action, &before[i]);
    mg_caught = 0;
    if (sigsetjmp(mg_before_abort, 1) == 0)
        call(v);
    for (int i = 0; i < MT_COUNT(numbers); i++)
        sigaction(numbers[i], &before[i], NULL);
    return mg_caught == SIGABRT;
}
