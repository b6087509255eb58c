/* processors.c -- see processors.h. Control groups: cgroups(7), and cpu.max in the kernel's cgroup-v2.rst. */
#include "rows/processors.h"
#include "sandbox/scratch.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* The two numbers of a group: "50000 100000" in cpu.max, or a file for each in version 1; "max" and -1 are no quota. */
static double quota_of(const char *folder)
{
    static const char *const names[] = { "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us" };
    char path[PATH_MAX];
    double number[2] = { 0, 0 };
    int found = 0;
    for (int i = 0; i < MT_COUNT(names) && found < 2; i++) {
        mg_path(path, "%s/%s", folder, names[i]);
        FILE *file = fopen(path, "re");
        while (file && found < 2 && fscanf(file, "%lf", &number[found]) == 1)
            found++;
        if (file)
            fclose(file);
    }
    return found == 2 && number[0] > 0 && number[1] > 0 ? number[0] / number[1] : INFINITY;
}

/* The group and those above it; inside a container its own group is the root. */
static double least_of(const char *root, const char *group)
{
    char path[PATH_MAX];
    double least = quota_of(root);
    mg_path(path, "%s%s", root, group);
    for (char *slash; strlen(path) > strlen(root) && (slash = strrchr(path, '/')); *slash = 0)
        least = fmin(least, quota_of(path));
    return least;
}

double mg_processors_quota(const char *root, const char *own)
{
    char line[PATH_MAX / 2], version1[PATH_MAX];
    double least = INFINITY;
    mg_path(version1, "%s/cpu", root);
    FILE *file = fopen(own, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        line[strcspn(line, "\n")] = 0;
        if (!group)
            continue;
        *group++ = 0;
        if (!controllers[1]) /* "0::/group" */
            least = fmin(least, least_of(root, group));
        else if (strstr(controllers, "cpu,") || strcmp(controllers, ":cpu") == 0)
            least = fmin(least, least_of(version1, group));
    }
    if (file)
        fclose(file);
    return least;
}

double mg_processors(void)
{
    cpu_set_t cpus;
    double allowed = sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : CPU_COUNT(&cpus);
    return fmin(allowed, mg_processors_quota("/sys/fs/cgroup", "/proc/self/cgroup"));
}
