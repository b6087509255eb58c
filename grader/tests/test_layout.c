/* test_layout.c -- exports of learning management systems: whose a file is, and where in it the units are. */
#include "batch/layout.h"
#include "sandbox/scratch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mg_scratch scratch;
static char top[PATH_MAX], to[PATH_MAX], ignored[512];
static mg_class class;
static const mg_labinfo info = { .id = "01-matmul", .unit = { "loops.c", "matmul.c" }, .units = 2 };

static void start(void)
{
    cr_assert_eq(mg_scratch_open(&scratch), MT_OK, "%s", mt_last_error());
    mg_path(top, "%s/class", scratch.path);
    mg_path(to, "%s/units", scratch.path);
    cr_assert_eq(mg_folder(top, false), MT_OK);
}

static void stop(void)
{
    mg_class_free(&class);
    mg_scratch_close(&scratch);
}

TestSuite(layout, .init = start, .fini = stop);

/* A file below the class's folder, with the folders that it needs; NULL: a folder. */
static void put(const char *name, const char *text)
{
    char path[PATH_MAX], folder[PATH_MAX];
    mg_path(path, "%s/%s", top, name);
    mg_path(folder, "%.*s", (int)(text ? strrchr(path, '/') - path : (long)strlen(path)), path);
    cr_assert_eq(mg_folder(folder, false), MT_OK, "%s", mt_last_error());
    if (text)
        cr_assert_eq(mg_write_file(path, text, strlen(text)), MT_OK, "%s", mt_last_error());
}

static mg_handin *find(const char *key)
{
    if (!class.handin)
        cr_assert_eq(mg_class_read(&class, top), MT_OK, "%s", mt_last_error());
    for (int64_t i = 0; i < class.count; i++)
        if (strcmp(class.handin[i].key, key) == 0)
            return &class.handin[i];
    cr_assert_fail("no submission %s among %lld, the first is %s", key, (long long)class.count, class.handin[0].key);
    return NULL;
}

static void expect_student(const char *key, const char *name, const char *id, mg_system system)
{
    const mg_handin *h = find(key);
    cr_expect_str_eq(h->student[0].name, name);
    cr_expect_str_eq(h->student[0].id, id);
    cr_expect_eq(h->system, system, "%s: %s", key, mg_system_name(h->system));
}

/* The units that a submission gives: their texts, "" for none. */
static mt_status unpack(const char *key, const char *loops, const char *matmul, uint64_t *digest)
{
    const char *const wanted[] = { loops, matmul };
    char path[PATH_MAX], got[64];
    cr_assert_eq(mg_folder(to, false), MT_OK);
    mt_status status = mg_handin_unpack(to, &class, find(key), &info, ignored, sizeof ignored, digest);
    for (int i = 0; i < info.units; i++) {
        mg_path(path, "%s/%s", to, info.unit[i]);
        FILE *file = fopen(path, "r");
        got[file ? fread(got, 1, sizeof got - 1, file) : 0] = 0;
        if (file)
            fclose(file);
        unlink(path);
        cr_expect_str_eq(got, wanted[i], "%s of %s is \"%s\"", info.unit[i], key, got);
    }
    return status;
}

static void expect_units(const char *key, const char *loops, const char *matmul)
{
    uint64_t digest;
    cr_expect_eq(unpack(key, loops, matmul, &digest), MT_OK, "%s: %s", key, mt_last_error());
}

static void expect_refused(const char *key, const char *words)
{
    uint64_t digest;
    cr_expect_neq(unpack(key, "", "", &digest), MT_OK);
    cr_expect(strstr(mt_last_error(), words), "%s: %s", key, mt_last_error());
}

