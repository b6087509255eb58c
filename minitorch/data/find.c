/* find.c -- finding the files of datasets/fetch. */
#include "data/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void mt_data_find(char *out, const char *file, const char *standin)
{
    const char *root = getenv("MT_DATA");
    char second[MT_PATH];
    if (!root || !*root)
        root = "datasets/cache";
    snprintf(second, MT_PATH, "%s/%s", root, standin);
    snprintf(out, MT_PATH, "%s/%s", root, file);
    if (access(out, F_OK) < 0 && access(second, F_OK) == 0)
        snprintf(out, MT_PATH, "%s", second);
}
