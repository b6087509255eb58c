/* cli.c -- command-line numbers, output folders, a clean stop. */
#include "prof/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

mt_status mt_cli_i64(int64_t *out, const char *text, int64_t low, int64_t high)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        return mt_fail(MT_ERR_ARGUMENT, "'%.40s' is not a whole number from %" PRId64 " to %" PRId64, text, low, high);
    *out = value;
    return MT_OK;
}

mt_status mt_cli_f64(double *out, const char *text, double low, double high)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= low && value <= high))
        return mt_fail(MT_ERR_ARGUMENT, "'%.40s' is not a number from %g to %g", text, low, high);
    *out = value;
    return MT_OK;
}

mt_status mt_cli_folder(const char *path)
{
    char part[4096];
    struct stat info;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return mt_fail(MT_ERR_ARGUMENT, "'%.200s': not a folder's name", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) < 0 && errno != EEXIST)
            return mt_fail(MT_ERR_IO, "cannot make the folder %s: %s", part, strerror(errno));
    }
    if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode))
        return mt_fail(MT_ERR_IO, "cannot make the folder %s: a file of that name is in the way", path);
    return MT_OK;
}

static volatile sig_atomic_t stopped;

static void on_stop(int signal_number)
{
    stopped = signal_number;
}

void mt_cli_catch_stop(void)
{
    struct sigaction action = { .sa_handler = on_stop, .sa_flags = SA_RESTART | SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int mt_cli_stopped(void)
{
    return stopped;
}
