/* ending.c -- how a program ends: a signal such as Ctrl-C asks it to stop, and its loop does so where its files are
 * complete (train/loop.c), with the right exit status. */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;
static bool ignored;  /* SIGHUP, when the program began */
static bool terminal; /* stderr is one */

static void on_stop(int signal_number)
{
    static const char note[] = "\nStopping where all files are complete; a second Ctrl-C ends at once.\n";
    int before = errno;
    stopped = signal_number;
    if (signal_number == SIGINT && terminal)
        (void)!write(STDERR_FILENO, note, sizeof note - 1);
    errno = before;
}

/* Before the constructors of libraries: in one of them UCX, a library of Open MPI 5, takes SIGHUP for itself. */
static void see_hangup(void)
{
    struct sigaction now;
    ignored = sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = see_hangup;

void mt_cli_keep_hangup(void)
{
    if (ignored)
        signal(SIGHUP, SIG_IGN);
}

void mt_cli_catch_stop(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM };
    terminal = isatty(STDERR_FILENO);
    for (int i = 0; i < MT_COUNT(signals); i++) {
        /* Other signals may come twice without anybody's intent: a closed terminal sends SIGHUP by kernel and shell. */
        struct sigaction action = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
        action.sa_flags |= signals[i] == SIGINT ? (int)SA_RESETHAND : 0;
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
    mt_cli_keep_hangup();
}

void mt_cli_stop_after(double seconds)
{
    double whole = floor(seconds);
    struct itimerval timer = { .it_value = { (time_t)whole, (suseconds_t)(1e6 * (seconds - whole)) } };
    setitimer(ITIMER_REAL, &timer, NULL);
}

bool mt_cli_stopped(void)
{
    return stopped != 0;
}

static void check_output(int status, void *nothing)
{
    (void)nothing;
    errno = 0;
    bool failed = ferror(stdout); /* errno of that write is lost */
    failed |= fflush(stdout) != 0;
    if (!failed)
        return;
    fprintf(stderr, "%s: standard output: %s\n", program_invocation_short_name,
            errno ? strerror(errno) : "some of it could not be written");
    _exit(status ? status : 1);
}

void mt_cli_guard_output(void)
{
    static bool guarded;
    signal(SIGXFSZ, SIG_IGN);
    if (!guarded)
        on_exit(check_output, NULL);
    guarded = true;
}

int mt_cli_exit(mt_status status)
{
    if (status != MT_OK)
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, mt_last_error());
    if (status == MT_OK || (status == MT_ERR_STOPPED && stopped == SIGALRM)) /* as was asked for at the start */
        return 0;
    return status == MT_ERR_STOPPED ? 128 + stopped : 1;
}
