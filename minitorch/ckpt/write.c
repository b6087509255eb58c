/* write.c -- a list of named values as a safetensors file. */
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

/* With `sum` our own: the checksum's place, integers, settings. Otherwise what Hugging Face's readers want. */
static cJSON *metadata(const mt_state *state, bool sum)
{
    mt_state texts = mt_state_texts(state);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, sum ? "crc64" : "format", sum ? "0000000000000000" : "pt");
    for (const mt_state_item *i = texts.item; sum && i < texts.item + texts.count; i++)
        cJSON_AddStringToObject(object, i->name, i->setting);
    mt_state_free(&texts);
    return object;
}

/* The tensors in the order of the file: large elements first, so that every tensor is aligned to its elements. */
static const mt_state_item **in_order(const mt_state *state, int64_t *count)
{
    const mt_state_item **order = malloc((size_t)(state->count + 1) * sizeof *order);
    MT_CHECK(order, "out of memory");
    *count = 0;
    for (int64_t size = 8; size >= 1; size /= 2)
        for (const mt_state_item *i = state->item; i < state->item + state->count; i++)
            if (i->tensor && mt_dtype_size(i->tensor->dtype) == size)
                order[(*count)++] = i;
    return order;
}

/* The header, padded with blanks to a multiple of 8; the caller frees it. */
static char *header_of(const mt_state *state, const mt_state_item *const *order, int64_t count, bool sum)
{
    cJSON *header = cJSON_CreateObject();
    cJSON_AddItemToObject(header, "__metadata__", metadata(state, sum));
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

void mt_safetensors_emit(const mt_state *state, bool sum, void (*put)(void *user, const void *data, int64_t bytes),
                         void *user)
{
    int64_t count;
    const mt_state_item **order = in_order(state, &count);
    char *header = header_of(state, order, count, sum);
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

typedef struct summed {
    FILE *out;
    uint64_t crc;
} summed;

static void put_summed(void *user, const void *data, int64_t bytes)
{
    summed *s = user;
    fwrite(data, 1, (size_t)bytes, s->out);
    s->crc = mt_crc64(s->crc, data, bytes);
}

mt_status mt_safetensors_write(const char *path, const mt_state *state)
{
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    summed s = { file.out, 0 };
    mt_safetensors_emit(state, true, put_summed, &s);
    if (fseek(file.out, (long)(sizeof(uint64_t) + strlen(MT_SAFETENSORS_START)), SEEK_SET) == 0)
        fprintf(file.out, "%016" PRIx64, s.crc);
    return mt_file_writer_close(&file);
}
