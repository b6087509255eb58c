/* test_build.c -- which files a link can read: an "object" that is a linker script may name any file. And which units
 * are compiled. */
#include "build/build.h"
#include "build/tools.h"
#include "toy.h"

#include <sys/stat.h>
#include <unistd.h>

static toy t;
static mg_scratch scratch;
static mg_build build;

static void open_all(void)
{
    toy_open(&t);
    cr_assert_eq(mg_scratch_open(&scratch), MT_OK, "%s", mt_last_error());
    mt_status status = mg_build_open(&build, t.root, t.build, scratch.path, mg_sandbox_choose((char[512]){ 0 }, 512));
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
    char log[4096] = "", path[PATH_MAX];
    mg_labinfo info;
    toy_write(&t, "build/units/90-toy/toy.c", "no C at all\n");
    mg_build_source(&build, "90-toy", path);
    cr_assert_eq(mg_folder(path, false), MT_OK);
    mg_path(path, "%s/src/labs/90-toy/toy.c", scratch.path);
    cr_assert_eq(mg_write_file(path, text, strlen(text)), MT_OK);
    cr_assert_eq(mg_labinfo_read(&info, t.root, "90-toy"), MT_OK, "%s", mt_last_error());
    build.mines = build.brokens = 0;
    mt_status status = mg_build_units(&build, &info, log, sizeof log);
    mg_labinfo_free(&info);
    return status == MT_OK && mg_is_broken(&build, "toy.c") ? MT_ERR_FORMAT : status;
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

Test(build, what_gcc_14_refuses_is_refused_by_every_gcc, .init = open_all, .fini = close_all)
{
    static const char *const texts[] = { "int toy(void) { return undeclared(); }\n", "toy(void) { return 1; }\n",
                                         "int *toy(long x) { return x; }\n", "int *toy(float *x) { return x; }\n" };
    for (int i = 0; i < MT_COUNT(texts); i++)
        cr_expect_eq(make_units(texts[i]), MT_ERR_FORMAT, "compiled: %s", texts[i]);
}

Test(build, of_an_earlier_lab_device_units_are_left_out, .init = open_all, .fini = close_all)
{
    char log[4096] = "", path[PATH_MAX];
    mg_labinfo info = { .id = "91-device", .unit = { "toy.cu" }, .units = 1 };
    cr_assert_eq(make_units("int toy;\n"), MT_OK);
    cr_expect_eq(mg_build_units(&build, &info, log, sizeof log), MT_OK);
    cr_expect(!build.cuda && build.mines == 2);
    build.mines = 0;
    mg_path(path, "%s/src/labs/91-device", scratch.path);
    cr_assert_eq(mg_folder(path, false), MT_OK);
    mg_path(path, "%s/src/labs/91-device/toy.cu", scratch.path);
    cr_assert_eq(mg_write_file(path, "\n", 1), MT_OK);
    cr_expect_eq(mg_build_units(&build, &info, log, sizeof log), MT_ERR_UNAVAILABLE, "the emulator was not built here");
}

static void put_source(const char *name, const char *text)
{
    char path[PATH_MAX];
    mg_path(path, "%s/src/labs/90-toy/%s", scratch.path, name);
    cr_assert_eq(mg_write_file(path, text, strlen(text)), MT_OK);
}

/* Of a lab with two units, one that does not compile, is missing, or does not link becomes a stub; the other stays. */
Test(build, a_broken_unit_does_not_take_others_along, .init = open_all, .fini = close_all)
{
    static const char toy_c[] = "void toy(float *out, const float *x, long n) { for (long i = 0; i < n; i++) "
                                "out[i] = 2 * x[i]; }\n";
    static const char *const others[] = { "int other(void) { return y; }\n", NULL, "int other2(void) { return 1; }\n" };
    mg_labinfo info = { .id = "90-toy", .unit = { "toy.c", "other.c" }, .units = 2 };
    char path[PATH_MAX];
    toy_shell(
        "cd %s && echo 'int other(void) { return 1; }' >other.c && gcc -c other.c -o in/units/90-toy/other.o && "
        "echo 'int other(void); int needs(void) { return other(); }' >needs.c && gcc -c needs.c -o needs.o && "
        "mkdir -p src/labs/90-toy && ld -r needs.o in/worker/calls_90.o -o all.o && mv all.o in/worker/calls_90.o && "
        "rm in/units/90-toy/other.o && echo 'units/90-toy/other.o: other T 0 6' >>%s/defined",
        scratch.path, t.build);
    for (int64_t i = 0; i < MT_COUNT(others); i++) {
        char log[8192] = "", words[4096] = "";
        build.mines = build.brokens = 0;
        put_source("toy.c", toy_c);
        put_source("other.c", others[i] ? others[i] : "");
        mg_build_source(&build, "90-toy/other.c", path);
        if (!others[i])
            unlink(path);
        cr_expect_eq(mg_build_units(&build, &info, log, sizeof log), MT_OK, "%s", mt_last_error());
        if (mg_build_worker(&build, "90-toy", MG_MINE, path, words, sizeof words) != MT_OK)
            cr_expect_eq(mg_build_repair(&build, &info, log, sizeof log), MT_OK, "%s", mt_last_error());
        cr_expect_eq(mg_build_worker(&build, "90-toy", MG_MINE, path, words, sizeof words), MT_OK, "%s", words);
        cr_expect(mg_is_broken(&build, "other.c") && !mg_is_broken(&build, "toy.c"), "no. %d: %s", (int)i, log);
        cr_expect(strstr(log, "labs/90-toy/other.c"), "%s", log);
    }
}

/* Other users cannot read a submission, its objects and its worker. */
Test(build, the_scratch_folder_is_closed_to_other_users, .init = open_all, .fini = close_all)
{
    struct stat st;
    cr_assert_eq(stat(scratch.path, &st), 0);
    cr_expect_eq(st.st_mode & 07777, 0700);
    cr_expect_eq(st.st_uid, mg_uid());
    if (geteuid() == 0)
        toy_shell("setpriv --reuid=4242 --regid=4242 --clear-groups sh -c '! ls %s/in && ! cat %s/in/libgiven.a' 2>&1 "
                  ">/dev/null",
                  scratch.path, scratch.path);
}

/* A tool that waits has used no processor time: the machine was busy, which is not the submission's fault. Nor is it
 * that the system killed a part of gcc for its memory. */
Test(build, a_tool_that_takes_too_long_is_not_one_that_fails, .init = open_all, .fini = close_all)
{
    char log[256];
    const char *const slow[] = { "/bin/sleep", "60", NULL }, *const wrong[] = { "/bin/false", NULL };
    const char *const killed[] = {
        mg_compiler, "-wrapper", "/bin/sh,-c,kill -9 $$", "-E", "/usr/include/stdio.h", NULL
    };
    mg_sandbox box = mg_tool_box(&build, slow, NULL);
    box.limits.wall_s = 0.5;
    cr_expect_eq(mg_run_tool(&box, "sleep", NULL, log, sizeof log), MT_ERR_UNAVAILABLE);
    cr_expect(strstr(mt_last_error(), "sleep took longer than 2.5 s: the machine is busy"), "%s", mt_last_error());
    box = mg_tool_box(&build, killed, NULL);
    cr_expect_eq(mg_run_tool(&box, "linking", NULL, log, sizeof log), MT_ERR_UNAVAILABLE, "%s", log);
    cr_expect(strstr(mt_last_error(), "linking was killed: the machine has too little memory"), "%s", mt_last_error());
    box = mg_tool_box(&build, wrong, NULL);
    cr_expect_eq(mg_run_tool(&box, "false", NULL, log, sizeof log), MT_ERR_FORMAT);
}

/* What a submission's texts cost the compiler is limited for all of them together. */
Test(build, all_compiling_has_one_limit, .init = open_all, .fini = close_all)
{
    char log[4096] = "", path[PATH_MAX];
    const char *const busy[] = { "/bin/sh", "-c", "while :; do :; done", NULL };
    mg_sandbox box = mg_tool_box(&build, busy, NULL);
    mg_work work = { 0.3, 0.1 };
    cr_expect_eq(mg_run_tool(&box, "the compiler", &work, log, sizeof log), MT_ERR_FORMAT, "%s", mt_last_error());
    cr_expect(strstr(log, "no processor time is left"), "%s", log);
    cr_expect(work.used > 0.3 && work.used < 3, "used %g s", work.used);
    /* A million terms: what takes less than a tick may not be seen. */
    cr_assert_eq(make_units("#define A(x) x x x x x x x x x x\nint toy = 0 A(A(A(A(A(A(+1))))));\n"), MT_OK);
    cr_expect(build.work.used > 0 && build.work.used < build.work.most, "%g of %g s", build.work.used, build.work.most);
    build.work.used = 1e9;
    cr_expect_eq(make_units("int toy;\n"), MT_ERR_FORMAT);
    cr_expect_eq(make_units("no C at all\n"), MT_OK, "the reference's object costs nothing");
    cr_expect_eq(mg_build_worker(&build, "90-toy", MG_REFERENCE, path, log, sizeof log), MT_OK, "%s", log);
    put_source("toy.c", "int toy;\n");
    cr_expect_eq(mg_compile_counted(&build, log, sizeof log), MT_ERR_FORMAT);
    cr_expect(strstr(log, "labs/90-toy/toy.c: left out, because compiling the units took more than"), "%s", log);
}

/* The uid of the sandboxes must be able to read what is shared, whatever the modes in the build. */
Test(build, what_is_shared_can_be_read, .init = open_all, .fini = close_all)
{
    static const struct {
        mode_t mode, shared;
        bool linked;
    } cases[] = {
        { 0644, 0644, true }, { 0755, 0755, true }, { 0600, 0644, false }, { 0700, 0755, false }, { 0744, 0755, false }
    };
    for (int64_t i = 0; i < MT_COUNT(cases); i++) {
        char from[PATH_MAX], to[PATH_MAX];
        struct stat theirs, ours;
        mg_path(from, "%s/out/from-%d", scratch.path, (int)i);
        mg_path(to, "%s/out/to-%d", scratch.path, (int)i);
        cr_assert_eq(mg_write_file(from, "text", 4), MT_OK);
        cr_assert_eq(chmod(from, cases[i].mode), 0);
        cr_expect_eq(mg_share_file(to, from), MT_OK, "%s", mt_last_error());
        cr_assert(stat(from, &theirs) == 0 && stat(to, &ours) == 0);
        cr_expect_eq(ours.st_mode & 0777, cases[i].shared, "%o became %o", cases[i].mode, ours.st_mode & 0777);
        cr_expect_eq(ours.st_ino == theirs.st_ino, cases[i].linked, "mode %o", cases[i].mode);
        cr_expect_eq(ours.st_size, 4);
    }
    cr_expect_neq(mg_share_file("/nowhere/to", "/nowhere/from"), MT_OK);
}
