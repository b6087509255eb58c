/* unicode.h -- text as code points, and what kind of character each is: all that GPT-2's rules ask about one.
 *
 * Letters are Unicode's categories L*, numbers N* (version: mt_unicode_version), white space its property White_Space.
 * Bytes that are not valid UTF-8 are characters of one byte and of no kind, so that any bytes are text. */
#ifndef MT_TEXT_UNICODE_H
#define MT_TEXT_UNICODE_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mt_kind {
    MT_KIND_OTHER,  /* punctuation, symbols, marks, controls, unassigned, bytes that are not UTF-8 */
    MT_KIND_LETTER, /* \p{L} */
    MT_KIND_NUMBER, /* \p{N}: digits of all scripts, Roman numerals, fractions */
    MT_KIND_SPACE,  /* \s */
} mt_kind;

extern const char mt_unicode_version[]; /* "15.1.0" */

/* mt_kind_of -- of a code point; MT_KIND_OTHER for what is none. */
mt_kind mt_kind_of(uint32_t code);

/* mt_utf8_next -- the character at text[0].
 *   text  [size], size >= 1;  *length: its bytes, 1 to 4
 * Returns its code point, or -1 for one byte that is not UTF-8: overlong, a surrogate, too large, cut off. */
int32_t mt_utf8_next(const uint8_t *text, int64_t size, int64_t *length);

/* mt_utf8_put -- write code (< 0x110000) to text [4]; returns how many bytes it took. */
int64_t mt_utf8_put(uint8_t *text, uint32_t code);

extern const uint8_t mt_ascii_kinds[128]; /* mt_kind of each; read it through mt_char_kind */

/* mt_char_kind -- kind and length of the character at text[0]; ASCII costs one look-up. */
static inline mt_kind mt_char_kind(const uint8_t *text, int64_t size, int64_t *length)
{
    if (text[0] < 128) {
        *length = 1;
        return (mt_kind)mt_ascii_kinds[text[0]];
    }
    int32_t code = mt_utf8_next(text, size, length);
    return code < 0 ? MT_KIND_OTHER : mt_kind_of((uint32_t)code);
}

#ifdef __cplusplus
}
#endif
#endif
