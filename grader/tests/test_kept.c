/* test_kept.c -- which units are compiled again: one whose object was kept has no preprocessed text beside it. */
#include "build/build.h"
#include "build/kept.h"
#include "toy.h"

#include <sys/stat.h>
#include <unistd.h>

enum { TOY = 1, OTHER = 2 };

static toy t;
static char said[8192];
static const char *step = "", *called; /* what is graded, and a unit that its rows call besides */
static int waiting;                    /* the units that are left out at the end */

static void open_toy(void)
{
    toy_open(&t);
    toy_shell("cd %s && echo 'int other(void) { return 1; }' >other.c && mkdir mine && gcc -c other.c -o "
              "build/units/90-toy/other.o",
              t.root);
    toy_defined(&t);
    toy_write(&t, "mine/toy.c", "#include \"core/base.h\"\nint toy(void) { int left; return 1; }\n");
    toy_write(&t, "mine/other.c", "int other(void) { return 2; }\n");
}

static void close_toy(void)
{
    toy_close(&t);
}

/* A grading of the two units, in a scratch folder of its own: which of them are compiled. */
static int compiled(bool counted)
{
    static const char *const names[] = { "toy", "other" };
    mg_labinfo info = { .id = "90-toy", .unit = { "toy.c", "other.c" }, .units = 2 };
    mg_scratch scratch = { 0 };
    mg_build build;
    char path[PATH_MAX];
    int found = 0;
    cr_assert_eq(mg_scratch_open(&scratch), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mg_build_open(&build, t.root, t.build, scratch.path, mg_sandbox_choose((char[512]){ 0 }, 512)), MT_OK,
                 "%s", mt_last_error());
    toy_shell("mkdir -p %s/src/labs/90-toy && cp %s/mine/*.c %s/src/labs/90-toy/", scratch.path, t.root, scratch.path);
    said[0] = 0;
    strcpy(build.step, step);
    cr_expect_eq(mg_build_units(&build, &info, said, sizeof said), MT_OK, "%s", mt_last_error());
    if (called)
        cr_expect_eq(mg_build_more(&build, &info, called, said, sizeof said), MT_OK, "%s", mt_last_error());
    if (counted)
        cr_expect_eq(mg_build_worker(&build, "90-toy", MG_MINE | MG_COUNTED, path, said, sizeof said), MT_ERR_FORMAT,
                     "the toy has no object that counts");
    mg_path(path, "%s/obj/90-toy/unasked.o", scratch.path);
    cr_expect_eq(access(path, F_OK) == 0, build.unaskeds > 0, "a stub takes the place of what is left out");
    waiting = mg_is_unasked(&build, "toy.c") * TOY | mg_is_unasked(&build, "other.c") * OTHER;
    for (int i = 0; i < 2; i++) {
        if (waiting >> i & 1)
            continue;
        mg_path(path, "%s/obj/%s90-toy/%s.i", scratch.path, counted ? "counted/" : "", names[i]);
        found |= (access(path, F_OK) == 0) << i;
        mg_path(path, "%s/obj/%s90-toy/%s.o", scratch.path, counted ? "counted/" : "", names[i]);
        cr_expect_eq(access(path, R_OK), 0, "%s is missing", path);
    }
    mg_scratch_close(&scratch);
    return found;
}

Test(kept, what_has_not_changed_is_not_compiled, .init = open_toy, .fini = close_toy)
{
    cr_expect_eq(compiled(false), TOY | OTHER);
    cr_expect(strstr(said, "unused variable"), "%s", said);
    struct stat st;
    char folder[PATH_MAX];
    mg_path(folder, "%s/kept", t.build);
    cr_expect(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700, "units of others are in it: mode %o", st.st_mode);
    cr_expect_eq(compiled(false), 0, "nothing has changed");
    cr_expect(strstr(said, "unused variable"), "a warning is shown again: %s", said);
    toy_write(&t, "mine/other.c", "int other(void) { return 3; }\n");
    cr_expect_eq(compiled(false), OTHER, "one unit has changed");
    toy_write(&t, "mine/other.c", "int other(void) { return 2; }\n");
    cr_expect_eq(compiled(false), 0, "it is what it was");
    toy_shell("echo '/* changed */' >>%s/minitorch/core/base.h", t.root);
    cr_expect(compiled(false) & TOY, "a header that it includes has changed");
    cr_expect_eq(compiled(false), 0);
    cr_expect_eq(compiled(true), TOY | OTHER, "other options");
    cr_expect_eq(compiled(true), 0);
    toy_shell("echo 'units/90-toy/more.o: more T 0 6' >>%s/defined", t.build);
    cr_expect_eq(compiled(false), TOY | OTHER, "what units are examined against has changed");
}

