/* unicode.c -- kinds of characters: the generated runs, expanded to one byte per code point on first use. */
#include "text/unicode.h"

#include <pthread.h>
#include <string.h>

#include "text/unicode_table.h"

const char mt_unicode_version[] = UNICODE_VERSION;

// clang-format off
const uint8_t mt_ascii_kinds[128] = {
    ['\t' ... '\r'] = MT_KIND_SPACE, [' '] = MT_KIND_SPACE, ['0' ... '9'] = MT_KIND_NUMBER,
    ['A' ... 'Z'] = MT_KIND_LETTER, ['a' ... 'z'] = MT_KIND_LETTER,
};
// clang-format on

static uint8_t kinds[KINDS_END];

static void expand(const uint16_t *run, int64_t count, mt_kind kind)
{
    for (int64_t i = 0, code = 0; i < count; code += run[i++])
        if (i % 2 == 1)
            memset(kinds + code, kind, run[i]);
}

static void expand_all(void)
{
    expand(letter_runs, MT_COUNT(letter_runs), MT_KIND_LETTER);
    expand(number_runs, MT_COUNT(number_runs), MT_KIND_NUMBER);
    expand(space_runs, MT_COUNT(space_runs), MT_KIND_SPACE);
}

mt_kind mt_kind_of(uint32_t code)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, expand_all);
    return code < KINDS_END ? (mt_kind)kinds[code] : MT_KIND_OTHER;
}
