/* aborts.h -- for tests of programming errors: a statement must abort and print this text on stderr.
 *
 *     ABORTS("[2,3]", mt_reshape(t, MT_SHAPE(5)));
 *
 * The statement runs in a child process, so one test can try many faults. */
#pragma once

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child's exit status, and the beginning of its stderr. */
typedef struct ending {
    int status; /* as waitpid tells it */
    char said[4096];
} ending;

/* Fork. In the child: 0, with stderr going to the parent. In the parent: 1, when the child has ended. */
static inline int run_in_child(ending *end)
{
    int ends[2];
    size_t used = 0;
    ssize_t got;
    cr_assert(pipe(ends) == 0);
    fflush(NULL);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        signal(SIGABRT, SIG_DFL);
        return 0;
    }
    close(ends[1]);
    while (used < sizeof end->said - 1 && (got = read(ends[0], end->said + used, sizeof end->said - 1 - used)) > 0)
        used += (size_t)got;
    end->said[used] = 0;
    close(ends[0]);
    cr_assert(waitpid(child, &end->status, 0) == child);
    return 1;
}

#define ABORTS(words, statement)                                                                                 \
    do {                                                                                                         \
        ending end_;                                                                                             \
        if (run_in_child(&end_) == 0) {                                                                          \
            statement;                                                                                           \
            _exit(0);                                                                                            \
        }                                                                                                        \
        cr_assert(WIFSIGNALED(end_.status) && WTERMSIG(end_.status) == SIGABRT, "%s did not abort", #statement); \
        cr_assert(strstr(end_.said, words), "%s said \"%s\", without \"%s\"", #statement, end_.said, words);     \
    } while (0)
