/* rowverdict.c -- checks whether a grade rejects a mutant.
 *
 *   rowverdict results.json "02.6 softmax: large logits" ["words"]
 *
 * looks for rows of that step whose name holds the words after it (none: every row of the step) and prints the verdict
 * and the name of the first that is FAIL, CRASH or TIMEOUT, or of the first row when none is. TODO, an inconclusive
 * measurement and a unit that does not build do not count, and neither does a row without those words in its text.
 * Exit status: 0 caught, 1 not caught or no such row, 2 no results. */
#include "json.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *read_json(const char *path)
{
    char *text = mg_read_text(path);
    cJSON *root = text ? cJSON_Parse(text) : NULL;
    if (!root) {
        fprintf(stderr, "rowverdict: %s: %s\n", path, !text ? strerror(errno) : text[0] ? "not JSON" : "empty");
        exit(2);
    }
    free(text);
    return root;
}

static bool caught(const char *verdict)
{
    return strcmp(verdict, "FAIL") == 0 || strcmp(verdict, "CRASH") == 0 || strcmp(verdict, "TIMEOUT") == 0;
}

/* Whether `wanted`, "02.6 softmax: large logits", means this test. */
static bool means(const char *wanted, const cJSON *test)
{
    size_t step = strcspn(wanted, " ");
    const char *number = mg_json_string(test, "number"), *words = wanted + step + strspn(wanted + step, " ");
    return strlen(number) == step && strncmp(number, wanted, step) == 0 && strstr(mg_json_string(test, "name"), words);
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
        if (means(argv[2], test) && (!found || (caught(mg_json_verdict(test)) && !caught(mg_json_verdict(found)))))
            found = test;
    }
    /* A unit that does not build fails every row that calls it. */
    const char *said = found ? mg_json_string(found, "output") : "";
    bool unbuilt = strstr(said, "does not build") || strstr(said, "do not build together");
    if (unbuilt)
        printf("it does not build\n");
    else if (found)
        printf("%s  %s %s\n", mg_json_verdict(found), mg_json_string(found, "number"), mg_json_string(found, "name"));
    else
        printf("no row is called \"%s\"\n", argv[2]);
    bool yes = found && !unbuilt && caught(mg_json_verdict(found));
    if (yes && argc == 4 && !strstr(said, argv[3])) {
        printf("  it does not say \"%s\", but:\n%s\n", argv[3], said);
        yes = false;
    }
    cJSON_Delete(root);
    return yes ? 0 : 1;
}
