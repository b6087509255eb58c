/* image.c -- decoding by stb_image, which is compiled here and nowhere else.
 *
 * Two of its weaknesses are ours to guard. It takes a JPEG that ends early for one whose rest is grey: so it reads the file
 * through a reader of ours, which notices when it asks for more than there is. And it trusts the sizes of Huffman tables,
 * which corrupt files get wrong: so those are checked first. */
#include "data/image.h"

#include <stdlib.h>
#include <string.h>

#include "data/file_map.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_MAX_DIMENSIONS MT_IMAGE_SIDE_MAX
#include <stb/stb_image.h>

/* ---- JPEG's Huffman tables ---------------------------------------------------------------------- */

enum {
    JPEG_MARK = 0xff,
    JPEG_RST0 = 0xd0,
    JPEG_EOI = 0xd9,
    JPEG_DHT = 0xc4,
    HUFFMAN_LENGTHS = 16,
    HUFFMAN_SYMBOLS = 256
};

/* One segment of tables: each is a byte, 16 counts, and as many symbols as the counts add up to, of which there are 256.
 * Where a table has begun, the decoder reads all 16 counts, behind the segment too. */
static bool tables_fit(const uint8_t *p, int64_t n)
{
    while (n > 0) {
        int64_t symbols = 0;
        if (n <= HUFFMAN_LENGTHS)
            return false;
        for (int i = 1; i <= HUFFMAN_LENGTHS; i++)
            symbols += p[i];
        if (symbols > HUFFMAN_SYMBOLS)
            return false;
        p += 1 + HUFFMAN_LENGTHS + symbols;
        n -= 1 + HUFFMAN_LENGTHS + symbols;
    }
    return true;
}

/* Walks over the segments: 0xff, a mark, two bytes of length. Between them lies coded data, where 0xff is followed by 0 or
 * by a restart mark (which has no length, as the start and the end have none). */
static bool jpeg_tables_fit(const uint8_t *p, int64_t n)
{
    int64_t at = 0;
    while (at + 4 <= n) {
        const uint8_t *next = memchr(p + at, JPEG_MARK, (size_t)(n - at - 3));
        if (!next)
            return true;
        at = next - p;
        uint8_t mark = p[at + 1];
        if (mark == 0 || mark == JPEG_MARK || (mark >= JPEG_RST0 && mark <= JPEG_EOI)) {
            at++;
            continue;
        }
        int64_t length = p[at + 2] << 8 | p[at + 3];
        if (mark == JPEG_DHT && !tables_fit(p + at + 4, mt_min(length - 2, n - at - 4)))
            return false;
        at += 2 + length;
    }
    return true;
}

/* ---- decoding ------------------------------------------------------------------------------------ */

typedef struct reader {
    const char *path;
    const uint8_t *bytes;
    int64_t size, at;
    bool ended; /* something was asked for behind the end */
} reader;

static int read_some(void *user, char *data, int size)
{
    reader *r = user;
    int64_t got = mt_min(size, r->size - r->at);
    memcpy(data, r->bytes + r->at, (size_t)got);
    r->at += got;
    r->ended = r->ended || got == 0;
    return (int)got;
}

static void skip_some(void *user, int n)
{
    reader *r = user;
    r->at = mt_min(r->at + n, r->size);
}

static int at_end(void *user)
{
    return ((reader *)user)->ended;
}

static mt_status decode(mt_image *out, reader *r)
{
    static const stbi_io_callbacks io = { read_some, skip_some, at_end };
    int width, height, channels;
    if (r->size == 0)
        return mt_fail(MT_ERR_FORMAT, "%s: the file is empty", r->path);
    if (r->bytes[0] == JPEG_MARK && !jpeg_tables_fit(r->bytes, r->size))
        return mt_fail(MT_ERR_FORMAT, "%s: not a JPEG picture that can be read: corrupt Huffman table", r->path);
    uint8_t *pixel = stbi_load_from_callbacks(&io, r, &width, &height, &channels, 3);
    if (pixel && !r->ended) {
        *out = (mt_image){ pixel, height, width };
        return MT_OK;
    }
    stbi_image_free(pixel);
    if (r->ended)
        return mt_fail(MT_ERR_FORMAT, "%s: the file ends in the middle of the picture, or is none", r->path);
    return mt_fail(MT_ERR_FORMAT, "%s: not a PNG or JPEG picture that can be read: %s", r->path, stbi_failure_reason());
}

mt_status mt_image_read(mt_image *out, const char *path)
{
    uint8_t *bytes;
    reader r = { .path = path };
    mt_status status = mt_file_read(&bytes, &r.size, path);
    if (status != MT_OK)
        return status;
    r.bytes = bytes;
    status = decode(out, &r);
    free(bytes);
    return status;
}

void mt_image_free(mt_image *image)
{
    stbi_image_free(image->pixel);
    *image = (mt_image){ 0 };
}
