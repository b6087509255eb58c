/* checkpoint.c -- the file of checkpoint.h, written in one pass and looked at twice: first whether all of it fits. */
#include "models/checkpoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "core/io.h"

enum { NAME = 128, WORD = 8 };

typedef struct header {
    char magic[8];
    mt_gpt2_config config;
    mt_place place;
    int64_t tensors;
} header;

static const char MAGIC[9] = "MTCKPT01";

/* ---- the tensors of a run, in the order of the file ------------------------------------------------------ */

typedef struct item {
    char name[NAME];
    mt_tensor *tensor;
    int64_t bytes;
} item;

typedef struct items {
    item *at;
    int64_t count;
} items;

static void add(items *list, const char *name, mt_tensor *t)
{
    list->at = realloc(list->at, (size_t)(list->count + 1) * sizeof *list->at);
    MT_CHECK(list->at, "out of memory");
    item *i = &list->at[list->count++];
    *i = (item){ .tensor = t, .bytes = mt_numel(t) * mt_dtype_size(t->dtype) };
    snprintf(i->name, sizeof i->name, "%s", name);
}

static items items_of(const mt_module *model, const mt_optim *optim)
{
    items list = { 0 };
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count; i++)
        add(&list, params.item[i].name, params.item[i].tensor);
    mt_state_free(&params);
    mt_optim_states states = optim ? mt_optim_list(optim) : (mt_optim_states){ 0 };
    for (int64_t i = 0; i < states.count; i++)
        add(&list, states.item[i].name, states.item[i].tensor);
    mt_optim_states_free(&states);
    return list;
}

static int64_t padding(int64_t bytes)
{
    return -bytes & (WORD - 1);
}

/* ---- writing --------------------------------------------------------------------------------------------- */

#define FIRST_SUM 0xcbf29ce484222325u

/* bytes: a multiple of 8. */
static uint64_t summed(uint64_t sum, const void *data, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += WORD) {
        uint64_t word;
        memcpy(&word, (const char *)data + i, WORD);
        sum = (sum ^ word) * 0x100000001b3u;
    }
    return sum;
}

/* Data and zeros up to a multiple of 8. */
static void put(FILE *out, uint64_t *sum, const void *data, int64_t bytes)
{
    int64_t whole = bytes & -WORD;
    char end[WORD] = { 0 };
    fwrite(data, 1, (size_t)whole, out);
    *sum = summed(*sum, data, whole);
    if (whole == bytes)
        return;
    memcpy(end, (const char *)data + whole, (size_t)(bytes - whole));
    fwrite(end, 1, WORD, out);
    *sum = summed(*sum, end, WORD);
}

mt_status mt_checkpoint_write(const char *path, const mt_place *place, const mt_module *model, const mt_optim *optim)
{
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    uint64_t sum = FIRST_SUM;
    items list = items_of(model, optim);
    header head = { .config = *mt_gpt2_config_of(model), .place = *place, .tensors = list.count };
    memcpy(head.magic, MAGIC, sizeof head.magic);
    put(file.out, &sum, &head, sizeof head);
    for (const item *i = list.at; i < list.at + list.count; i++) {
        put(file.out, &sum, i->name, NAME);
        put(file.out, &sum, &i->bytes, sizeof i->bytes);
        mt_scope_begin();
        put(file.out, &sum, mt_data(mt_to_device(i->tensor, MT_CPU)), i->bytes);
        mt_scope_end();
    }
    fwrite(&sum, sizeof sum, 1, file.out);
    free(list.at);
    return mt_file_writer_close(&file);
}

/* ---- reading --------------------------------------------------------------------------------------------- */

static mt_status check(mt_checkpoint *c, const char *path)
{
    int64_t size = c->file.size, body = size - WORD;
    header head;
    uint64_t sum;
    if (size < (int64_t)sizeof head + WORD || size % WORD != 0 || memcmp(c->file.bytes, MAGIC, sizeof head.magic) != 0)
        return mt_fail(MT_ERR_FORMAT, "%s: no checkpoint, or one that was cut off (%" PRId64 " bytes)", path, size);
    memcpy(&sum, c->file.bytes + body, sizeof sum);
    if (summed(FIRST_SUM, c->file.bytes, body) != sum)
        return mt_fail(MT_ERR_FORMAT, "%s: damaged, its sum is wrong", path);
    memcpy(&head, c->file.bytes, sizeof head);
    c->config = head.config;
    c->place = head.place;
    c->tensors = head.tensors;
    return mt_gpt2_check(&head.config);
}

mt_status mt_checkpoint_open(mt_checkpoint *out, const char *path)
{
    mt_checkpoint c = { 0 };
    mt_status status = mt_file_map_open(&c.file, path);
    if (status != MT_OK)
        return status;
    status = check(&c, path);
    if (status == MT_OK)
        *out = c;
    else
        mt_file_map_close(&c.file);
    return status;
}

void mt_checkpoint_close(mt_checkpoint *checkpoint)
{
    mt_file_map_close(&checkpoint->file);
}

/* The item at *at, which must be the expected one; *at passes it. NULL, with words, when it is another. */
static const uint8_t *next(const mt_checkpoint *c, const item *want, int64_t *at)
{
    int64_t end = c->file.size - WORD, bytes;
    const uint8_t *here = c->file.bytes + *at;
    if (*at + NAME + WORD > end || memcmp(here, want->name, NAME) != 0) {
        mt_fail(MT_ERR_FORMAT, "%s: offset %" PRId64 ": %s should stand here", c->file.path, *at, want->name);
        return NULL;
    }
    memcpy(&bytes, here + NAME, sizeof bytes);
    if (bytes != want->bytes || bytes > end - *at - NAME - WORD) {
        mt_fail(MT_ERR_FORMAT, "%s: %s has %" PRId64 " bytes, not %" PRId64, c->file.path, want->name, bytes,
                want->bytes);
        return NULL;
    }
    *at += NAME + WORD + bytes + padding(bytes);
    return here + NAME + WORD;
}

mt_status mt_checkpoint_load(const mt_checkpoint *c, mt_module *model, mt_optim *optim)
{
    items list = items_of(model, optim);
    int64_t at = sizeof(header);
    bool good = true;
    for (int64_t i = 0; i < list.count && good; i++)
        good = next(c, &list.at[i], &at) != NULL;
    at = sizeof(header);
    for (int64_t i = 0; i < list.count && good; i++) {
        mt_tensor *t = list.at[i].tensor;
        mt_copy(mt_data(t), t->storage->device, next(c, &list.at[i], &at), MT_CPU, list.at[i].bytes);
        mt_written(t);
    }
    free(list.at);
    return good ? MT_OK : MT_ERR_FORMAT;
}
