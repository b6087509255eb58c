/* unicode.c -- UTF-8, and kinds of characters from a generated table. */
#include "text/unicode.h"

#include "text/unicode_table.h"

const char mt_unicode_version[] = UNICODE_VERSION;

// clang-format off
const uint8_t mt_ascii_kinds[128] = {
    ['\t' ... '\r'] = MT_KIND_SPACE, [' '] = MT_KIND_SPACE, ['0' ... '9'] = MT_KIND_NUMBER,
    ['A' ... 'Z'] = MT_KIND_LETTER, ['a' ... 'z'] = MT_KIND_LETTER,
};
// clang-format on

static bool is_space(uint32_t code)
{
    return (code >= '\t' && code <= '\r') || code == ' ' || code == 0x85 || code == 0xa0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
           code == 0x3000;
}

mt_kind mt_kind_of(uint32_t code)
{
    uint32_t kind = 0;
    if (code < KINDS_END)
        kind = kind_bits[kind_block[code / 128]][code / 32 % 4] >> (2 * (code % 32)) & 3;
    return kind ? (mt_kind)kind : is_space(code) ? MT_KIND_SPACE : MT_KIND_OTHER;
}

static bool continues(const uint8_t *text, int64_t size, int64_t i)
{
    return i < size && (text[i] & 0xc0) == 0x80;
}

int32_t mt_utf8_next(const uint8_t *text, int64_t size, int64_t *length)
{
    static const int32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 }; /* what needs so many bytes */
    int32_t byte = text[0], bytes = byte < 0xc0 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf8 ? 4 : 0;
    *length = 1;
    if (byte < 0x80)
        return byte;
    int32_t code = byte & (0x7f >> bytes);
    for (int32_t i = 1; i < bytes; i++) {
        if (!continues(text, size, i))
            return -1;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (bytes == 0 || code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return -1;
    *length = bytes;
    return code;
}

int64_t mt_utf8_put(uint8_t *text, uint32_t code)
{
    int64_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    MT_CHECK(code < 0x110000, "code point %x", code);
    for (int64_t i = bytes - 1; i > 0; i--, code >>= 6)
        text[i] = (uint8_t)(0x80 | (code & 0x3f));
    text[0] = (uint8_t)(bytes == 1 ? code : (0xf00 >> bytes & 0xff) | code);
    return bytes;
}
