/* utf8.h -- reading text as code points. Any bytes are text: one that is not part of valid UTF-8 is a character by
 * itself. */
#pragma once

#include "core/base.h"

/* mt_utf8_next -- the character at text[0].
 *   text  [size], size >= 1;  *length: its bytes, 1 to 4
 * Returns its code point, or -1 for one byte that is not UTF-8: overlong, a surrogate, too large, cut off. */
static inline int32_t mt_utf8_next(const uint8_t *text, int64_t size, int64_t *length)
{
    static const int32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 }; /* code point that needs so many bytes */
    int32_t byte = text[0], bytes = byte < 0xc0 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf8 ? 4 : 0;
    *length = 1;
    if (byte < 0x80)
        return byte;
    int32_t code = byte & (0x7f >> bytes);
    for (int32_t i = 1; i < bytes; i++) {
        if (i >= size || (text[i] & 0xc0) != 0x80)
            return -1;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (bytes == 0 || code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return -1;
    *length = bytes;
    return code;
}
