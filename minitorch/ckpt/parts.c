/* parts.c -- what every file of a checkpoint has: a path, bytes that are counted and summed, a name without a path. */
#include "ckpt/crc32c.h"
#include "ckpt/manifest.h"
#include "ckpt/checkpoint.h"
#include "core/io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void mt_part_put(mt_part *part, const void *data, int64_t bytes)
{
    fwrite(data, 1, (size_t)bytes, part->out);
    part->crc32c = mt_crc32c(part->crc32c, data, bytes);
    part->bytes += bytes;
}

bool mt_part_name_ok(const char *name)
{
    size_t plain = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
    return *name && *name != '.' && !name[plain] && plain < MT_PART_NAME && strcmp(name, MT_MANIFEST) != 0;
}

void mt_checkpoint_path(char *out, const char *dir, int64_t step)
{
    int length = snprintf(out, MT_PATH_SIZE, "%s/step-%" PRId64, dir, step);
    MT_CHECK(length < MT_PATH_SIZE, "%.100s...: the path is too long", dir);
}

/* ---- folders --------------------------------------------------------------------------------------------- */

/* The number of "step-500"; -1: another name, also "step-007". */
static int64_t step_of(const char *name)
{
    const char *digits = name + 5;
    if (strncmp(name, "step-", 5) != 0 || !*digits || strlen(digits) > 18 || digits[strspn(digits, "0123456789")] ||
        (*digits == '0' && digits[1]))
        return -1;
    return strtoll(digits, NULL, 10);
}

static int newest_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

mt_status mt_checkpoint_steps(int64_t **steps, int64_t *count, const char *dir)
{
    mt_names names;
    MT_TRY(mt_names_of(&names, dir));
    *steps = mt_realloc(NULL, names.count + 1, sizeof **steps);
    *count = 0;
    for (int64_t i = 0; i < names.count; i++)
        if (step_of(names.name[i]) >= 0)
            (*steps)[(*count)++] = step_of(names.name[i]);
    qsort(*steps, (size_t)*count, sizeof **steps, newest_first);
    mt_names_free(&names);
    return MT_OK;
}
