/* test_blame.c -- a lab graded with the student's own earlier labs: which lab is reported for a row that fails.
 *
 * The toy's units here call twice() of lab 88 and half() of lab 89, both of which have a reference and a student's
 * unit. */
#include "toy.h"

#define UNIT "#include \"core/base.h\"\nfloat twice(float x);\nfloat half(float x);\n"
#define TOY  UNIT "void toy(float *out, const float *x, int64_t n)\n{ for (int64_t i = 0; i < n; i++) "
#define GOOD TOY "out[i] = twice(twice(half(x[i]))); }\n"

#define TWICE(body) "#include \"core/base.h\"\nfloat twice(float x) { " body " }\n"
#define HALF(body)  "#include \"core/base.h\"\nfloat half(float x) { " body " }\n"

static toy t;

static void open_all(void)
{
    toy_open(&t);
    toy_shell("cd %s && mkdir -p labs/88-twice labs/89-half build/units/88-twice build/units/89-half", t.root);
    toy_write(&t, "labs/88-twice/lab.json", "{ \"lab\": \"88-twice\", \"units\": [\"twice.c\"] }");
    toy_write(&t, "labs/89-half/lab.json", "{ \"lab\": \"89-half\", \"units\": [\"half.c\"] }");
    toy_write(&t, "twice.c", "float twice(float x) { return 2 * x; }\n");
    toy_write(&t, "half.c", "float half(float x) { return x / 2; }\n");
    toy_shell("cd %s && gcc -c twice.c -o build/units/88-twice/twice.o && gcc -c half.c -o build/units/89-half/half.o",
              t.root);
    toy_defined(&t);
}

static void close_all(void)
{
    toy_close(&t);
}

static mg_results grade(const char *toy_unit, const char *twice, const char *half, const char *mine)
{
    mg_results results;
    mg_options options = { .lab = &toy_lab, .root = t.root, .build = t.build, .step = "90.1", .mine = mine };
    toy_write(&t, "labs/90-toy/toy.c", toy_unit);
    toy_write(&t, "labs/88-twice/twice.c", twice);
    toy_write(&t, "labs/89-half/half.c", half);
    cr_assert_eq(mg_grade(&results, &options), MT_OK, "%s", mt_last_error());
    cr_assert_null(strstr(results.build_log, "error"), "%s", results.build_log);
    return results;
}

static void expect(mg_results r, mg_verdict verdict, const char *words)
{
    const mg_row *row = &r.rows[0];
    const char *said = verdict == MG_TODO ? row->note : row->hint;
    cr_expect_eq(row->verdict, verdict, "%s %s", mg_verdict_name(row->verdict), row->detail);
    cr_expect(words[0] ? strstr(said, words) != NULL : !strstr(said, "look there"), "\"%s\" is not in \"%s\"", words,
              said);
    cr_expect_eq(row->points, verdict == MG_PASS ? 3 : 0);
    mg_results_free(&r);
}

#define GOOD_TWICE TWICE("return 2 * x;")
#define GOOD_HALF  HALF("return x / 2;")

Test(blame, names_the_earlier_lab, .init = open_all, .fini = close_all, .timeout = 600)
{
    expect(grade(GOOD, GOOD_TWICE, GOOD_HALF, "88 89"), MG_PASS, "");
    expect(grade(GOOD, TWICE("return 3 * x;"), GOOD_HALF, NULL), MG_PASS, ""); /* not requested: the reference's */
    expect(grade(GOOD, TWICE("return 3 * x;"), GOOD_HALF, "88"), MG_FAIL, "passes with the reference's lab 88: look");
    expect(grade(GOOD, TWICE("return 3 * x;"), GOOD_HALF, "89,88 88"), MG_FAIL, "the reference's lab 88: look there");
    expect(grade(GOOD, GOOD_TWICE, HALF("__builtin_trap();"), "88 89"), MG_CRASH, "the reference's lab 89: look there");
    expect(grade(GOOD, GOOD_TWICE, HALF("MT_TODO(\"89.1\");"), "88 89"), MG_TODO, "the reference's lab 89: look there");
    expect(grade(GOOD, TWICE("return 3 * x;"), HALF("return x;"), "88 89"), MG_FAIL, "lab 88 89: look there");
    /* An error of the graded lab itself, independent of the earlier labs. */
    expect(grade(TOY "out[i] = 0; }", TWICE("return 3 * x;"), GOOD_HALF, "88 89"), MG_FAIL, "multiply by two");
    expect(grade(UNIT "void toy(float *out, const float *x, int64_t n) { if (n) MT_TODO(\"90.1\"); }", GOOD_TWICE,
                 HALF("return x;"), "88 89"),
           MG_TODO, "");
}
