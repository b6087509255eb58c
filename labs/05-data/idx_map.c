/* idx_map.c -- decodes the header of an IDX file, and converts pixels to floats. The header is compared with the size
 * of the file, so that no later read can be out of bounds. */
#include "data/idx_map.h"

static const char *const fetch_again = "fetch it again: datasets/fetch mnist";

mt_status mt_idx_header_read(mt_idx_header *out, const char *path, const uint8_t *bytes, int64_t size, mt_idx_kind kind)
{
    int64_t header = 4 + 4 * (int64_t)kind, words[4] = { 0, 0, 1, 1 };
    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 0: this is a gzip file: run gunzip on it", path);
    if (size < header)
        return mt_fail(MT_ERR_FORMAT, "%s: offset %" PRId64 ": the file ends in its header of %" PRId64 " bytes: %s",
                       path, size, header, fetch_again);
    /* TODO 05.1: Decode the header's words: magic, count, and for images rows and cols.
     * Hint: 32 bits each, the most significant byte first (big-endian), 1 + kind of them; for labels words[] keeps its
     * initial values of 1. Shift unsigned values: a byte above 127 shifted by 24 overflows an int. */
    MT_TODO("05.1"); /* delete this line when yours stands here */
    int64_t magic = 0x800 + (int64_t)kind, items = -1;
    if (words[0] != magic)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 0: magic 0x%08" PRIx64 ", expected 0x%08" PRIx64, path, words[0],
                       magic);
    if (words[2] < 1 || words[3] < 1)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 8: images of %" PRId64 " x %" PRId64 " pixels", path, words[2],
                       words[3]);
    /* TODO 05.1: The number of whole items after the header; -1 if the file ends in the middle of one.
     * Hint: a product of numbers from the header may overflow, a quotient of the file's bytes does not. An item of a
     * damaged header can have up to (2^32 - 1)^2 bytes, which needs a uint64_t. */
    MT_TODO("05.1"); /* delete this line when yours stands here */
    if (items != words[1])
        return mt_fail(MT_ERR_FORMAT,
                       "%s: offset %" PRId64 ": the file ends here, which is not the end of %" PRId64
                       " items of %" PRId64 " x %" PRId64 " bytes: %s",
                       path, size, words[1], words[2], words[3], fetch_again);
    *out = (mt_idx_header){ words[1], words[2], words[3], header };
    return MT_OK;
}

void mt_pixels_to_floats(float *out, const uint8_t *bytes, int64_t n, mt_pixel_norm norm)
{
    /* TODO 05.2: Normalise pixels: a multiplication and an addition each, no division.
     * Hint: which scale and which shift make (b - mean) / stddev of b? A plain loop over i without branches becomes
     * vector instructions. */
    MT_TODO("05.2"); /* delete this line when yours stands here */
}
