/* test_build.c -- what a link can see: an "object" that is a linker script names any file, found or not. And which
 * units are compiled. */
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

/* Whether units with this text compile, if the reference's text does not compile. */
static mt_status make_units(const char *text)
{
    char log[4096], path[PATH_MAX];
    mg_labinfo info;
    toy_write(&t, "build/units/90-toy/toy.c", "no C at all\n");
    mg_build_source(&build, "90-toy", path);
    cr_assert_eq(mg_folder(path, false), MT_OK);
    mg_path(path, "%s/src/90-toy/toy.c", scratch.path);
    cr_assert_eq(mg_write_file(path, text, strlen(text)), MT_OK);
    cr_assert_eq(mg_labinfo_read(&info, t.root, "90-toy"), MT_OK, "%s", mt_last_error());
    build.mines = 0;
    mt_status status = mg_build_units(&build, &info, log, sizeof log);
    mg_labinfo_free(&info);
    return status;
}

Test(build, the_references_text_has_the_references_object, .init = open_all, .fini = close_all)
{
    cr_expect_eq(make_units("no C at all"), MT_ERR_FORMAT, "a byte less is compiled");
    cr_expect_eq(make_units("no C at all\n\n"), MT_ERR_FORMAT, "a byte more too");
    cr_expect_eq(make_units("no C at all\n"), MT_OK, "the same bytes are not");
    toy_shell("cmp %s/build/units/90-toy/toy.o %s/obj/90-toy/toy.o", t.root, scratch.path);
    cr_expect_eq(make_units("int toy;\n"), MT_OK, "what compiles is compiled");
    toy_shell("! cmp -s %s/build/units/90-toy/toy.o %s/obj/90-toy/toy.o", t.root, scratch.path);
}

Test(build, of_an_earlier_lab_device_units_are_left_out, .init = open_all, .fini = close_all)
{
    char log[4096];
    mg_labinfo info = { .id = "91-device", .unit = { "toy.cu" }, .units = 1 };
    cr_assert_eq(make_units("int toy;\n"), MT_OK);
    cr_expect_eq(mg_build_units(&build, &info, log, sizeof log), MT_OK);
    cr_expect(!build.cuda && build.mines == 2);
    build.mines = 0;
    cr_expect_eq(mg_build_units(&build, &info, log, sizeof log), MT_ERR_UNAVAILABLE, "the emulator was not built here");
}
