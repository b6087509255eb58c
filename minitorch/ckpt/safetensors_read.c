/* safetensors_read.c -- a safetensors file of any writer, checked before anything is copied: the header against the
 * file in mt_safetensors_open, what a program wants against the header in mt_safetensors_load. */
#include "ckpt/manifest.h"
#include "ckpt/safetensors.h"
#include "core/dtype.h"
#include "core/io.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MOST = 100000000 }; /* bytes; the same limit as that of Hugging Face's reader */

typedef struct entry {
    const char *name, *dtype;
    const cJSON *shape; /* of any rank */
    int64_t begin, end;
} entry;

struct mt_safetensors {
    mt_file_map file;
    const uint8_t *data;
    cJSON *header;
    entry *entries; /* sorted by name */
    int64_t count;
};

/* ---- the header ------------------------------------------------------------------------------------------ */

/* The format's types with the bits of a number of each. */
static const struct {
    const char *name;
    int bits;
} types[] = {
    { "BOOL", 8 },    { "F4", 4 },      { "F6_E2M3", 6 }, { "F6_E3M2", 6 },     { "U8", 8 },          { "I8", 8 },
    { "F8_E5M2", 8 }, { "F8_E4M3", 8 }, { "F8_E8M0", 8 }, { "F8_E4M3FNUZ", 8 }, { "F8_E5M2FNUZ", 8 }, { "I16", 16 },
    { "U16", 16 },    { "F16", 16 },    { "BF16", 16 },   { "I32", 32 },        { "U32", 32 },        { "F32", 32 },
    { "C64", 64 },    { "F64", 64 },    { "I64", 64 },    { "U64", 64 },
};

/* The bytes of numbers of this type and shape; -1: not known, not whole, or more than any file has. */
static int64_t bytes_of(const char *dtype, const cJSON *shape)
{
    int64_t n = -1;
    for (int64_t i = 0; i < MT_COUNT(types); i++)
        if (strcmp(types[i].name, dtype) == 0)
            n = types[i].bits;
    for (const cJSON *dim = shape->child; dim && n >= 0; dim = dim->next)
        if (mt_json_whole(dim) < 0 || __builtin_mul_overflow(n, mt_json_whole(dim), &n))
            n = -1;
    return n % 8 == 0 ? n / 8 : -1;
}

static mt_status read_entry(entry *e, const cJSON *item, const char *path)
{
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(item, "data_offsets");
    *e = (entry){ .name = item->string,
                  .dtype = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "dtype")),
                  .shape = cJSON_GetObjectItemCaseSensitive(item, "shape"),
                  .begin = mt_json_whole(cJSON_GetArrayItem(offsets, 0)),
                  .end = mt_json_whole(cJSON_GetArrayItem(offsets, 1)) };
    if (!e->dtype || !cJSON_IsArray(e->shape) || !cJSON_IsArray(offsets) || cJSON_GetArraySize(offsets) != 2 ||
        e->begin < 0 || e->end < e->begin)
        return mt_fail(MT_ERR_FORMAT, "%s: %s needs a dtype, a shape and two data_offsets in increasing order", path,
                       e->name);
    if (bytes_of(e->dtype, e->shape) != e->end - e->begin) {
        char *shape = cJSON_PrintUnformatted(e->shape);
        mt_fail(MT_ERR_FORMAT, "%s: %s is %s %s in %" PRId64 " bytes: they do not fit", path, e->name, e->dtype, shape,
                e->end - e->begin);
        cJSON_free(shape);
        return MT_ERR_FORMAT;
    }
    return MT_OK;
}

static mt_status check_metadata(const cJSON *metadata, const char *path)
{
    bool texts = cJSON_IsObject(metadata);
    for (const cJSON *item = texts ? metadata->child : NULL; item; item = item->next)
        texts = texts && cJSON_IsString(item);
    return texts ? MT_OK : mt_fail(MT_ERR_FORMAT, "%s: __metadata__ has something else than texts", path);
}

