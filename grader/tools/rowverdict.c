/* rowverdict.c -- checks whether a grade rejects a mutant.
 *
 *   rowverdict results.json "02.6 softmax: large logits" ["words"]
 *
 * looks for rows of that step whose name holds the words after it (none: every row of the step) and prints the verdict
 * and the name of the first that is FAIL, CRASH or TIMEOUT, or of the first row when none is. TODO, an inconclusive
 * measurement and a unit that does not build do not count, and neither does a row without those words in its text.
 * Exit status: 0 caught, 1 not caught or no such row, 2 no results. */
#include "core/base.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *read_json(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (!file || getdelim(&text, &room, '\0', file) < 0) {
        fprintf(stderr, "rowverdict: %s: %s\n", path, file ? "empty" : strerror(errno));
        exit(2);
    }
    fclose(file);
    cJSON *root = cJSON_Parse(text);
    if (!root) {
        fprintf(stderr, "rowverdict: %s: not JSON\n", path);
        exit(2);
    }
    free(text);
    return root;
}

static const char *string_of(const cJSON *object, const char *key)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return value ? value : "";
}

static const char *verdict_of(const cJSON *test)
{
    return string_of(cJSON_GetObjectItemCaseSensitive(test, "extra_data"), "verdict");
}

static bool caught(const char *verdict)
{
    return strcmp(verdict, "FAIL") == 0 || strcmp(verdict, "CRASH") == 0 || strcmp(verdict, "TIMEOUT") == 0;
}

/* Whether `wanted`, "02.6 softmax: large logits", means this test. */
static bool means(const char *wanted, const cJSON *test)
{
    size_t step = strcspn(wanted, " ");
    const char *number = string_of(test, "number"), *words = wanted + step + strspn(wanted + step, " ");
    return strlen(number) == step && strncmp(number, wanted, step) == 0 && strstr(string_of(test, "name"), words);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: rowverdict results.json \"02.6 softmax: large logits\" [\"words\"]\n");
        return 2;
    }
    cJSON *root = read_json(argv[1]);
    const cJSON *test, *found = NULL;
    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(root, "tests"))
    {
        if (means(argv[2], test) && (!found || (caught(verdict_of(test)) && !caught(verdict_of(found)))))
            found = test;
    }
    /* A unit that does not build fails every row that calls it. */
    const char *said = found ? string_of(found, "output") : "";
    bool unbuilt = strstr(said, "does not build") || strstr(said, "do not build together");
    if (unbuilt)
        printf("it does not build\n");
    else if (found)
        printf("%s  %s %s\n", verdict_of(found), string_of(found, "number"), string_of(found, "name"));
    else
        printf("no row is called \"%s\"\n", argv[2]);
    bool yes = found && !unbuilt && caught(verdict_of(found));
    if (yes && argc == 4 && !strstr(said, argv[3])) {
        printf("  it does not say \"%s\", but:\n%s\n", argv[3], said);
        yes = false;
    }
    cJSON_Delete(root);
    return yes ? 0 : 1;
}
