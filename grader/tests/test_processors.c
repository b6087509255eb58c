/* test_processors.c -- quotas of control groups, in folders that look like the kernel's. */
#include "rows/processors.h"
#include "sandbox/scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static mg_scratch scratch;

static void start(void)
{
    cr_assert_eq(mg_scratch_open(&scratch), MT_OK, "%s", mt_last_error());
}

static void stop(void)
{
    mg_scratch_close(&scratch);
}

TestSuite(processors, .init = start, .fini = stop);

static void put(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    mg_path(path, "%s/%s", scratch.path, folder);
    cr_assert_eq(mg_folder(path, false), MT_OK);
    mg_path(path, "%s/%s/%s", scratch.path, folder, name);
    cr_assert_eq(mg_write_file(path, text, strlen(text)), MT_OK);
}

static double quota(const char *own)
{
    char root[PATH_MAX], path[PATH_MAX];
    put(".", "own", own);
    mg_path(root, "%s/cgroup", scratch.path);
    mg_path(path, "%s/own", scratch.path);
    return mg_processors_quota(root, path);
}

Test(processors, the_least_quota_of_a_group_and_those_above_it)
{
    cr_expect(isinf(quota("0::/\n")), "no files");
    put("cgroup/a/b/c", "cpu.max", "max 100000\n");
    cr_expect(isinf(quota("0::/a/b/c\n")));
    put("cgroup/a/b", "cpu.max", "250000 100000\n");
    cr_expect_float_eq(quota("0::/a/b/c\n"), 2.5, 1e-9);
    put("cgroup/a", "cpu.max", "150000 50000\n");
    cr_expect_float_eq(quota("0::/a/b/c\n"), 2.5, 1e-9);
    cr_expect_float_eq(quota("0::/a\n"), 3, 1e-9);
}

/* A container's own group is the root of what it sees. */
Test(processors, a_container_with_half_a_processor)
{
    put("cgroup", "cpu.max", "50000 100000\n");
    cr_expect_float_eq(quota("0::/\n"), 0.5, 1e-9);
    cr_expect_float_eq(quota("0::/gone/elsewhere\n"), 0.5, 1e-9);
}

Test(processors, version_1_has_a_file_for_each_number)
{
    put("cgroup/cpu/docker/x", "cpu.cfs_quota_us", "50000\n");
    put("cgroup/cpu/docker/x", "cpu.cfs_period_us", "100000\n");
    cr_expect_float_eq(quota("5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n"), 0.5, 1e-9);
    put("cgroup/cpu/docker/x", "cpu.cfs_quota_us", "-1\n");
    cr_expect(isinf(quota("4:cpu,cpuacct:/docker/x\n")));
}

Test(processors, what_we_have_here_is_a_number)
{
    cr_expect(mg_processors() > 0 && mg_processors() < 1e4, "%g", mg_processors());
}