/* A number of the header is written with digits only: no sign, point or exponent. */
static bool digits_only(const char *text, int64_t n)
{
    bool in_text = false;
    for (int64_t i = 0; i < n; i++) {
        if (in_text && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            in_text = !in_text;
        else if (!in_text && (strchr("-.", text[i]) || (strchr("eE", text[i]) && i > 0 && isdigit(text[i - 1]))))
            return false;
    }
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin) : (x->end > y->end) - (x->end < y->end);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* The tensors cover all `bytes` of the data once. */
static mt_status check_entries(mt_safetensors *f, int64_t bytes)
{
    int64_t end = 0;
    qsort(f->entries, (size_t)f->count, sizeof *f->entries, by_offset);
    for (const entry *e = f->entries; e < f->entries + f->count; e++) {
        if (e->begin != end)
            return mt_fail(MT_ERR_FORMAT, "%s: %s begins at %" PRId64 ", the tensor before it ends at %" PRId64 ": %s",
                           f->file.path, e->name, e->begin, end, e->begin < end ? "they overlap" : "there is a hole");
        end = e->end;
    }
    if (end != bytes)
        return mt_fail(MT_ERR_FORMAT, "%s: the tensors need %" PRId64 " bytes, the file has %" PRId64 ": %s",
                       f->file.path, end, bytes, end > bytes ? "it was cut off" : "some belong to no tensor");
    qsort(f->entries, (size_t)f->count, sizeof *f->entries, by_name);
    return MT_OK;
}

static mt_status parse(mt_safetensors *f, const char *text, int64_t n)
{
    const char *path = f->file.path;
    f->header = n > 0 && *text == '{' ? mt_json_parse(text, n) : NULL;
    if (!f->header)
        return mt_fail(MT_ERR_FORMAT, "%s: the header is not the JSON of safetensors", path);
    if (!digits_only(text, n))
        return mt_fail(MT_ERR_FORMAT, "%s: a number of the header has a sign, a point or an exponent", path);
    const char *twice = mt_json_twice(f->header);
    if (twice)
        return mt_fail(MT_ERR_FORMAT, "%s: there is more than one %s", path, twice);
    f->entries = mt_realloc(NULL, cJSON_GetArraySize(f->header) + 1, sizeof *f->entries);
    for (const cJSON *item = f->header->child; item; item = item->next) {
        if (strcmp(item->string, "__metadata__") == 0)
            MT_TRY(check_metadata(item, path));
        else
            MT_TRY(read_entry(&f->entries[f->count++], item, path));
    }
    return MT_OK;
}

/* ---- the file -------------------------------------------------------------------------------------------- */

static mt_status check(mt_safetensors *f)
{
    int64_t size = f->file.size;
    uint64_t n = 0;
    if (size >= 8)
        memcpy(&n, f->file.bytes, 8);
    if (size < 8 || n > (uint64_t)(size - 8) || n > HEADER_MOST)
        return mt_fail(MT_ERR_FORMAT,
                       "%s: no safetensors file, or one that was cut off: a header of %" PRIu64
                       " bytes in a file of %" PRId64,
                       f->file.path, n, size);
    f->data = f->file.bytes + 8 + n;
    mt_status status = parse(f, (const char *)f->file.bytes + 8, (int64_t)n);
    return status == MT_OK ? check_entries(f, size - 8 - (int64_t)n) : status;
}

mt_status mt_safetensors_open(mt_safetensors **out, const char *path)
{
    mt_safetensors *f = mt_calloc(1, sizeof *f);
    mt_status status = mt_file_map_open(&f->file, path);
    if (status == MT_OK)
        status = mt_file_no_page(&f->file);
    if (status == MT_OK)
        status = check(f);
    if (status == MT_OK)
        *out = f;
    else
        mt_safetensors_close(f);
    return status;
}

void mt_safetensors_close(mt_safetensors *f)
{
    if (!f)
        return;
    mt_file_map_close(&f->file);
    cJSON_Delete(f->header);
    free(f->entries);
    free(f);
}

/* ---- loading --------------------------------------------------------------------------------------------- */

static const entry *find(const mt_safetensors *f, const char *prefix, const char *name)
{
    char full[2 * MT_STATE_NAME];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return bsearch(&(entry){ .name = full }, f->entries, (size_t)f->count, sizeof *f->entries, by_name);
}

/* The type of the numbers in the file: that of the tensor, or of 16 bits for one of f32; false: another. */
static bool stored_as(mt_dtype *dtype, const entry *e, const mt_tensor *t)
{
    const mt_dtype allowed[] = { t->dtype, MT_F16, MT_BF16 };
    for (int k = 0; k < (t->dtype == MT_F32 ? 3 : 1); k++)
        if (strcmp(e->dtype, mt_safetensors_dtype(allowed[k])) == 0) {
            *dtype = allowed[k];
            return true;
        }
    return false;
}

static bool fits(const entry *e, const mt_state_item *i)
{
    const mt_view *view = &i->tensor->view;
    mt_dtype stored;
    if (!stored_as(&stored, e, i->tensor) || cJSON_GetArraySize(e->shape) != view->rank)
        return false;
    int64_t bytes = mt_dtype_size(stored);
    for (int d = 0; d < view->rank; d++) {
        int64_t dim = mt_json_whole(cJSON_GetArrayItem(e->shape, d)), most = view->shape[d];
        if ((dim > most && (d > 0 || !i->longer)) || dim < (d == 0 && i->rows ? i->rows : most))
            return false;
        bytes *= dim;
    }
    return bytes == e->end - e->begin;
}

static void copy(mt_tensor *t, const entry *e, const uint8_t *data)
{
    mt_dtype stored = t->dtype;
    stored_as(&stored, e, t);
    int64_t size = mt_dtype_size(stored), n = mt_min((e->end - e->begin) / size, mt_view_numel(&t->view));
    t->storage->version++;
    if (stored == t->dtype) {
        mt_copy(mt_data(t), t->storage->device, data, MT_CPU, n * size);
        return;
    }
    float *wide = mt_realloc(NULL, n, sizeof *wide);
    for (int64_t k = 0; k < n; k++) {
        uint16_t bits; /* a file of another writer need not align them */
        memcpy(&bits, data + 2 * k, sizeof bits);
        wide[k] = stored == MT_F16 ? mt_f16_to_f32((mt_f16){ bits }) : mt_bf16_to_f32((mt_bf16){ bits });
    }
    mt_copy(mt_data(t), t->storage->device, wide, MT_CPU, n * (int64_t)sizeof *wide);
    free(wide);
}

mt_dtype mt_safetensors_stored(const mt_safetensors *f, const mt_state *state, const char *prefix)
{
    mt_dtype stored = MT_F32;
    for (const mt_state_item *i = state->item; i < state->item + state->count && stored == MT_F32; i++) {
        const entry *e = i->tensor ? find(f, "", i->name) : NULL;
        e = e || !i->tensor ? e : find(f, prefix, i->name);
        if (e && i->tensor->dtype == MT_F32)
            stored_as(&stored, e, i->tensor);
    }
    return stored;
}

/* Copy a tensor, or with `dry` only say whether it can be. */
static mt_status load_tensor(const mt_safetensors *f, const mt_state_item *i, const char *prefix, bool dry)
{
    const entry *e = find(f, "", i->name), *longer = *prefix ? find(f, prefix, i->name) : NULL;
    mt_tensor *t = i->tensor;
    if (!e == !longer)
        return mt_fail(MT_ERR_FORMAT, "%s: there is %s %s", f->file.path, e ? "more than one" : "no", i->name);
    e = e ? e : longer;
    if (!fits(e, i)) {
        char *shape = cJSON_PrintUnformatted(e->shape);
        mt_fail(MT_ERR_FORMAT, "%s: %s is %s %s in %" PRId64 " bytes, not %s %s", f->file.path, i->name, e->dtype,
                shape, e->end - e->begin, mt_safetensors_dtype(t->dtype), mt_shape_text(mt_view_shape(&t->view)));
        cJSON_free(shape);
        return MT_ERR_FORMAT;
    }
    if (!dry)
        copy(t, e, f->data + e->begin);
    return MT_OK;
}

static mt_status load(const mt_safetensors *file, const mt_state *state, const char *prefix, bool dry)
{
    mt_status status = MT_OK;
    for (const mt_state_item *i = state->item; i < state->item + state->count && status == MT_OK; i++)
        status = i->tensor ? load_tensor(file, i, prefix, dry) : MT_OK;
    return status;
}

mt_status mt_safetensors_check(const mt_safetensors *file, const mt_state *state, const char *prefix)
{
    return load(file, state, prefix, true);
}

mt_status mt_safetensors_load(const mt_safetensors *file, const mt_state *state, const char *prefix)
{
    mt_status status = load(file, state, prefix, true);
    return status == MT_OK ? load(file, state, prefix, false) : status;
}

bool mt_safetensors_has(const mt_safetensors *file, const char *name)
{
    return bsearch(&(entry){ .name = name }, file->entries, (size_t)file->count, sizeof *file->entries, by_name);
}

int64_t mt_safetensors_count(const mt_safetensors *file)
{
    return file->count;
}
