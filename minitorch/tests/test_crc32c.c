/* test_crc32c.c -- the published check values, and every way to compute the checksum against one bit at a time. */
#include "ckpt/crc32c.h"
#include "core/rng.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

static uint32_t bitwise(uint32_t crc, const uint8_t *p, int64_t bytes)
{
    crc = ~crc;
    while (bytes-- > 0) {
        crc ^= *p++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
    }
    return ~crc;
}

static void is(uint32_t want, const void *data, int64_t bytes)
{
    cr_assert_eq(mt_crc32c(0, data, bytes), want);
    cr_assert_eq(mt_crc32c_table(0, data, bytes), want);
    cr_assert_eq(mt_crc32c_sse42(0, data, bytes), want);
}

/* RFC 3720, B.4; the check value of the catalogues. */
Test(crc32c, published_values)
{
    uint8_t bytes[32] = { 0 };
    is(0, "", 0);
    is(0xE3069283u, "123456789", 9);
    is(0x8A9136AAu, bytes, 32);
    memset(bytes, 0xff, 32);
    is(0x62A8AB43u, bytes, 32);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    is(0x46DD794Eu, bytes, 32);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(31 - i);
    is(0x113FDB5Cu, bytes, 32);
}

/* Lengths around 8 and around one and two blocks of three streams, at odd addresses, begun with any crc. */
Test(crc32c, any_length)
{
    static const int64_t lengths[] = { 0, 1, 7, 8, 9, 31, 33, 997, 49151, 49152, 49153, 98304, 98304 + 4093, 300007 };
    enum { MOST = 300007 };
    uint8_t *data = malloc(MOST + 8);
    mt_rng rng = mt_rng_new(1, 0);
    for (int64_t i = 0; i < MOST + 8; i++)
        data[i] = (uint8_t)mt_rng_u64(&rng);
    for (int64_t i = 0; i < MT_COUNT(lengths); i++) {
        const uint8_t *p = data + i % 8;
        int64_t n = lengths[i], cut = n / 3;
        uint32_t start = (uint32_t)mt_rng_u64(&rng), want = bitwise(start, p, n);
        cr_assert_eq(mt_crc32c_table(start, p, n), want, "table, %d bytes", (int)n);
        cr_assert_eq(mt_crc32c_sse42(start, p, n), want, "instruction, %d bytes", (int)n);
        cr_assert_eq(mt_crc32c(mt_crc32c(start, p, cut), p + cut, n - cut), want, "in two parts");
        cr_assert_eq(mt_crc32c_join(mt_crc32c(0, p, cut), mt_crc32c(0, p + cut, n - cut), n - cut), bitwise(0, p, n));
    }
    free(data);
}
