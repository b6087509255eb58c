/* programs.c -- see programs.h. */
#include "cli/programs.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *mt_cli_sibling(const char *program)
{
    static char path[4096];
    const char *self = program_invocation_name, *slash = strrchr(self, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - self) : 0, self, program);
    return path;
}

bool mt_cli_run(const char *const words[])
{
    char *argument[16] = { (char *)mt_cli_sibling(words[0]) };
    pid_t child;
    int status = 1;
    for (int i = 1; i < MT_COUNT(argument) - 1 && words[i]; i++)
        argument[i] = (char *)words[i];
    fflush(stdout);
    int failed = posix_spawnp(&child, argument[0], NULL, NULL, argument, environ);
    if (failed)
        printf("%s: %s\n", argument[0], strerror(failed));
    while (!failed && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return !failed && status == 0;
}
