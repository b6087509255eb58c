/* update_list.c -- AdamW of all tensors with one launch: the list of them, on the host and on the device. */
#include "core/storage.h"
#include "optim/updates_cuda.h"

#include <stdlib.h>
#include <string.h>

/* The list twice: what is on the device, and what this step needs. */
typedef struct mt_update_list {
    int64_t count;
    mt_update_segment *segment, *sent, *there;
    mt_update_factors *factors, *factors_there;
} mt_update_list;

static mt_update_list *list_new(int64_t count)
{
    mt_update_list *list = mt_calloc(1, sizeof *list);
    list->count = count;
    list->segment = mt_calloc(count, sizeof *list->segment);
    list->sent = mt_calloc(count, sizeof *list->sent);
    list->factors = mt_calloc(count, sizeof *list->factors);
    mt_memory_use before = mt_alloc_for(MT_USE_STATE);
    list->there = mt_alloc(count * (int64_t)sizeof *list->there, MT_CUDA);
    list->factors_there = mt_alloc(count * (int64_t)sizeof *list->factors, MT_CUDA);
    mt_alloc_for(before);
    return list;
}

void mt_update_list_free_cuda(mt_update_list *list)
{
    mt_free(list->there, list->count * (int64_t)sizeof *list->there, MT_CUDA);
    mt_free(list->factors_there, list->count * (int64_t)sizeof *list->factors, MT_CUDA);
    free(list->segment);
    free(list->sent);
    free(list->factors);
    free(list);
}

bool mt_update_together_cuda(mt_update_kind kind, const mt_update *u, int64_t count, mt_update_list **list)
{
    if (kind != MT_ADAMW || count == 0)
        return false;
    if (*list && (*list)->count != count) {
        mt_update_list_free_cuda(*list);
        *list = NULL;
    }
    mt_update_list *l = *list = *list ? *list : list_new(count);
    int64_t bytes = count * (int64_t)sizeof *l->segment;
    int64_t chunks = mt_adamw_multi_list_cuda(l->segment, l->factors, u, count);
    if (memcmp(l->segment, l->sent, (size_t)bytes) != 0) {
        memcpy(l->sent, l->segment, (size_t)bytes);
        mt_copy(l->there, MT_CUDA, l->sent, MT_CPU, bytes);
    }
    mt_copy(l->factors_there, MT_CUDA, l->factors, MT_CPU, count * (int64_t)sizeof *l->factors);
    mt_adamw_multi_update_cuda(l->there, l->factors_there, count, chunks, u->hyper);
    return true;
}
