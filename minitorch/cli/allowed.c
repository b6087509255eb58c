/* allowed.c -- see allowed.h. */
#include "cli/allowed.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* How often a waiting thread looks before it sleeps. Three epochs of train_mnist on two cores of a Zen 5 take 1.28 s
 * with libgomp's 300000, 1.39 s with 1000, 1.72 s with 300; 40 steps of train_gpt2 (--batch 4 --block 64) 0.51, 0.52,
 * 0.65 s. Beside 17 busy processes these steps take 10.5, 1.4 and 0.9 s of processor time. 2026-11-28. */
#define SPINS "1000"

/* ---- groups ----------------------------------------------------------------------------------------- */

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

/* Visits the folders of a cgroup and of all groups above it. A container sees its own at the top, below whatever path
 * it has on the host. */
typedef void visit(void *user, const char *folder);
static void visit_group(const char *mount, const char *group, visit *each, void *user)
{
    char path[8192], above[4096];
    snprintf(above, sizeof above, "%s", group);
    for (char *end = above + strlen(above); end; end = strrchr(above, '/')) {
        *end = 0;
        snprintf(path, sizeof path, "%s%s", mount, above);
        each(user, path);
    }
}

/* Whether a list, "cpu,cpuacct", has this name. */
static bool has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && memcmp(list, name, length) == 0)
            return true;
    return false;
}

/* Visits the process's groups. A line of /proc/self/cgroup: "0::/a/b" of v2, "4:memory:/a/b" of v1. */
static void visit_groups(const char *root, const char *controller, visit *each, void *user)
{
    char path[4096], mount[4096], line[4096];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        names++;
        if (*names && !has(names, controller))
            continue;
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s%s", root, *names ? "/" : "", *names ? controller : "");
        visit_group(mount, group, each, user);
    }
    if (file)
        fclose(file);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

typedef struct least {
    int64_t bytes;
    const char *by;
} least;

static void take(least *l, int64_t bytes, const char *by)
{
    if (bytes >= 0 && bytes < l->bytes)
        *l = (least){ bytes, by };
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

static void take_memory(void *user, const char *folder)
{
    static const char *const files[] = { "memory.max", "memory.limit_in_bytes" }; /* of v2, of v1 */
    char path[8300];
    for (int64_t i = 0; i < MT_COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        take(user, number_in(path), "allowed by the cgroup's limit of memory");
    }
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
    visit_groups(root, "memory", take_memory, &l);
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

/* ---- processors ------------------------------------------------------------------------------------- */

/* A group's quota of processor time, in processors; 0: none. */
static double quota_of(const char *folder)
{
    char path[8300];
    double quota = 0, period = 0;
    snprintf(path, sizeof path, "%s/cpu.max", folder); /* of v2: "50000 100000", "max 100000" */
    FILE *file = fopen(path, "re");
    if (file) {
        bool both = fscanf(file, "%lf %lf", &quota, &period) == 2;
        fclose(file);
        return both && period > 0 ? quota / period : 0;
    }
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    quota = (double)number_in(path);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    period = (double)number_in(path);
    return quota > 0 && period > 0 ? quota / period : 0;
}

static void take_quota(void *user, const char *folder)
{
    double *processors = user, quota = quota_of(folder);
    if (quota > 0)
        *processors = fmin(*processors, quota);
}

int mt_threads_allowed(const char *root)
{
    double processors = omp_get_num_procs(); /* the affinity is counted */
    visit_groups(root, "cpu", take_quota, &processors);
    return (int)mt_max(1, (int64_t)ceil(processors));
}

void mt_threads_begin(char **argv)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%d", mt_threads_allowed(""));
    bool count = !getenv("OMP_NUM_THREADS") && atoi(threads) < omp_get_num_procs();
    bool spin = !getenv("OMP_WAIT_POLICY") && !getenv("GOMP_SPINCOUNT");
    if (count)
        setenv("OMP_NUM_THREADS", threads, 1);
    if (spin)
        setenv("GOMP_SPINCOUNT", SPINS, 1);
    mt_cli_keep_hangup();
    if (count || spin)
        execv("/proc/self/exe", argv); /* where that fails, the program goes on as it is */
}
