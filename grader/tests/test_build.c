/* test_build.c -- what a link can see. An "object" that is a linker script names any file: it is found or it is not. */
#include "build.h"
#include "toy.h"

#include <sys/stat.h>

static toy t;
static mg_scratch scratch;
static mg_build build;

static void open_all(void)
{
    toy_open(&t);
    cr_assert_eq(mg_scratch_open(&scratch), MT_OK, "%s", mt_last_error());
    mt_status status = mg_build_open(&build, t.root, t.build, scratch.path, mg_sandbox_probe() == MT_OK);
    cr_assert_eq(status, MT_OK, "%s", mt_last_error());
}

static void close_all(void)
{
    mg_scratch_close(&scratch);
    toy_close(&t);
}

/* Link a worker with this file, of the scratch folder, in place of the toy's object. */
static mt_status link_with(const char *name, char log[4096])
{
    char path[PATH_MAX], script[PATH_MAX + 16];
    mg_path(path, "%s/obj/90-toy", scratch.path);
    cr_assert_eq(mg_folder(path, true), MT_OK);
    mg_path(path, "%s/obj/90-toy/toy.o", scratch.path);
    snprintf(script, sizeof script, "INPUT(%s/%s)", scratch.path, name);
    cr_assert_eq(mg_write_file(path, script, strlen(script)), MT_OK);
    cr_assert_eq(chmod(path, 0644), 0);
    build.mines = 1;
    strcpy(build.mine[0], "90-toy");
    return mg_build_worker(&build, "90-toy", MG_MINE, path, log, 4096);
}

Test(build, a_link_does_not_see_the_object_it_replaces, .init = open_all, .fini = close_all)
{
    char log[4096];
    if (!build.confined)
        cr_skip_test("no sandbox here");
    cr_expect_eq(link_with("in/units/90-toy/toy.o", log), MT_ERR_FORMAT);
    cr_expect(strstr(log, "cannot find"), "%s", log);
    toy_shell("cd %s && cp in/units/90-toy/toy.o obj/90-toy/seen", scratch.path);
    cr_expect_eq(link_with("obj/90-toy/seen", log), MT_OK, "such an object works: %s", log);
}
