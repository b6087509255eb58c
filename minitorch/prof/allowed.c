/* allowed.c -- see allowed.h. */
#include "prof/allowed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct least {
    int64_t bytes;
    const char *by;
} least;

static void take(least *l, int64_t bytes, const char *by)
{
    if (bytes >= 0 && bytes < l->bytes)
        *l = (least){ bytes, by };
}

/* The number in a file of one line; -1: none, or "max". */
static int64_t number_in(const char *path)
{
    int64_t number = -1;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%" SCNd64, &number) != 1)
        number = -1;
    if (file)
        fclose(file);
    return number;
}

static void take_machine(least *l, const char *root)
{
    char path[4096], name[64];
    int64_t kB, available = -1, swap = 0;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%63s %" SCNd64 "%*[^\n]", name, &kB) == 2) {
        available = strcmp(name, "MemAvailable:") == 0 ? kB : available;
        swap = strcmp(name, "SwapFree:") == 0 ? kB : swap;
    }
    if (file)
        fclose(file);
    if (available >= 0)
        take(l, (available + swap) * 1024, "free in this machine");
}

/* Limits of a cgroup and of all above it. A container sees its own at the top, below whatever path it is told. */
static void take_group(least *l, const char *root, const char *mount, const char *file, const char *group)
{
    char path[8192], above[4096];
    snprintf(above, sizeof above, "%s", group);
    for (char *end = above + strlen(above); end; end = strrchr(above, '/')) {
        *end = 0;
        snprintf(path, sizeof path, "%s%s%s/%s", root, mount, above, file);
        take(l, number_in(path), "allowed by the cgroup's limit of memory");
    }
}

/* A line of /proc/self/cgroup: "0::/a/b" of v2, "4:memory:/a/b" of v1. */
static void take_groups(least *l, const char *root)
{
    char path[4096], line[4096];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        if (!names[1])
            take_group(l, root, "/sys/fs/cgroup", "memory.max", group);
        else if (strstr(names, "memory"))
            take_group(l, root, "/sys/fs/cgroup/memory", "memory.limit_in_bytes", group);
    }
    if (file)
        fclose(file);
}

static void take_ulimits(least *l)
{
    int64_t size = 0, data = 0, page = sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%" SCNd64 " %*d %*d %*d %*d %" SCNd64, &size, &data) != 2)
        size = data = 0;
    if (file)
        fclose(file);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < INT64_MAX)
        take(l, mt_max((int64_t)limit.rlim_cur - size * page, 0), "left by ulimit -v");
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur < INT64_MAX)
        take(l, mt_max((int64_t)limit.rlim_cur - data * page, 0), "left by ulimit -d");
}

int64_t mt_memory_allowed(const char *root, const char **by)
{
    least l = { INT64_MAX, "" };
    take_machine(&l, root);
    take_groups(&l, root);
    if (!*root)
        take_ulimits(&l);
    *by = l.by;
    return l.bytes;
}

mt_status mt_memory_check(int64_t bytes, const char *what, const char *advice)
{
    const char *by;
    int64_t allowed = mt_memory_allowed("", &by);
    if (bytes <= allowed)
        return MT_OK;
    return mt_fail(MT_ERR_ARGUMENT, "%s needs %.3g GB, and %.3g GB are %s: %s", what, (double)bytes / 1e9,
                   (double)allowed / 1e9, by, advice);
}
