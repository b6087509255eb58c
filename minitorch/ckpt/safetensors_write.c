/* safetensors_write.c -- a list of named values as the bytes of a safetensors file, header first, then data:
 * mt_safetensors_write into a file, mt_safetensors_emit to a function, as the files of a checkpoint need it (parts.c
 * counts and sums the bytes, unit commit.c of lab 12 puts them on disk). */
#include "ckpt/safetensors.h"
#include "core/io.h"
#include "core/scope.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *mt_safetensors_dtype(mt_dtype dtype)
{
    static const char *const names[] = {
        [MT_F32] = "F32", [MT_F16] = "F16", [MT_BF16] = "BF16", [MT_I32] = "I32", [MT_I64] = "I64", [MT_U8] = "U8"
    };
    return names[dtype];
}

static int64_t bytes_of(const mt_tensor *t)
{
    return mt_numel(t) * mt_dtype_size(t->dtype);
}

static void add_numbers(cJSON *object, const char *name, const int64_t *numbers, int count)
{
    cJSON *array = cJSON_AddArrayToObject(object, name);
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(array, cJSON_CreateNumber((double)numbers[i]));
}

/* The tensors in the order of the file: large elements first, so that every tensor is aligned to its elements. */
static const mt_state_item **in_order(const mt_state *state, int64_t *count)
{
    const mt_state_item **order = mt_realloc(NULL, state->count + 1, sizeof *order);
    *count = 0;
    for (int64_t size = 8; size >= 1; size /= 2)
        for (const mt_state_item *i = state->item; i < state->item + state->count; i++)
            if (i->tensor && mt_dtype_size(i->tensor->dtype) == size)
                order[(*count)++] = i;
    return order;
}

/* The header, padded with blanks to a multiple of 8; the caller frees it. */
static char *header_of(const mt_state_item *const *order, int64_t count)
{
    cJSON *header = cJSON_CreateObject();
    cJSON_AddStringToObject(cJSON_AddObjectToObject(header, "__metadata__"), "format", "pt");
    for (int64_t i = 0, end = 0; i < count; i++) {
        const mt_tensor *t = order[i]->tensor;
        cJSON *entry = cJSON_AddObjectToObject(header, order[i]->name);
        cJSON_AddStringToObject(entry, "dtype", mt_safetensors_dtype(t->dtype));
        add_numbers(entry, "shape", t->view.shape, t->view.rank);
        int64_t begin = end;
        end += bytes_of(t);
        add_numbers(entry, "data_offsets", (int64_t[]){ begin, end }, 2);
    }
    char *text = cJSON_PrintUnformatted(header), *padded;
    MT_CHECK(text, "out of memory");
    int length = (int)strlen(text);
    MT_CHECK(asprintf(&padded, "%*s", -((length + 7) / 8 * 8), text) >= 0, "out of memory");
    cJSON_Delete(header);
    cJSON_free(text);
    return padded;
}

void mt_safetensors_emit(const mt_state *state, void (*put)(void *user, const void *data, int64_t bytes), void *user)
{
    int64_t count;
    const mt_state_item **order = in_order(state, &count);
    char *header = header_of(order, count);
    uint64_t n = strlen(header);
    put(user, &n, sizeof n);
    put(user, header, (int64_t)n);
    for (int64_t i = 0; i < count; i++) {
        mt_scope_begin();
        put(user, mt_data(mt_to_device(order[i]->tensor, MT_CPU)), bytes_of(order[i]->tensor));
        mt_scope_end();
    }
    free(order);
    free(header);
}

static void put_to_file(void *out, const void *data, int64_t bytes)
{
    fwrite(data, 1, (size_t)bytes, out); /* a failure is reported by mt_file_writer_close */
}

mt_status mt_safetensors_write(const char *path, const mt_state *state)
{
    mt_file_writer file;
    MT_TRY(mt_file_writer_open(&file, path));
    mt_safetensors_emit(state, put_to_file, file.out);
    return mt_file_writer_close(&file);
}
