/* strings.h -- a growing set of byte strings, numbered from 0 in the order in which they were added. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

/* A zeroed one is empty. */
typedef struct mt_strings {
    uint8_t *bytes; /* string i: bytes[start[i]] up to, not including, bytes[start[i + 1]] */
    int64_t *start; /* [count + 1] */
    int64_t count, room, bytes_room;
    int32_t *slot; /* hash table of 2^bits slots, at most half of them used: number + 1, or 0 */
    int bits;
} mt_strings;

/* mt_strings_find -- the number of a string, -1 when the set does not contain it. */
int64_t mt_strings_find(const mt_strings *set, const void *bytes, int64_t size);

/* mt_strings_add -- the same, but a new string is added. mt_strings_append adds one that find will not see. */
int64_t mt_strings_add(mt_strings *set, const void *bytes, int64_t size);
int64_t mt_strings_append(mt_strings *set, const void *bytes, int64_t size);
void mt_strings_free(mt_strings *set); /* leaves it empty */

/* mt_grown -- an array of *room items, enlarged for at least `count` of them. Doubles; new items are zero. */
void *mt_grown(void *array, int64_t *room, int64_t count, int64_t item_size);

MT_C_END
