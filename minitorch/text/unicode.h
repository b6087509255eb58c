/* unicode.h -- the kinds of characters that GPT-2's rules distinguish.
 *
 * Letters are Unicode's categories L*, numbers N*, white space its property White_Space, of the version
 * mt_unicode_version. A byte that is not part of valid UTF-8 is a character of kind MT_KIND_OTHER. */
#pragma once

#include "text/utf8.h"

MT_C_BEGIN

typedef enum mt_kind {
    MT_KIND_OTHER,  /* punctuation, symbols, marks, controls, unassigned, bytes that are not UTF-8 */
    MT_KIND_LETTER, /* \p{L} */
    MT_KIND_NUMBER, /* \p{N}: digits of all scripts, Roman numerals, fractions */
    MT_KIND_SPACE,  /* \s */
} mt_kind;

extern const char mt_unicode_version[]; /* "16.0.0" */

/* mt_kind_of -- of any code point; MT_KIND_OTHER above 0x10ffff. */
mt_kind mt_kind_of(uint32_t code);

extern const uint8_t mt_ascii_kinds[128]; /* mt_kind of each; read it through mt_char_kind */

/* mt_char_kind -- kind and length of the character at text[0]. */
static inline mt_kind mt_char_kind(const uint8_t *text, int64_t size, int64_t *length)
{
    if (text[0] < 128) {
        *length = 1;
        return (mt_kind)mt_ascii_kinds[text[0]];
    }
    int32_t code = mt_utf8_next(text, size, length);
    return code < 0 ? MT_KIND_OTHER : mt_kind_of((uint32_t)code);
}

MT_C_END