Test(layout, plain_folders_and_archives_are_named_by_students)
{
    put("ada/loops.c", "a");
    put("Grace Hopper.tar.gz", "x");
    put("J\xc3\xbcrgen/matmul.c", "b");
    put("Zo\xeb/matmul.c", "c"); /* Latin-1 */
    put(".DS_Store", "no");
    put("Thumbs.db", "no");
    put("desktop.ini", "no");
    expect_student("ada", "ada", "", MG_NONE);
    expect_student("Grace Hopper.tar.gz", "Grace Hopper", "", MG_NONE);
    expect_student("J\xc3\xbcrgen", "J\xc3\xbcrgen", "", MG_NONE);
    expect_student("Zo\\xeb", "Zo\xc3\xab", "", MG_NONE);
    cr_expect_eq(class.count, 4);
    expect_units("ada", "a", "");
    expect_units("Zo\\xeb", "", "c");
}

Test(layout, names_that_steer_a_terminal_do_not)
{
    put("\033[31mred/loops.c", "a");
    expect_student("\\x1b[31mred", "\xef\xbf\xbd[31mred", "", MG_NONE);
    expect_units("\\x1b[31mred", "a", "");
}

Test(layout, canvas)
{
    put("lovelaceada_12_345_loops.c", "old");
    put("lovelaceada_12_350_loops-1.c", "new");
    put("lovelaceada_12_346_matmul.c", "m");
    put("hoppergrace_LATE_13_400_matmul.c", "g");
    put("hoppergrace_14_401_matmul.c", "another of that name");
    expect_student("lovelaceada_12", "lovelaceada", "12", MG_CANVAS);
    cr_expect_eq(find("lovelaceada_12")->pieces, 3);
    expect_units("lovelaceada_12", "new", "m");
    cr_expect(find("hoppergrace_13")->late && !find("hoppergrace_14")->late);
    expect_units("hoppergrace_13", "", "g");
    expect_units("hoppergrace_14", "", "another of that name");
}

/* The end of a name is the student's: it can look like a name of another system, with the number of somebody else. */
Test(layout, a_file_name_is_no_other_student)
{
    put("lovelaceada_12_345_matmul.c", "ada");
    put("mallorymal_15_402_x_12_assignsubmission_file_matmul.c", "mal");
    put("mallorymal_15_403_12_345_matmul.c", "mal");
    expect_student("mallorymal_15", "mallorymal", "15", MG_CANVAS);
    cr_expect_eq(class.count, 2);
    expect_units("lovelaceada_12", "", "ada");
}

Test(layout, a_name_in_moodle_is_none_of_canvas)
{
    put("Ada Lovelace_77_assignsubmission_file_matmul.c", "ada");
    put("Mal_77_1_ory_78_assignsubmission_file_matmul.c", "mal");
    expect_student("Mal_77_1_ory_78", "Mal_77_1_ory", "78", MG_MOODLE);
    cr_expect_eq(class.count, 2);
}

Test(layout, moodle)
{
    put("Ada_Maria Lovelace_77_assignsubmission_file_/loops.c", "a");
    put("Kurt G\xc3\xb6"
        "del_78_assignsubmission_file_matmul.c",
        "k");
    put("Kurt G\xc3\xb6"
        "del_79_assignsubmission_file_/hw/code/matmul.c",
        "deep");
    expect_student("Ada_Maria Lovelace_77", "Ada_Maria Lovelace", "77", MG_MOODLE);
    expect_units("Ada_Maria Lovelace_77", "a", "");
    expect_student("Kurt G\xc3\xb6"
                   "del_78",
                   "Kurt G\xc3\xb6"
                   "del",
                   "78", MG_MOODLE);
    expect_units("Kurt G\xc3\xb6"
                 "del_78",
                 "", "k");
    expect_units("Kurt G\xc3\xb6"
                 "del_79",
                 "", "deep");
}

