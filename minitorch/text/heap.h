/* heap.h -- a priority queue: the smallest item comes out first. */
#pragma once

#include "text/strings.h"

typedef struct mt_heap_item {
    int64_t first, second; /* compared in this order */
} mt_heap_item;

/* A zeroed one is empty; free(item). */
typedef struct mt_heap {
    mt_heap_item *item; /* [count]; no item is less than the one at (i - 1) / 2 */
    int64_t count, room;
} mt_heap;

static inline bool mt_heap_less(mt_heap_item a, mt_heap_item b)
{
    return a.first != b.first ? a.first < b.first : a.second < b.second;
}

static inline void mt_heap_push(mt_heap *h, int64_t first, int64_t second)
{
    mt_heap_item item = { first, second };
    h->item = (mt_heap_item *)mt_grown(h->item, &h->room, h->count + 1, sizeof item);
    int64_t i = h->count++;
    for (; i > 0 && mt_heap_less(item, h->item[(i - 1) / 2]); i = (i - 1) / 2)
        h->item[i] = h->item[(i - 1) / 2];
    h->item[i] = item;
}

/* mt_heap_pop -- count >= 1. */
static inline mt_heap_item mt_heap_pop(mt_heap *h)
{
    mt_heap_item least = h->item[0], last = h->item[--h->count];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < h->count; i = child) {
        child += child + 1 < h->count && mt_heap_less(h->item[child + 1], h->item[child]);
        if (!mt_heap_less(h->item[child], last))
            break;
        h->item[i] = h->item[child];
    }
    h->item[i] = last;
    return least;
}
