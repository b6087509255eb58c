/* find.c -- finding the files of datasets/fetch. */
#include "data/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

mt_status mt_data_map(mt_file_map *out, const char *file, const char *standin)
{
    char path[MT_PATH];
    mt_data_find(path, file, standin);
    mt_status status = mt_file_map_open(out, path);
    if (status == MT_OK)
        return MT_OK;
    return mt_fail(status, "%s\nrun datasets/fetch %.*s", mt_last_error(), (int)strcspn(file, "/"), file);
}
