/* test_submission.c -- which files are taken from a folder or an archive, and which are not. */
#include "build/submission.h"
#include "sandbox/scratch.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mg_scratch scratch;
static char to[PATH_MAX], from[PATH_MAX], ignored[512];
static const mg_labinfo info = { .id = "01-matmul", .unit = { "matmul.c", "pack.c" }, .units = 2 };

static void start(void)
{
    cr_assert_eq(mg_scratch_open(&scratch), MT_OK, "%s", mt_last_error());
    mg_path(to, "%s/to", scratch.path);
    mg_path(from, "%s/from", scratch.path);
    cr_assert_eq(mg_folder(to, false), MT_OK);
    cr_assert_eq(mg_folder(from, false), MT_OK);
}

static void stop(void)
{
    mg_scratch_close(&scratch);
    cr_expect_neq(access(scratch.path, F_OK), 0, "the scratch folder is still there");
}

TestSuite(submission, .init = start, .fini = stop);

static void put(const char *name, const char *text)
{
    char path[PATH_MAX];
    mg_path(path, "%s/%s", from, name);
    cr_assert_eq(mg_write_file(path, text, strlen(text)), MT_OK, "%s", mt_last_error());
}

static void expect_taken(const char *name, const char *text)
{
    char path[PATH_MAX], got[64] = "";
    struct stat st;
    mg_path(path, "%s/%s", to, name);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s was not taken", name);
    got[fread(got, 1, sizeof got - 1, file)] = 0;
    fclose(file);
    cr_expect_str_eq(got, text);
    cr_expect(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
}

static void clear(void)
{
    char path[PATH_MAX];
    for (int i = 0; i < info.units; i++) {
        mg_path(path, "%s/%s", to, info.unit[i]);
        unlink(path);
    }
}

static mt_status collect(const char *where)
{
    clear();
    return mg_submission_collect(to, where, &info, ignored, sizeof ignored);
}

Test(submission, a_folder_gives_its_units_only)
{
    put("matmul.c", "one");
    put("pack.c", "two");
    put("Makefile", "all:");
    put("matmul.h", "evil");
    cr_assert_eq(collect(from), MT_OK, "%s", mt_last_error());
    expect_taken("matmul.c", "one");
    expect_taken("pack.c", "two");
    cr_expect(strstr(ignored, "Makefile (not a unit)") && strstr(ignored, "matmul.h (not a unit)"), "%s", ignored);
}

Test(submission, handout_answers_and_pictures_are_not_reported)
{
    char path[PATH_MAX];
    put("matmul.c", "one");
    put("README.md", "the handout");
    put("ANSWERS.md", "for instructors");
    mg_path(path, "%s/images", from);
    cr_assert_eq(mkdir(path, 0755), 0);
    cr_assert_eq(collect(from), MT_OK, "%s", mt_last_error());
    cr_expect_str_eq(ignored, "");
}

Test(submission, units_of_labs_graded_along_are_no_surprise)
{
    static const mg_labinfo earlier = { .id = "00-tensors", .unit = { "view.c", "copy.c" }, .units = 2 };
    mg_labinfo later = info;
    mg_labinfo_expect(&later, &earlier);
    put("matmul.c", "one");
    put("pack.c", "two");
    put("view.c", "of lab 00");
    put("viewer.c", "of nobody");
    cr_assert_eq(mg_submission_collect(to, from, &later, ignored, sizeof ignored), MT_OK, "%s", mt_last_error());
    cr_expect_str_eq(ignored, "viewer.c (not a unit)");
    cr_assert_eq(collect(from), MT_OK, "%s", mt_last_error());
    cr_expect(strstr(ignored, "view.c (not a unit)"), "without that lab: %s", ignored);
}

Test(submission, a_symbolic_link_in_a_folder_is_not_followed)
{
    char path[PATH_MAX];
    mg_path(path, "%s/matmul.c", from);
    cr_assert_eq(symlink("/etc/passwd", path), 0);
    cr_expect_eq(collect(from), MT_ERR_ARGUMENT);
    cr_expect(strstr(mt_last_error(), "no usable matmul.c") && strstr(mt_last_error(), "symbolic link"), "%s",
              mt_last_error());
}

Test(submission, a_pipe_a_folder_and_a_huge_file_are_refused)
{
    char path[PATH_MAX];
    mg_path(path, "%s/matmul.c", from);
    cr_assert_eq(mkfifo(path, 0644), 0);
    cr_expect_eq(collect(from), MT_ERR_ARGUMENT);
    cr_expect(strstr(ignored, "matmul.c (not a regular file)"), "%s", ignored);
    unlink(path);
    cr_assert_eq(mkdir(path, 0755), 0);
    cr_expect_eq(collect(from), MT_ERR_ARGUMENT);
    rmdir(path);
    put("matmul.c", "one");
    cr_assert_eq(truncate(path, MG_UNIT_BYTES + 1), 0);
    cr_expect_eq(collect(from), MT_ERR_ARGUMENT);
    cr_expect(strstr(ignored, "matmul.c (too large)"), "%s", ignored);
}

Test(submission, one_unit_of_two_is_enough)
{
    put("pack.c", "two");
    cr_expect_eq(collect(from), MT_OK, "the build names the other one");
}

Test(submission, what_is_not_there_is_one_line)
{
    mg_path(from, "%s/nowhere", scratch.path);
    cr_expect_eq(collect(from), MT_ERR_ARGUMENT);
    cr_expect(strstr(mt_last_error(), "nowhere: No such file"), "%s", mt_last_error());
}

/* ---- archives ------------------------------------------------------------------------------- */

typedef struct entry {
    const char *path, *text;
    int type;           /* AE_IFREG, ... */
    const char *target; /* of a hard link; of a symbolic one */
} entry;

static void pack(const char *name, bool zip, const entry *list, int64_t count)
{
    struct archive *a = archive_write_new();
    if (zip) {
        archive_write_set_format_zip(a);
    } else {
        archive_write_set_format_pax_restricted(a);
        archive_write_add_filter_gzip(a);
    }
    mg_path(from, "%s/%s", scratch.path, name);
    cr_assert_eq(archive_write_open_filename(a, from), ARCHIVE_OK);
    for (int64_t i = 0; i < count; i++) {
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, list[i].path);
        archive_entry_set_filetype(e, (unsigned)list[i].type);
        archive_entry_set_perm(e, 0644);
        if (list[i].target && list[i].type == AE_IFLNK)
            archive_entry_set_symlink(e, list[i].target);
        else if (list[i].target)
            archive_entry_set_hardlink(e, list[i].target);
        else
            archive_entry_set_size(e, list[i].text ? (int64_t)strlen(list[i].text) : 0);
        cr_assert_eq(archive_write_header(a, e), ARCHIVE_OK, "%s", archive_error_string(a));
        if (list[i].text)
            archive_write_data(a, list[i].text, strlen(list[i].text));
        archive_entry_free(e);
    }
    cr_assert_eq(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
}

static const entry honest[] = {
    { "ada/", NULL, AE_IFDIR, NULL },
    { "ada/README.md", "me", AE_IFREG, NULL },
    { "ada/matmul.c", "one", AE_IFREG, NULL },
    { "ada/pack.c", "two", AE_IFREG, NULL },
};

Test(submission, tar_and_zip_with_a_folder_inside)
{
    for (int zip = 0; zip < 2; zip++) {
        pack(zip ? "s.zip" : "s.tar.gz", zip, honest, MT_COUNT(honest));
        cr_assert_eq(collect(from), MT_OK, "%s", mt_last_error());
        expect_taken("matmul.c", "one");
        expect_taken("pack.c", "two");
        cr_expect(strstr(ignored, "ada/README.md (not a unit)"), "%s", ignored);
    }
}

/* As tar (pax and old), and zip, make them, in UTF-8 and in Latin-1. */
static const char make_named[] =
    "import sys, tarfile, zipfile, io\n"
    "where, kind = sys.argv[1:]\n"
    "names = ['J\u00fcrgen \u8cc7\u6599/matmul.c', 'J\u00fcrgen \u8cc7\u6599/\u0444.txt', 'J\u00fcrgen "
    "\u8cc7\u6599/pack.c']\n"
    "if kind == 'latin': names = [n.replace('\u8cc7\u6599', 'x').replace('\u0444', '\u00e9') for n in names]\n"
    "if kind == 'zip':\n"
    "    with zipfile.ZipFile(where, 'w') as z: [z.writestr(n, n[-4:]) for n in names]\n"
    "else:\n"
    "    form = tarfile.PAX_FORMAT if kind == 'pax' else tarfile.GNU_FORMAT\n"
    "    with tarfile.open(where, 'w', format=form, encoding='latin-1' if kind == 'latin' else 'utf-8') as t:\n"
    "        for n in names:\n"
    "            i = tarfile.TarInfo(n); i.size = 4; t.addfile(i, io.BytesIO(n[-4:].encode('latin-1')))\n";

Test(submission, names_in_any_alphabet)
{
    static const char *const kinds[] = { "pax", "gnu", "latin", "zip" };
    char command[8192];
    for (int i = 0; i < MT_COUNT(kinds); i++) {
        mg_path(from, "%s/%s.archive", scratch.path, kinds[i]);
        snprintf(command, sizeof command, "/usr/bin/python3 - %s %s <<'E'\n%s\nE\n", from, kinds[i], make_named);
        cr_assert_eq(system(command), 0);
        cr_assert_eq(collect(from), MT_OK, "%s: %s", kinds[i], mt_last_error());
        expect_taken("matmul.c", "ul.c");
        expect_taken("pack.c", "ck.c");
        cr_expect(strstr(ignored, "txt (not a unit)"), "%s: %s", kinds[i], ignored);
    }
}

Test(submission, units_of_labs_graded_along_are_no_surprise_in_an_archive)
{
    static const mg_labinfo earlier = { .id = "00-tensors", .unit = { "view.c" }, .units = 1 };
    mg_labinfo later = info;
    const entry list[] = { { "labs/01-matmul/matmul.c", "one", AE_IFREG, NULL },
                           { "labs/01-matmul/pack.c", "two", AE_IFREG, NULL },
                           { "labs/00-tensors/view.c", "of lab 00", AE_IFREG, NULL },
                           { "elsewhere/view.c", NULL, AE_IFLNK, "/etc/passwd" } };
    mg_labinfo_expect(&later, &earlier);
    pack("s.tar.gz", false, list, MT_COUNT(list));
    cr_assert_eq(mg_submission_collect(to, from, &later, ignored, sizeof ignored), MT_OK, "%s", mt_last_error());
    cr_expect_str_eq(ignored, "elsewhere/view.c (a symbolic link)");
}

Test(submission, the_place_in_the_repository_counts_too)
{
    static const entry list[] = { { "me/minitorch/labs/01-matmul/matmul.c", "one", AE_IFREG, NULL },
                                  { "./pack.c", "two", AE_IFREG, NULL },
                                  { "me/minitorch/solutions/01-matmul/pack.c", "no", AE_IFREG, NULL } };
    pack("s.tar.gz", false, list, MT_COUNT(list));
    cr_assert_eq(collect(from), MT_OK, "%s", mt_last_error());
    expect_taken("matmul.c", "one");
    expect_taken("pack.c", "two");
}

Test(submission, hostile_entries_are_named_and_left)
{
    static const entry list[] = {
        { "matmul.c", NULL, AE_IFLNK, "/etc/passwd" },
        { "../../matmul.c", "up", AE_IFREG, NULL },
        { "/tmp/matmul.c", "root", AE_IFREG, NULL },
        { "a/matmul.c", NULL, AE_IFREG, "pack.c" },
        { "pack.c", NULL, AE_IFCHR, NULL },
        { "b/matmul.c", "one", AE_IFREG, NULL },
        { "b/pack.c", "two", AE_IFREG, NULL },
        { "c/pack.c", "three", AE_IFREG, NULL },
        { "b/\033[31mred", "x", AE_IFREG, NULL },
    };
    static const char *const words[] = { "matmul.c (a symbolic link)",  "leaves the archive",       "a hard link",
                                         "pack.c (not a regular file)", "c/pack.c (a second copy)", "b/?[31mred" };
    pack("s.tar.gz", false, list, MT_COUNT(list));
    cr_assert_eq(collect(from), MT_OK, "%s", mt_last_error());
    expect_taken("matmul.c", "one");
    expect_taken("pack.c", "two");
    for (int64_t i = 0; i < MT_COUNT(words); i++)
        cr_expect(strstr(ignored, words[i]), "\"%s\" is not in \"%s\"", words[i], ignored);
}

Test(submission, a_bomb_and_rubbish_are_refused_quickly)
{
    char *zeros = calloc(1, 80 << 20), command[3 * PATH_MAX];
    memset(zeros, 'x', (80 << 20) - 1);
    const entry bomb[] = { { "matmul.c", zeros, AE_IFREG, NULL }, { "pack.c", "two", AE_IFREG, NULL } };
    pack("bomb.tar.gz", false, bomb, MT_COUNT(bomb));
    free(zeros);
    cr_assert_eq(collect(from), MT_OK, "%s", mt_last_error());
    cr_expect(strstr(ignored, "matmul.c (too large)"), "%s", ignored);
    expect_taken("pack.c", "two");
    snprintf(command, sizeof command, "head -c 5000 %s > %s/cut.tar.gz; head -c 9000 /dev/urandom > %s/noise", from,
             scratch.path, scratch.path);
    cr_assert_eq(system(command), 0);
    mg_path(from, "%s/cut.tar.gz", scratch.path);
    cr_expect_neq(collect(from), MT_OK);
    mg_path(from, "%s/noise", scratch.path);
    cr_expect_neq(collect(from), MT_OK);
    cr_expect(strstr(mt_last_error(), "not a tar or zip archive"), "%s", mt_last_error());
}

Test(submission, units_behind_a_huge_file)
{
    char command[3 * PATH_MAX];
    mg_path(from, "%s/s.gz", scratch.path);
    snprintf(command, sizeof command, "cd %s && truncate -s 300M a && echo >pack.c && tar czf %s a pack.c", to, from);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(collect(from), MT_OK, "%s", mt_last_error());
    expect_taken("pack.c", "\n");
    cr_expect_str_eq(ignored, "a (not a unit)");
}

/* ---- usual forms -------------------------------------------------------------------------------------- */

/* Paths in a submission: '1' marks the file that is matmul.c, '2' the one that is pack.c, 'x' any other. */
static const char *const forms[][5] = {
    { "1submission/src/matmul.c", "2submission/src/pack.c" },
    { "1a/b/c/d/matmul.c", "2e/f/pack.c" },
    { "1Matmul.C", "2PACK.c" },
    { "1hw\\src\\matmul.c", "2hw\\src\\pack.c" },
    { "1LABS/01-Matmul/matmul.c", "2LABS/01-Matmul/pack.c", "xold/matmul.c", "xpack.c" },
    { "xold/a/matmul.c", "1matmul.c", "2src/pack.c", "xsrc/old/pack.c" },
    { "xMATMUL.C", "1matmul.c", "2pack.c" },
    { "1hw/matmul.c", "2hw/pack.c", "x__MACOSX/hw/._matmul.c", "x__MACOSX/hw/matmul.c", "xhw/.matmul.c" },
    { "1hw/matmul.c", "2hw/pack.c", "xhw/Thumbs.db", "xhw/desktop.ini", "xhw/.DS_Store" },
};

static void expect_form(int form, const char *how)
{
    cr_assert_eq(collect(from), MT_OK, "%s %d: %s", how, form, mt_last_error());
    expect_taken("matmul.c", "1");
    expect_taken("pack.c", "2");
    cr_expect(!strstr(ignored, "MACOS") && !strstr(ignored, "Thumbs") && !strstr(ignored, "desktop"), "%s", ignored);
}

Test(submission, units_may_lie_anywhere)
{
    for (int f = 0; f < MT_COUNT(forms); f++) {
        entry list[5];
        char text[5][2], path[PATH_MAX];
        int count = 0;
        for (; count < 5 && forms[f][count]; count++) {
            snprintf(text[count], 2, "%s", forms[f][count]);
            list[count] = (entry){ forms[f][count] + 1, text[count], AE_IFREG, NULL };
        }
        for (int zip = 0; zip < 2; zip++) {
            pack(zip ? "s.zip" : "s.tar.gz", zip, list, count);
            expect_form(f, zip ? "zip" : "tar");
        }
        mg_path(from, "%s/folder%d", scratch.path, f);
        for (int i = 0; i < count; i++) {
            mg_path(path, "%s/%s", from, list[i].path);
            *strrchr(path, '/') = 0;
            cr_assert_eq(mg_folder(path, false), MT_OK);
            put(list[i].path, text[i]);
        }
        expect_form(f, "folder");
    }
}

Test(submission, an_archive_in_an_archive)
{
    char text[4096];
    pack("inner.zip", true, honest, MT_COUNT(honest));
    FILE *file = fopen(from, "r");
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    cr_assert(size > 0 && size < sizeof text);
    for (int deep = 1; deep < 3; deep++) { /* one in one is taken; a third is named */
        char command[4 * PATH_MAX], inner[64];
        snprintf(inner, sizeof inner, deep == 1 ? "inner.zip" : "outer1.tar.gz");
        snprintf(command, sizeof command, "cd '%s' && mkdir -p hw && cp %s hw && tar czf outer%d.tar.gz hw && rm -r hw",
                 scratch.path, inner, deep);
        cr_assert_eq(system(command), 0);
        mg_path(from, "%s/outer%d.tar.gz", scratch.path, deep);
        if (deep == 2) {
            cr_expect_eq(collect(from), MT_ERR_ARGUMENT);
            cr_expect(strstr(mt_last_error(), "inner.zip (an archive in an archive in an archive)"), "%s",
                      mt_last_error());
        } else {
            cr_assert_eq(collect(from), MT_OK, "%s", mt_last_error());
            expect_taken("matmul.c", "one");
            expect_taken("pack.c", "two");
        }
    }
}

Test(submission, a_text_in_utf_16_is_said)
{
    static const char little[] = "\xff\xfei\0n\0t\0", bare[] = "i\0n\0t\0 \0";
    char path[PATH_MAX];
    mg_path(path, "%s/matmul.c", from);
    cr_assert_eq(mg_write_file(path, little, sizeof little), MT_OK);
    mg_path(path, "%s/pack.c", from);
    cr_assert_eq(mg_write_file(path, bare, sizeof bare), MT_OK);
    cr_expect_eq(collect(from), MT_ERR_ARGUMENT);
    cr_expect(strstr(mt_last_error(), "matmul.c (UTF-16 text: save it as UTF-8), pack.c (UTF-16"), "%s",
              mt_last_error());
}
