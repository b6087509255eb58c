/* image.c -- decoding by stb_image, which is compiled here and nowhere else, with four of its defects corrected:
 *   - It takes a JPEG that ends early for one whose rest is grey. It reads through a reader of ours, which notices a
 *     read beyond the end.
 *   - It trusts the sizes of Huffman tables, which are wrong in corrupt files. They are checked first.
 *   - It does not notice tables and blocks of pixels that a corrupt file leaves out. Its memory is zeroed, so that the
 *     same file always gives the same picture.
 *   - Of a JPEG with colour at half the width (4:2:2) it mixes the last but one column with swapped weights (version
 *     2.27, line 3440). A function of ours takes the place of that one. */
#include "data/images/image.h"

#include <stdlib.h>
#include <string.h>

#include "core/io.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_MAX_DIMENSIONS MT_IMAGE_SIDE_MAX
#define STBI_MALLOC         new_memory
#define STBI_REALLOC        realloc
#define STBI_FREE           free

enum { SMALL = 1 << 15 }; /* bytes: the decoder's tables and more */

/* Zeroing takes time, so memory for pixels is zeroed only for files that may leave some out. */
static _Thread_local bool may_have_holes;

static void *new_memory(size_t bytes)
{
    return may_have_holes || bytes < SMALL ? calloc(1, bytes) : malloc(bytes);
}

static unsigned char *stbi__resample_row_h_2(unsigned char *out, unsigned char *row, unsigned char *unused, int w,
                                             int hs);

/* Renames the definition in stb_image.h, where arguments follow the name; its one use has none and refers to our
 * function. */
#define stbi__resample_row_h_2(out, row, unused, w, hs) stb_resample_row_h_2(out, row, unused, w, hs)
#include <stb/stb_image.h>
#undef stbi__resample_row_h_2

/* Doubles the width of a row of w samples: 3 parts of the nearer sample, 1 of the other. */
static unsigned char *stbi__resample_row_h_2(unsigned char *out, unsigned char *row, unsigned char *unused, int w,
                                             int hs)
{
    stb_resample_row_h_2(out, row, unused, w, hs);
    if (w > 1)
        out[2 * w - 2] = (unsigned char)((3 * row[w - 1] + row[w - 2] + 2) >> 2);
    return out;
}

/* ---- checking a JPEG ---------------------------------------------------------------------------- */

enum {
    JPEG_MARK = 0xff,
    JPEG_RST0 = 0xd0,
    JPEG_EOI = 0xd9,
    JPEG_SOF0 = 0xc0, /* a frame from the first line to the last */
    JPEG_DHT = 0xc4,
    JPEG_SOS = 0xda,
    JPEG_DRI = 0xdd, /* restarts */
    HUFFMAN_LENGTHS = 16,
    HUFFMAN_SYMBOLS = 256
};

/* One segment of tables: each is a byte, 16 counts, and as many symbols as the counts add up to, at most 256. Once a
 * table has begun, the decoder reads all 16 counts, even beyond the end of the segment. */
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

/* Whether a scan has every colour of its frame. The colours of a frame begin at byte 6, 3 bytes each, those of a scan
 * at byte 1, 2 bytes each; the first byte identifies the colour. Identifiers that do not increase are rare, and could
 * name one colour twice. */
static bool holds_all(const uint8_t *scan, const uint8_t *frame)
{
    int64_t colours = frame[5];
    for (int64_t i = 0; i < colours; i++)
        if (scan[1 + 2 * i] != frame[6 + 3 * i] || (i > 0 && scan[1 + 2 * i] <= scan[2 * i - 1]))
            return false;
    return scan[0] == colours;
}

/* Walks over the segments: 0xff, a mark, two bytes of length. Between them lies coded data, where 0xff is followed by 0
 * or by a restart mark (which has no length, as the start and the end have none).
 *   holes  set unless the file is one scan of all colours, from the first line to the last, without restarts: the
 *          decoder reads every block of such a scan or fails; of others it may miss some without an error */
static bool jpeg_tables_fit(bool *holes, const uint8_t *p, int64_t n)
{
    const uint8_t *frame = NULL;
    int64_t at = 0, scans = 0;
    *holes = false;
    while (at + 4 <= n) {
        const uint8_t *next = memchr(p + at, JPEG_MARK, (size_t)(n - at - 3));
        if (!next)
            break;
        at = next - p;
        uint8_t mark = p[at + 1];
        if (mark == JPEG_EOI)
            break;
        if (mark == 0 || mark == JPEG_MARK || (mark >= JPEG_RST0 && mark < JPEG_EOI)) {
            at++;
            continue;
        }
        int64_t length = p[at + 2] << 8 | p[at + 3];
        bool inside = at + 2 + length <= n;
        if (mark == JPEG_DHT && !tables_fit(p + at + 4, mt_min(length - 2, n - at - 4)))
            return false;
        if (mark == JPEG_SOF0 && inside && length >= 8 && length == 8 + 3 * p[at + 9])
            frame = p + at + 4;
        if (mark == JPEG_SOS && inside && ++scans == 1)
            *holes |= !frame || length != 6 + 2 * frame[5] || !holds_all(p + at + 4, frame);
        *holes |= mark == JPEG_DRI;
        at += 2 + length;
    }
    *holes |= scans != 1;
    return true;
}

/* ---- decoding ------------------------------------------------------------------------------------ */

typedef struct reader {
    const char *path;
    const uint8_t *bytes;
    int64_t size, at;
    bool ended; /* a read went beyond the end */
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
    may_have_holes = false;
    if (r->bytes[0] == JPEG_MARK && !jpeg_tables_fit(&may_have_holes, r->bytes, r->size))
        return mt_fail(MT_ERR_FORMAT, "%s: not a JPEG picture that can be read: corrupt Huffman table", r->path);
    uint8_t *pixel = stbi_load_from_callbacks(&io, r, &width, &height, &channels, 3);
    if (pixel && !r->ended) {
        *out = (mt_image){ pixel, height, width };
        mt_image_turn(out, mt_image_orientation(r->bytes, r->size));
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
    MT_TRY(mt_file_read(&bytes, &r.size, path));
    r.bytes = bytes;
    mt_status status = decode(out, &r);
    free(bytes);
    return status;
}

void mt_image_free(mt_image *image)
{
    stbi_image_free(image->pixel);
    *image = (mt_image){ 0 };
}
