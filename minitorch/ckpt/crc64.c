/* crc64.c -- CRC-64/XZ, eight bytes at a time: table[k][b] is the remainder of byte b with k zero bytes behind it.
 * It sees every error of up to 64 neighbouring bits, and any two flipped bits of a file of less than 2^60 bytes. */
#include "ckpt/safetensors.h"

#include <pthread.h>
#include <string.h>

static uint64_t table[8][256];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static void fill_table(void)
{
    for (int b = 0; b < 256; b++) {
        uint64_t r = (uint64_t)b;
        for (int bit = 0; bit < 8; bit++)
            r = r >> 1 ^ (r & 1 ? 0xC96C5795D7870F42u : 0); /* ECMA-182, reflected */
        table[0][b] = r;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++)
            table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
}

uint64_t mt_crc64(uint64_t crc, const void *data, int64_t bytes)
{
    const uint8_t *p = data;
    pthread_once(&filled, fill_table);
    crc = ~crc;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        word ^= crc;
        crc = 0;
        for (int k = 0; k < 8; k++)
            crc ^= table[7 - k][word >> 8 * k & 255];
    }
    while (bytes-- > 0)
        crc = table[0][(crc ^ *p++) & 255] ^ crc >> 8;
    return ~crc;
}
