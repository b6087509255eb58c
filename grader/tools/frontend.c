/* frontend.c -- a grade, NN.json, in the formats of other programs, on standard output.
 *
 *   frontend autolab NN.json     one line for Autolab: points of each step, and all points for the scoreboard
 *   frontend junit NN.json       JUnit XML: a test case for each row
 *   frontend classroom50 NN.json...   result.json of Classroom 50, a test for each step of these labs; its runner's
 *                                variables CLASSROOM, ASSIGNMENT ..., and DATETIME, when the commit was made
 *
 * Results with rows that the grader could not run have no score, and are no grade: Autolab gets no scores, and records
 * none; Classroom 50, whose sum would lack a lab, gets nothing (status 1). JUnit has no points, but errors.
 *
 * Exit status: 0, 1 the file is not a grade, 2 usage. */
#include "json.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cJSON *get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static double number_of(const cJSON *object, const char *key)
{
    double value = mg_json_number(object, key);
    return isfinite(value) ? value : 0;
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* The points of a step: all rows with its number. */
typedef struct step {
    const char *number;
    double score, max;
} step;

enum { STEPS = 64, LABS = 32 };

static int find_steps(const cJSON *tests, step steps[STEPS])
{
    const cJSON *test;
    int count = 0;
    cJSON_ArrayForEach(test, tests)
    {
        const char *number = mg_json_string(test, "number");
        int i = 0;
        while (i < count && !is(steps[i].number, number))
            i++;
        if (i == STEPS)
            continue;
        if (i == count)
            steps[count++] = (step){ .number = number };
        steps[i].score += number_of(test, "score");
        steps[i].max += number_of(test, "max_score");
    }
    return count;
}

static cJSON *add(cJSON *object, const char *key, cJSON *item)
{
    MT_CHECK(item, "out of memory");
    if (key)
        cJSON_AddItemToObject(object, key, item);
    else
        cJSON_AddItemToArray(object, item);
    return item;
}

static void print(cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    MT_CHECK(text, "out of memory");
    puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
}

static bool is_graded(const cJSON *grade)
{
    return isfinite(mg_json_number(grade, "score"));
}

static bool put_autolab(cJSON *const *grades, int labs)
{
    const cJSON *grade = grades[0];
    if (!is_graded(grade)) {
        puts("{\"scores\": {}}");
        return true;
    }
    step steps[STEPS];
    int count = find_steps(get(grade, "tests"), steps);
    (void)labs;
    cJSON *json = cJSON_CreateObject(), *scores = add(json, "scores", cJSON_CreateObject());
    for (int i = 0; i < count; i++)
        add(scores, steps[i].number, cJSON_CreateNumber(steps[i].score));
    add(add(json, "scoreboard", cJSON_CreateArray()), NULL, cJSON_CreateNumber(number_of(grade, "score")));
    print(json);
    return true;
}

/* ---- Classroom 50 ----------------------------------------------------------------------------- */

/* Its points are whole numbers: hundredths of ours, never rounded up to what was not earned. */
static double hundredths(double points)
{
    return floor(100 * points + 1e-6);
}

static void add_score(cJSON *object, double score, double max)
{
    add(object, "score", cJSON_CreateNumber(score));
    add(object, "max-score", cJSON_CreateNumber(max));
}

/* A test for each step of a lab, appended to the list; its points are added to the sums. */
static void add_lab(cJSON *list, const cJSON *grade, double *score, double *max)
{
    step steps[STEPS];
    int count = find_steps(get(grade, "tests"), steps);
    for (int i = 0; i < count; i++) {
        cJSON *one = add(list, NULL, cJSON_CreateObject());
        double points = hundredths(steps[i].score), most = hundredths(steps[i].max);
        add(one, "test-name", cJSON_CreateString(steps[i].number));
        add(one, "passed", cJSON_CreateBool(points >= most));
        add_score(one, points, most);
        *score += points;
        *max += most;
    }
}

/* Schema: https://github.com/foundation50/classroom50/blob/main/wiki/Advanced-Autograding.md */
static bool put_classroom50(cJSON *const *grades, int count)
{
    static const char *const keys[][3] = { { "classroom", "CLASSROOM" },
                                           { "assignment", "ASSIGNMENT" },
                                           { "owner", "OWNER", "USERNAME" },
                                           { "submission", "SUBMISSION_TAG" },
                                           { "commit", "COMMIT_URL" },
                                           { "release", "RELEASE_URL" },
                                           { "review", "REVIEW_URL", "COMMIT_URL" },
                                           { "datetime", "DATETIME" } };
    double score = 0, max = 0;
    cJSON *json = cJSON_CreateObject(), *list = cJSON_CreateArray();
    add(json, "schema", cJSON_CreateString("classroom50/result/v1"));
    for (int64_t i = 0; i < MT_COUNT(keys); i++) {
        const char *value = getenv(keys[i][1]);
        if ((!value || !value[0]) && keys[i][2])
            value = getenv(keys[i][2]);
        if (!value || !value[0]) {
            fprintf(stderr, "frontend: the variable %s is not set: Classroom 50's runner sets it, or set it yourself\n",
                    keys[i][1]);
            cJSON_Delete(json);
            cJSON_Delete(list);
            return false;
        }
        add(json, keys[i][0], cJSON_CreateString(value));
    }
    for (int i = 0; i < count; i++)
        add_lab(list, grades[i], &score, &max);
    add_score(json, score, max);
    add(json, "tests", list);
    print(json);
    return true;
}

/* ---- JUnit ------------------------------------------------------------------------------------ */

/* Text that XML 1.0 allows: U+FFFE and U+FFFF are not characters. */
static void put_text(const char *text)
{
    char *plain = mg_plain(text);
    static const char *const entity[128] = {
        ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\n'] = "&#10;", ['\t'] = "&#9;"
    };
    for (const unsigned char *p = (const unsigned char *)plain; *p; p++) {
        if (p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe) {
            fputs("?", stdout);
            p += 2;
        } else if (*p < 128 && entity[*p]) {
            fputs(entity[*p], stdout);
        } else {
            putchar(*p);
        }
    }
    free(plain);
}

static void put_attribute(const char *name, const char *text)
{
    printf(" %s=\"", name);
    put_text(text);
    putchar('"');
}

/* The element of a verdict: NULL for a row that passes. */
static const char *element_of(const char *verdict)
{
    static const char *const elements[][2] = {
        { "PASS", NULL },        { "TODO", "skipped" },    { "INCONCLUSIVE", "skipped" },
        { "REVIEW", "skipped" }, { "SKIPPED", "skipped" }, { "FAIL", "failure" },
    };
    for (int64_t i = 0; i < MT_COUNT(elements); i++)
        if (is(verdict, elements[i][0]))
            return elements[i][1];
    return "error"; /* CRASH, TIMEOUT, ERROR */
}

static int count_of(const cJSON *tests, const char *element)
{
    const cJSON *test;
    int count = 0;
    cJSON_ArrayForEach(test, tests)
    {
        const char *its = element_of(mg_json_verdict(test));
        count += its && is(its, element);
    }
    return count;
}

static void put_case(const char *lab, const cJSON *test)
{
    char class[96];
    const char *verdict = mg_json_verdict(test), *element = element_of(verdict);
    snprintf(class, sizeof class, "%s.%s", lab, mg_json_string(test, "number"));
    fputs("    <testcase", stdout);
    put_attribute("classname", class);
    put_attribute("name", mg_json_string(test, "name"));
    if (!element) {
        puts("/>");
        return;
    }
    printf(">\n      <%s", element);
    put_attribute("message", verdict);
    if (!is(element, "skipped"))
        put_attribute("type", verdict);
    putchar('>');
    put_text(mg_json_string(test, "output"));
    printf("</%s>\n    </testcase>\n", element);
}

static bool put_junit(cJSON *const *grades, int labs)
{
    const cJSON *grade = grades[0];
    (void)labs;
    const cJSON *tests = get(grade, "tests"), *test;
    const char *lab = mg_json_string(get(grade, "extra_data"), "lab");
    puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>");
    fputs("  <testsuite", stdout);
    put_attribute("name", lab);
    printf(" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.3f\">\n", cJSON_GetArraySize(tests),
           count_of(tests, "failure"), count_of(tests, "error"), count_of(tests, "skipped"),
           number_of(grade, "execution_time"));
    cJSON_ArrayForEach(test, tests) put_case(lab, test);
    fputs("    <system-out>", stdout);
    put_text(mg_json_string(grade, "output"));
    puts("</system-out>\n  </testsuite>\n</testsuites>");
    return true;
}

static bool read_all(cJSON **grades, char **paths, int count, bool whole)
{
    for (int i = 0; i < count; i++) {
        grades[i] = mg_json_read(paths[i]);
        bool results = cJSON_IsArray(get(grades[i], "tests"));
        if (results && (!whole || is_graded(grades[i])))
            continue;
        fprintf(stderr, "frontend: %s is not a grade (%s)\n", paths[i],
                results ? "the grader could not run some rows: grade again" : "NN.json of grade --report");
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int most;   /* files */
        bool whole; /* all of them must be grades */
        bool (*put)(cJSON *const *grades, int labs);
    } formats[] = { { "autolab", 1, false, put_autolab },
                    { "junit", 1, false, put_junit },
                    { "classroom50", LABS, true, put_classroom50 } };
    static const char usage[] = "usage: frontend autolab|junit NN.json | frontend classroom50 NN.json...";
    cJSON *grades[LABS] = { NULL };
    int labs = argc - 2, code = 2;
    if (argc > 1 && is(argv[argc - 1], "--help"))
        return puts(usage) < 0;
    for (int64_t i = 0; labs > 0 && i < MT_COUNT(formats); i++)
        if (is(argv[1], formats[i].name) && labs <= formats[i].most) {
            code = read_all(grades, argv + 2, labs, formats[i].whole) ? 0 : 1;
            if (code == 0 && !formats[i].put(grades, labs))
                code = 1;
        }
    if (code == 2)
        fprintf(stderr, "%s\n", usage);
    for (int i = 0; i < LABS; i++)
        cJSON_Delete(grades[i]);
    return fflush(stdout) && code == 0 ? 1 : code;
}