/* Whatever lies in the folder, an object is linked only if it was made of this text. */
Test(kept, what_is_not_whole_is_compiled_again, .init = open_toy, .fini = close_toy)
{
    static const char *const damage[] = {
        "for f in units-*; do truncate -s -1 $f; done",
        "for f in units-*; do echo >>$f; done",
        "for f in units-*; do : >$f; done",
        "cp units-toy.c-* x && cp units-other.c-* units-toy.c-* && mv x units-other.c-*",
        "for f in units-*; do printf '\\0\\1\\2\\3' | dd of=$f bs=1 seek=$(($(stat -c %s $f) - 50)) conv=notrunc; done",
        "for f in units-*; do rm $f && ln -s /dev/zero $f; done",
    };
    cr_expect_eq(compiled(false), TOY | OTHER);
    for (int i = 0; i < MT_COUNT(damage); i++) {
        toy_shell("cd %s/kept && (%s) 2>/dev/null", t.build, damage[i]);
        cr_expect_eq(compiled(false), TOY | OTHER, "%s", damage[i]);
        cr_expect_eq(compiled(false), 0, "after %s", damage[i]);
    }
    toy_shell("cd %s && rm -r kept && : >kept", t.build);
    cr_expect_eq(compiled(false), TOY | OTHER, "nothing can be kept");
}

/* Equal texts have one object; the text of a unit that includes another is not all that it is made of. */
Test(kept, a_unit_that_includes_another_is_not_kept, .init = open_toy, .fini = close_toy)
{
    toy_write(&t, "mine/toy.c",
              "#define NAME \"other.c\"\n#define other static_other\nstatic\n#include NAME\n"
              "int toy(void) { return other(); }\n");
    cr_expect_eq(compiled(false), TOY | OTHER);
    cr_expect_eq(compiled(false), TOY);
}

/* Where one step is graded, a unit that does not name it waits until a row calls it. */
Test(kept, a_unit_of_another_step_waits_until_it_is_called, .init = open_toy, .fini = close_toy)
{
    toy_write(&t, "mine/toy.c", "/* LAB 90.1 BEGIN */ int toy(void) { return 1; }\n");
    toy_write(&t, "mine/other.c", "/* LAB 90.10 BEGIN */ int other(void) { return 1; }\n");
    step = "90.1";
    cr_expect_eq(compiled(false), TOY);
    cr_expect_eq(waiting, OTHER);
    step = "90.10";
    cr_expect_eq(compiled(false), OTHER);
    cr_expect_eq(waiting, TOY);
    step = "90.3";
    called = "toy.c";
    toy_shell("rm -r %s/kept", t.build);
    cr_expect_eq(compiled(false), TOY);
    cr_expect_eq(waiting, OTHER, "it was not called");
    step = "";
    called = NULL;
    cr_expect_eq(compiled(false), OTHER);
    cr_expect_eq(waiting, 0, "all of a lab are compiled");
    toy_shell("cp %s/mine/other.c %s/units/90-toy/", t.root, t.build);
    step = "90.1";
    compiled(false);
    cr_expect_eq(waiting, 0, "the reference's object is there");
}

Test(kept, only_the_newest_stay, .init = open_toy, .fini = close_toy)
{
    cr_expect_eq(compiled(false), TOY | OTHER);
    toy_shell("cd %s/kept && touch -d 2001-01-01 units-other.c-* && for i in $(seq 398); do : >old-$i; done", t.build);
    cr_expect_eq(compiled(false), 0, "there are 400, and both are in use");
    toy_shell("cd %s/kept && touch -d 2001-01-01 old-7", t.build);
    cr_expect_eq(compiled(true), TOY | OTHER);
    toy_shell("cd %s/kept && ls units-toy.c-* units-other.c-* counted-toy.c-* >/dev/null && ! ls old-7 2>/dev/null && "
              "[ $(ls | wc -l) = 400 ]",
              t.build);
    cr_expect_eq(compiled(false), 0);
}