static const char list[] = "---\n"
                           "submission_5:\n"
                           "  :submitters:\n"
                           "  - :name: Ada Lovelace\n"
                           "    :sid: '042'\n"
                           "    :email: ada@example.org\n"
                           "  - :name: \"Conor O'Brien\"\n"
                           "    :sid: \n"
                           "  :created_at: 2026-11-20 18:30:00.123456000 Z\n"
                           "  :history:\n"
                           "  - :id: 4\n"
                           "    :name: not a student\n"
                           "submission_6:\n"
                           "  :submitters:\n"
                           "  - :name: 'Miles O''Brien'\n"
                           "  :created_at: 2026-11-20 10:30:00 -08:00\n";

Test(layout, gradescope)
{
    put("submission_metadata.yml", list);
    put("submission_5/matmul.c", "m");
    put("submission_9/loops.c", "not in the list");
    expect_student("submission_5", "Ada Lovelace", "042", MG_GRADESCOPE);
    cr_expect_eq(find("submission_5")->students, 2);
    cr_expect_str_eq(find("submission_5")->student[1].name, "Conor O'Brien");
    cr_expect_str_eq(find("submission_5")->student[1].id, "");
    cr_expect_str_eq(find("submission_6")->student[0].name, "Miles O'Brien");
    cr_expect_eq(find("submission_5")->when, find("submission_6")->when, "18:30 in UTC both");
    cr_expect_eq(find("submission_5")->when, 1795199400);
    expect_units("submission_5", "", "m");
    expect_units("submission_9", "not in the list", "");
    expect_refused("submission_6", "its folder is missing");
}

Test(layout, units_below_several_folders)
{
    put("deep/docs/notes.txt", "x");
    put("deep/submission/src/loops.c", "a");
    put("deep/submission/src/MATMUL.C", "b");
    put("mac/__MACOSX/hw/._loops.c", "x");
    put("mac/hw/loops.c", "c");
    expect_units("deep", "a", "b");
    expect_units("mac", "c", "");
}

Test(layout, what_cannot_be_used_says_why)
{
    char path[PATH_MAX];
    put("empty", NULL);
    put("essay.pdf", "%PDF");
    put("noise.zip", "no zip");
    put("two/a.zip", "x");
    put("two/b.tar", "x");
    mg_path(path, "%s/link", top);
    cr_assert_eq(symlink("/etc", path), 0);
    mg_path(path, "%s/pipe", top);
    cr_assert_eq(mkfifo(path, 0600), 0);
    put("linked/hw", NULL);
    mg_path(path, "%s/linked/hw/loops.c", top);
    cr_assert_eq(symlink("/etc/passwd", path), 0);
    expect_refused("empty", "no usable loops.c");
    expect_refused("essay.pdf", "neither a unit nor a tar or zip archive");
    expect_refused("noise.zip", "not a tar or zip archive");
    expect_refused("two", "several archives (");
    expect_refused("link", "a symbolic link");
    expect_refused("pipe", "not a regular file");
    expect_refused("linked", "loops.c (a symbolic link)");
}

Test(layout, the_digest_is_that_of_the_units)
{
    uint64_t a, b, c;
    put("a/loops.c", "same");
    put("b/inner/loops.c", "same");
    put("b/inner/README", "and a remark");
    put("c/loops.c", "other");
    cr_assert_eq(unpack("a", "same", "", &a), MT_OK);
    cr_assert_eq(unpack("b", "same", "", &b), MT_OK);
    cr_assert_eq(unpack("c", "other", "", &c), MT_OK);
    cr_expect(a == b && a != c);
}

Test(layout, a_folder_that_is_none)
{
    mg_class other;
    cr_expect_eq(mg_class_read(&other, "/nowhere"), MT_ERR_ARGUMENT);
    cr_expect(strstr(mt_last_error(), "DIR=/nowhere: No such file"), "%s", mt_last_error());
    cr_expect_eq(mg_class_read(&other, top), MT_ERR_ARGUMENT);
    cr_expect(strstr(mt_last_error(), "nothing to grade"), "%s", mt_last_error());
}

