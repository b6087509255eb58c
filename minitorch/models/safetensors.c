/* safetensors.c -- u64 n; n bytes of JSON, {"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, ...}; the numbers.
 * The header is read into a list of entries, each checked against the file and the others, before anything is copied. */
#include "models/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/io.h"

enum { NAME = 128, ENTRIES = 1 << 16 };

typedef struct entry {
    char name[NAME], dtype[8];
    int64_t shape[MT_MAX_RANK], rank, offset[2], offsets;
} entry;

typedef struct header {
    const char *at, *end, *begin;
    entry *entries;
    int64_t count;
} header;

/* ---- JSON, as much of it as these headers have ----------------------------------------------------------- */

static void skip_blanks(header *h)
{
    while (h->at < h->end && strchr(" \t\r\n", *h->at) && *h->at)
        h->at++;
}

static bool eat(header *h, char c)
{
    skip_blanks(h);
    if (h->at == h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

/* A string without escapes; what is longer than the buffer is refused. */
static bool string(header *h, char *to, int64_t room)
{
    int64_t n = 0;
    if (!eat(h, '"'))
        return false;
    for (; h->at < h->end && *h->at != '"'; h->at++) {
        if (n + 1 >= room || *h->at == '\\' || (unsigned char)*h->at < ' ')
            return false;
        to[n++] = *h->at;
    }
    to[n] = 0;
    return eat(h, '"');
}

static bool number(header *h, int64_t *to)
{
    int64_t digits = 0;
    for (*to = 0; h->at < h->end && *h->at >= '0' && *h->at <= '9' && digits < 16; digits++)
        *to = *to * 10 + (*h->at++ - '0');
    return digits > 0 && digits < 16;
}

static bool numbers(header *h, int64_t *to, int64_t most, int64_t *count)
{
    *count = 0;
    if (!eat(h, '['))
        return false;
    if (eat(h, ']'))
        return true;
    do {
        while (h->at < h->end && *h->at == ' ')
            h->at++;
        if (*count == most || !number(h, &to[(*count)++]))
            return false;
    } while (eat(h, ','));
    return eat(h, ']');
}

/* "key": value, ... } of one tensor; of __metadata__ all values are strings. */
static bool members(header *h, entry *e)
{
    char key[NAME], text[1024];
    if (!eat(h, '{'))
        return false;
    if (eat(h, '}'))
        return true;
    do {
        bool good = string(h, key, NAME) && eat(h, ':');
        if (good && strcmp(key, "dtype") == 0)
            good = string(h, e->dtype, sizeof e->dtype);
        else if (good && strcmp(key, "shape") == 0)
            good = numbers(h, e->shape, MT_MAX_RANK, &e->rank);
        else if (good && strcmp(key, "data_offsets") == 0)
            good = numbers(h, e->offset, 2, &e->offsets) && e->offsets == 2;
        else
            good = good && string(h, text, sizeof text);
        if (!good)
            return false;
    } while (eat(h, ','));
    return eat(h, '}');
}

static bool parse(header *h)
{
    if (!eat(h, '{'))
        return false;
    do {
        h->entries = realloc(h->entries, (size_t)(h->count + 1) * sizeof *h->entries);
        MT_CHECK(h->entries, "out of memory");
        entry *e = &h->entries[h->count];
        memset(e, 0, sizeof *e);
        if (h->count == ENTRIES || !string(h, e->name, NAME) || !eat(h, ':') || !members(h, e))
            return false;
        if (strcmp(e->name, "__metadata__") != 0)
            h->count++;
    } while (eat(h, ','));
    bool closed = eat(h, '}');
    skip_blanks(h); /* writers fill up with them */
    return closed && h->at == h->end;
}

/* ---- what it says, against the file ---------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->offset[0] > y->offset[0]) - (x->offset[0] < y->offset[0]);
}

static mt_status check_offsets(const header *h, const char *path, int64_t bytes)
{
    qsort(h->entries, (size_t)h->count, sizeof *h->entries, by_offset);
    int64_t before = 0;
    for (const entry *e = h->entries; e < h->entries + h->count; e++) {
        if (e->offsets != 2 || e->offset[0] < before || e->offset[1] < e->offset[0] || e->offset[1] > bytes)
            return mt_fail(MT_ERR_FORMAT, "%s: %s lies from %" PRId64 " to %" PRId64 ": over another, or outside", path,
                           e->name, e->offset[0], e->offset[1]);
        before = e->offset[1];
    }
    return MT_OK;
}

/* The entry of that name, with the prefix or without; *count: how many there are. */
static const entry *find(const header *h, const char *name, int *count)
{
    static const char prefix[] = "transformer.";
    const entry *found = NULL;
    *count = 0;
    for (const entry *e = h->entries; e < h->entries + h->count; e++) {
        bool longer = strncmp(e->name, prefix, sizeof prefix - 1) == 0;
        if (strcmp(e->name + (longer ? sizeof prefix - 1 : 0), name) == 0) {
            found = e;
            ++*count;
        }
    }
    return found;
}

/* Whether the entry holds this parameter: the same shape, or, of a table, fewer rows. */
static mt_status check_param(const header *h, const mt_state_item *p, const char *path, int64_t tokens)
{
    int count;
    const entry *e = find(h, p->name, &count);
    const mt_view *view = &p->tensor->view;
    if (count != 1)
        return mt_fail(MT_ERR_FORMAT, "%s: there is %s %s", path, count == 0 ? "no" : "more than one", p->name);
    bool good = strcmp(e->dtype, "F32") == 0 && e->rank == view->rank;
    int64_t bytes = sizeof(float);
    for (int d = 0; d < view->rank && good; d++) {
        int64_t most = view->shape[d], least = d == 0 && strcmp(p->name, "wte.weight") == 0 ? tokens : most;
        good = e->shape[d] >= least && e->shape[d] <= most;
        bytes *= e->shape[d];
    }
    if (!good || e->offset[1] - e->offset[0] != bytes)
        return mt_fail(MT_ERR_FORMAT, "%s: %s is not F32 %s", path, p->name, mt_shape_text(mt_view_shape(view)));
    return MT_OK;
}

static mt_status copy(mt_module *model, const header *h, const char *path, const uint8_t *data, int64_t tokens)
{
    mt_state params = mt_module_params(model);
    mt_status status = MT_OK;
    int count;
    for (int64_t i = 0; i < params.count && status == MT_OK; i++)
        status = check_param(h, &params.item[i], path, tokens);
    for (int64_t i = 0; i < params.count && status == MT_OK; i++) {
        const entry *e = find(h, params.item[i].name, &count);
        memcpy(mt_f32(params.item[i].tensor), data + e->offset[0], (size_t)(e->offset[1] - e->offset[0]));
        mt_written(params.item[i].tensor);
    }
    mt_state_free(&params);
    return status;
}

mt_status mt_safetensors_load(mt_module *model, const char *path, int64_t tokens)
{
    mt_file_map file;
    uint64_t n = 0;
    mt_status status = mt_file_map_open(&file, path);
    if (status != MT_OK)
        return status;
    if (file.size >= 8)
        memcpy(&n, file.bytes, 8);
    header h = { 0 };
    if (file.size < 8 || n > (uint64_t)(file.size - 8)) {
        status = mt_fail(MT_ERR_FORMAT, "%s: a header of %" PRIu64 " bytes in a file of %" PRId64, path, n, file.size);
    } else {
        h.at = h.begin = (const char *)file.bytes + 8;
        h.end = h.at + n;
        if (!parse(&h))
            status =
                mt_fail(MT_ERR_FORMAT, "%s: offset %d: not the JSON of safetensors", path, (int)(h.at - h.begin) + 8);
        else
            status = check_offsets(&h, path, file.size - 8 - (int64_t)n);
    }
    if (status == MT_OK)
        status = copy(model, &h, path, file.bytes + 8 + n, tokens);
    free(h.entries);
    mt_file_map_close(&file);
    return status;
}
