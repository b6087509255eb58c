/* contain.c -- run a command and report processes that outlive it.
 *
 *   contain SECONDS COMMAND...
 *
 * Time in which its processes are ready to run and get no processor does not count: a busy machine may only delay it.
 * Orphans of the command become our children (PR_SET_CHILD_SUBREAPER), so after its end there must be none. Exit
 * status: the command's own; 124 it did not end in time and was killed, 125 it left processes behind, 128 + n it died
 * of signal n. */
#include "sandbox/freeze.h"
#include "sandbox/patience.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HUNG = 124, LEFT = 125, BROKEN = 126, GRACE_MS = 10000 };

/* Our children by /proc, ended or not. */
static int64_t children(void)
{
    int64_t count = 0;
    long pid;
    FILE *list = fopen("/proc/thread-self/children", "re");
    while (list && fscanf(list, "%ld", &pid) == 1)
        count++;
    if (list)
        fclose(list);
    return count;
}

static void kill_children(void)
{
    long pid;
    FILE *list = fopen("/proc/thread-self/children", "re");
    while (list && fscanf(list, "%ld", &pid) == 1)
        kill((pid_t)pid, SIGKILL);
    if (list)
        fclose(list);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* The processes that the command left, after a wait for those that are ending. */
static int64_t left_behind(void)
{
    for (int ms = 0; ms < GRACE_MS; ms += 10) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (children() == 0)
            return 0;
        usleep(10000);
    }
    return children();
}

/* The kernel says how long a thread has waited when it runs again. */
static bool ends_within(pid_t pid, double seconds)
{
    struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
    mg_patience patience = mg_patience_new();
    double own = 0, passed = 0, waited = 0;
    while (own < seconds) {
        if (poll(&p, 1, MG_TICK_MS) > 0)
            return true;
        double now = mg_waiting(&patience), starved = mg_tree_waited(pid);
        own = fmax(own + (now - passed) - fmax(starved - waited, 0), 0);
        passed = now;
        waited = starved;
    }
    return false;
}

static int run(char **argv, int seconds)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(BROKEN);
    }
    if (!ends_within(pid, seconds)) {
        fprintf(stderr, "contain: %s did not end within %d seconds\n", argv[0], seconds);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        left_behind();
        kill_children();
        return HUNG;
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    int seconds = argc < 3 ? 0 : atoi(argv[1]);
    if (seconds < 1 || prctl(PR_SET_CHILD_SUBREAPER, 1)) {
        fprintf(stderr, "usage: contain SECONDS COMMAND...\n");
        return BROKEN;
    }
    int code = run(argv + 2, seconds);
    int64_t left = left_behind();
    if (left == 0)
        return code;
    fprintf(stderr, "contain: %s left %lld processes behind\n", argv[2], (long long)left);
    kill_children();
    return LEFT;
}