Test(layout, lists_of_a_system_have_times)
{
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    put("Ada_7_assignsubmission_file_/loops.c", "ada");
    put("Bob_8_assignsubmission_file_/loops.c", "bob");
    put("worksheet.csv",
        "\xef\xbb\xbfIdentifier,\"Full name\",\"Email address\",\"Last modified (submission)\",Grade\r\n"
        "\"Participant 7\",Ada,a@x.org,\"Tuesday, 20 October 2026, 6:30 PM\",\r\n"
        "\"Participant 8\",Bob,b@x.org,-,\r\n");
    cr_expect_eq(find("Ada_7")->when, 1792513800); /* date -d 2026-10-20T18:30+02:00 +%s */
    cr_expect_str_eq(find("Ada_7")->student[0].email, "a@x.org");
    cr_expect_eq(find("Bob_8")->when, 0);
    cr_expect_eq(class.count, 2, "the list is no submission");
    mg_class_free(&class);
    put("worksheet.csv", "Identifier,Last modified (submission)\nParticipant 7,Dienstag\n");
    cr_expect_neq(mg_class_read(&class, top), MT_OK);
    cr_expect_not_null(strstr(mt_last_error(), "worksheet.csv:2: \"Dienstag\" is no time"), "%s", mt_last_error());
}

Test(layout, so_has_what_the_api_of_canvas_answers)
{
    put("adal_12_34_hw.zip", "no archive");
    put("submissions.json", "[{\"user_id\": 12, \"submitted_at\": \"2026-10-20T16:30:00Z\", \"late\": true},"
                            " {\"user_id\": 13, \"submitted_at\": null}]");
    cr_expect_eq(find("adal_12")->when, 1792513800);
    cr_expect(find("adal_12")->late);
    cr_expect_eq(class.count, 1);
    mg_class_free(&class);
    put("submissions.json", "{}");
    cr_expect_neq(mg_class_read(&class, top), MT_OK);
    cr_expect_not_null(strstr(mt_last_error(), "all pages as one list"), "%s", mt_last_error());
}

Test(layout, autolab)
{
    put("ada_l@example.org_2_handin.tar", "no archive");
    put("ada_l@example.org_10_loops.c", "new");
    put("ada_l@example.org_9_matmul.c", "old");
    expect_student("ada_l@example.org", "ada_l@example.org", "", MG_AUTOLAB);
    cr_expect_str_eq(find("ada_l@example.org")->student[0].email, "ada_l@example.org");
    cr_expect_eq(class.count, 1);
    expect_units("ada_l@example.org", "new", ""); /* a version is whole: nothing of an earlier one */
}

Test(layout, repositories_of_classroom_50)
{
    put("spring-matmul-ada/labs/01-matmul/loops.c", "ada");
    put("spring-matmul-x-ada/labs/01-matmul/loops.c", "x");
    put("spring-matmul-zoe-b/labs/01-matmul/loops.c", "zoe");
    put("scores.csv",
        "username,first_name,last_name,email,section,score,max_score,datetime,submission_tag,submitted_by,"
        "review_url,late,override\n"
        "x-ada,,,,,,,2026-10-20T16:30:00Z,,,,true,\n"
        "ada,Ada,Lovelace,a@x.org,,,,2026-10-20T18:30:00+02:00,,,,false,\n"
        "b,Bob,,,,,,,,,,,\n"
        "Zoe-B,Zoe,,,,,,,,,,,\n");
    expect_student("spring-matmul-ada", "Ada Lovelace", "ada", MG_CLASSROOM50);
    expect_student("spring-matmul-x-ada", "x-ada", "x-ada", MG_CLASSROOM50);
    expect_student("spring-matmul-zoe-b", "Zoe", "Zoe-B", MG_CLASSROOM50); /* not that of b, who has none */
    cr_expect_eq(find("spring-matmul-ada")->when, 1792513800);
    cr_expect(find("spring-matmul-x-ada")->late && !find("spring-matmul-ada")->late);
    cr_expect_eq(class.count, 3, "the list is no submission");
    expect_units("spring-matmul-x-ada", "x", "");
}
