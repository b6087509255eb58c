/* attacked.c -- checks the grade of an attack.
 *
 *   attacked 02.json EARNS VERDICT [ROW...]
 *
 * Good when the total is at most EARNS, some row has the verdict (or one of several: "CRASH|FAIL"), and no row whose
 * name holds one of the words ROW has any points. VERDICT PASS: all rows have it, because the unit is right if its
 * attempt is refused. Prints "CRASH 1/7" or the difference. Exit status: 0 good, 1 not, 2 no results. */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a verdict is among those wanted, "CRASH|FAIL". */
static bool among(const char *verdict, const char *wanted)
{
    size_t length = strlen(verdict);
    for (const char *p = wanted; *p; p += strcspn(p, "|"), p += *p == '|')
        if (strcspn(p, "|") == length && strncmp(p, verdict, length) == 0)
            return true;
    return false;
}

/* What a row has earned; of rows that are no grade the report has no score. */
static double points_of(const cJSON *test)
{
    return mg_json_number(cJSON_GetObjectItemCaseSensitive(test, "extra_data"), "points");
}

/* The rows called by one of the words: true when there are any and none has points. */
static bool stopped(const cJSON *tests, const char *word)
{
    const cJSON *test;
    int rows = 0;
    cJSON_ArrayForEach(test, tests)
    {
        if (!strstr(mg_json_string(test, "name"), word))
            continue;
        rows++;
        if (!(points_of(test) == 0)) {
            printf("%s, %g points for \"%s\"", mg_json_verdict(test), points_of(test), mg_json_string(test, "name"));
            return false;
        }
    }
    if (rows == 0)
        printf("no row is called \"%s\"", word);
    return rows > 0;
}

/* Rows of the other steps are in the report too. */
static bool is_graded(const cJSON *test)
{
    return !strstr(mg_json_string(test, "output"), "not graded yet");
}

static bool judge(const cJSON *root, double earns, const char *verdict, char **rows)
{
    const cJSON *tests = cJSON_GetObjectItemCaseSensitive(root, "tests"), *test;
    double score = 0, max = 0;
    bool harmless = strcmp(verdict, "PASS") == 0, seen = false, all = true;
    cJSON_ArrayForEach(test, tests)
    {
        if (!is_graded(test))
            continue;
        bool same = among(mg_json_verdict(test), verdict);
        seen = seen || same;
        all = all && same;
        score += points_of(test);
        max += mg_json_number(test, "max_score");
    }
    for (; *rows; rows++)
        if (!stopped(tests, *rows))
            return false;
    printf("%s %g/%g", seen ? verdict : "no", score, max);
    if (!seen)
        printf(" (wanted: a %s)", verdict);
    if (!(score <= earns))
        printf(" (at most: %g)", earns);
    if (harmless && !all)
        printf(" (wanted: nothing else)");
    return seen && score <= earns && (all || !harmless);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: attacked 02.json EARNS VERDICT [ROW...]\n");
        return 2;
    }
    cJSON *root = mg_json_read(argv[1]);
    if (!root) {
        printf("no results in %s", argv[1]);
        return 2;
    }
    bool good = judge(root, atof(argv[2]), argv[3], argv + 4);
    cJSON_Delete(root);
    return good ? 0 : 1;
}
