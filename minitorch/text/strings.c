/* strings.c -- the strings one after the other in one block, and a hash table with linear probing over them. */
#include "text/strings.h"

#include <stdlib.h>
#include <string.h>

void *mt_grown(void *array, int64_t *room, int64_t count, int64_t item_size)
{
    if (count <= *room)
        return array;
    int64_t more = mt_max(2 * *room, count + 16);
    array = mt_realloc(array, more, (size_t)item_size);
    memset((uint8_t *)array + *room * item_size, 0, (size_t)((more - *room) * item_size));
    *room = more;
    return array;
}

/* Eight bytes at a time. */
static uint64_t hash_of(const uint8_t *bytes, int64_t size)
{
    uint64_t hash = (uint64_t)size;
    for (; size > 0; bytes += 8, size -= 8) {
        uint64_t word = 0;
        if (size >= 8)
            memcpy(&word, bytes, 8);
        else
            memcpy(&word, bytes, (size_t)size);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* The slot that holds a string, or the empty one where it belongs. */
static int32_t *slot_of(const mt_strings *s, const uint8_t *bytes, int64_t size)
{
    uint64_t mask = (1ull << s->bits) - 1, i = hash_of(bytes, size) & mask;
    for (; s->slot[i]; i = (i + 1) & mask) {
        int64_t k = s->slot[i] - 1;
        if (s->start[k + 1] - s->start[k] == size && memcmp(s->bytes + s->start[k], bytes, (size_t)size) == 0)
            break;
    }
    return &s->slot[i];
}

int64_t mt_strings_find(const mt_strings *s, const void *bytes, int64_t size)
{
    return s->slot ? *slot_of(s, bytes, size) - 1 : -1;
}

int64_t mt_strings_append(mt_strings *s, const void *bytes, int64_t size)
{
    s->start = mt_grown(s->start, &s->room, s->count + 2, sizeof *s->start);
    s->bytes = mt_grown(s->bytes, &s->bytes_room, s->start[s->count] + size, 1);
    memcpy(s->bytes + s->start[s->count], bytes, (size_t)size);
    s->start[s->count + 1] = s->start[s->count] + size;
    return s->count++;
}

int64_t mt_strings_add(mt_strings *s, const void *bytes, int64_t size)
{
    int64_t number = mt_strings_find(s, bytes, size);
    if (number >= 0)
        return number;
    if (!s->slot || 2 * s->count >= 1ll << s->bits) {
        free(s->slot);
        s->bits = mt_max(s->bits + 1, 8);
        s->slot = mt_calloc(1ull << s->bits, sizeof *s->slot);
        for (int32_t i = 0; i < s->count; i++)
            *slot_of(s, s->bytes + s->start[i], s->start[i + 1] - s->start[i]) = i + 1;
    }
    *slot_of(s, bytes, size) = (int32_t)s->count + 1;
    return mt_strings_append(s, bytes, size);
}

void mt_strings_free(mt_strings *s)
{
    free(s->bytes);
    free(s->start);
    free(s->slot);
    *s = (mt_strings){ 0 };
}
