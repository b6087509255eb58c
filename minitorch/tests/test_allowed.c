/* test_allowed.c -- the memory that a process may use, the least of the machine, its cgroups and ulimits; the number of
 * processors that it may use. */
#include <criterion/criterion.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/allowed.h"
#include "cli/cli.h"

/* A machine as /proc and /sys below a folder. */
static char root[64];

static void put(const char *path, const char *text)
{
    char full[512], folder[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    snprintf(folder, sizeof folder, "%s", full);
    *strrchr(folder, '/') = 0;
    cr_assert_eq(mt_cli_folder(folder), MT_OK, "%s", mt_last_error());
    FILE *file = fopen(full, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void begin(void)
{
    strcpy(root, "/tmp/mt_allowed_XXXXXX");
    cr_assert(mkdtemp(root) != NULL);
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    cr_assert(system(command) == 0);
}

TestSuite(allowed, .init = begin, .fini = end);

static void expect(int64_t bytes, const char *words)
{
    const char *by;
    int64_t got = mt_memory_allowed(root, &by);
    cr_expect(got == bytes && strstr(by, words), "%ld bytes are %s, not %ld", (long)got, by, (long)bytes);
}

Test(allowed, nothing_is_known)
{
    expect(INT64_MAX, "");
}

Test(allowed, the_machine_and_its_swap)
{
    put("/proc/meminfo",
        "MemTotal:  900 kB\nMemFree:  1 kB\nMemAvailable:     500 kB\nSwapTotal: 90 kB\nSwapFree:   20 kB\n");
    expect(520 * 1024, "free in this machine");
}

/* Version 2: the limit of a group above; "max" is none. */
Test(allowed, a_cgroup_of_version_2)
{
    put("/proc/meminfo", "MemAvailable: 500 kB\n");
    put("/proc/self/cgroup", "0::/slice/job/step\n");
    put("/sys/fs/cgroup/slice/job/step/memory.max", "max\n");
    expect(500 * 1024, "machine");
    put("/sys/fs/cgroup/slice/job/memory.max", "4096\n");
    put("/sys/fs/cgroup/slice/memory.max", "8192\n");
    expect(4096, "cgroup");
}

/* A container: /sys/fs/cgroup is its own group, whatever path the host has for it. */
Test(allowed, a_container)
{
    put("/proc/self/cgroup", "0::/../../kubepods/pod1\n");
    put("/sys/fs/cgroup/memory.max", "12288\n");
    expect(12288, "cgroup");
}

Test(allowed, a_cgroup_of_version_1)
{
    put("/proc/self/cgroup", "12:pids:/x\n5:cpu,memory:/docker/abc\n1:name=systemd:/docker/abc\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "65536\n");
    expect(65536, "cgroup");
}

#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer reserves more addresses than the limit allows */
Test(allowed, a_ulimit)
{
    const char *by;
    const struct rlimit limit = { (rlim_t)1 << 31, RLIM_INFINITY };
    cr_assert_eq(mt_memory_check(1, "a step", ""), MT_OK);
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
    int64_t left = mt_memory_allowed("", &by);
    cr_assert(left > 0 && left < (int64_t)1 << 31);
    cr_assert_eq(mt_memory_check((int64_t)652e9, "a step", "use a smaller --batch"), MT_ERR_ARGUMENT);
    cr_assert(strstr(mt_last_error(), "a step needs 652 GB, and ") &&
              strstr(mt_last_error(), ": use a smaller --batch"));
}
#endif

/* ---- processors -------------------------------------------------------------------------------------- */

static void expect_threads(int threads)
{
    int got = mt_threads_allowed(root);
    cr_expect_eq(got, (int)mt_min(threads, omp_get_num_procs()), "%d threads", got);
}

Test(allowed, processors_without_a_quota)
{
    expect_threads(omp_get_num_procs());
    put("/proc/self/cgroup", "0::/job\n");
    put("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
    expect_threads(omp_get_num_procs());
}

/* Half a processor above a group that may have three. */
Test(allowed, a_quota_of_version_2)
{
    put("/proc/self/cgroup", "0::/slice/job\n");
    put("/sys/fs/cgroup/slice/job/cpu.max", "300000 100000\n");
    expect_threads(3);
    put("/sys/fs/cgroup/slice/cpu.max", "50000 100000\n");
    expect_threads(1);
}

Test(allowed, a_quota_of_version_1)
{
    put("/proc/self/cgroup", "3:cpuset:/x\n2:cpuacct:/x\n1:cpu:/docker/abc\n0::/\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "1\n");
    put("/sys/fs/cgroup/cpuset/x/cpu.cfs_period_us", "100000\n");
    expect_threads(omp_get_num_procs());
    put("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "110000\n");
    put("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
    expect_threads(2);
    put("/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "100000\n");
    expect_threads(1);
}
