/* crc32c.c -- CRC-32C by tables, and by the processor's instruction in three streams.
 *
 * The instruction takes 8 bytes, and the next one that needs its result has to wait for 3 cycles; another one may begin
 * in each cycle. Three parts of the data at once use all of them; the product of mt_crc32c_join makes one CRC of the
 * three. */
#include "ckpt/crc32c.h"

#include <pthread.h>
#include <string.h>
#ifdef __x86_64__
#include <nmmintrin.h>
#endif

enum { STREAM = 1 << 14 /* bytes of each of the three */ };

static uint32_t table[8][256]; /* table[k][b]: the remainder of byte b with k zero bytes behind it */
static uint32_t over_stream;   /* x^(8 STREAM) mod P */
static pthread_once_t filled = PTHREAD_ONCE_INIT;

/* ---- polynomials ----------------------------------------------------------------------------------------- */

static uint32_t times_x(uint32_t a)
{
    return a >> 1 ^ (a & 1 ? MT_CRC32C_POLYNOMIAL : 0);
}

/* a b mod P. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    /* TODO 12.1: The sum of b x^i over the coefficients i of a that are 1.
     * Hint: a sum of polynomials is ^. Which bit of a is the coefficient of x^0? times_x(b) is b x. */
    MT_TODO("12.1"); /* delete this line when yours stands here */
    return product;
}

/* x^(8 bytes) mod P: data with so many zero bytes behind it is the product of the two. */
static uint32_t zeros(int64_t bytes)
{
    uint32_t result = 1u << 31, square = 1u << 23; /* x^0, x^8 */
    for (; bytes > 0; bytes >>= 1) {
        if (bytes & 1)
            result = multiply(result, square);
        square = multiply(square, square);
    }
    return result;
}

uint32_t mt_crc32c_join(uint32_t a, uint32_t b, int64_t bytes_of_b)
{
    /* TODO 12.1: A followed by B is A with as many zero bytes behind it as B has, plus B. */
    MT_TODO("12.1"); /* delete this line when yours stands here */
}

/* ---- tables ---------------------------------------------------------------------------------------------- */

static void fill(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t r = b;
        for (int bit = 0; bit < 8; bit++)
            r = times_x(r);
        table[0][b] = r;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++)
            table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
    over_stream = zeros(STREAM);
}

uint32_t mt_crc32c_table(uint32_t crc, const void *data, int64_t bytes)
{
    const uint8_t *p = data;
    pthread_once(&filled, fill);
    crc = ~crc;
    /* TODO 12.1: Eight bytes at a time, then the rest one by one.
     * Hint: the crc so far stands for everything before these 8 bytes, and is added to the first 4 of them. How many
     * bytes stand behind each of the 8, and which of the tables has its remainder? The remainder of a sum is the sum of
     * the remainders. */
    MT_TODO("12.1"); /* delete this line when yours stands here */
    return ~crc;
}

/* ---- the instruction ------------------------------------------------------------------------------------- */

#ifdef __x86_64__

bool mt_crc32c_fast(void)
{
    return __builtin_cpu_supports("sse4.2");
}

static inline uint64_t word_at(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) uint32_t mt_crc32c_sse42(uint32_t crc, const void *data, int64_t bytes)
{
    const uint8_t *p = data;
    if (!mt_crc32c_fast())
        return mt_crc32c_table(crc, data, bytes);
    pthread_once(&filled, fill);
    uint64_t a = ~crc;
    /* TODO 12.1: Blocks of three streams of STREAM bytes, then 8 bytes at a time, then single bytes.
     * Hint: _mm_crc32_u64(a, word), and _mm_crc32_u8 for one byte. Each stream has a crc of its own; the first one
     * goes on from a, the others begin with 0, and one loop advances all three. They are joined as in mt_crc32c_join,
     * with the constant over_stream, and without complements. */
    MT_TODO("12.1"); /* delete this line when yours stands here */
    return ~(uint32_t)a;
}

#else

bool mt_crc32c_fast(void)
{
    return false;
}

uint32_t mt_crc32c_sse42(uint32_t crc, const void *data, int64_t bytes)
{
    return mt_crc32c_table(crc, data, bytes);
}

#endif

uint32_t mt_crc32c(uint32_t crc, const void *data, int64_t bytes)
{
    return mt_crc32c_fast() ? mt_crc32c_sse42(crc, data, bytes) : mt_crc32c_table(crc, data, bytes);
}
