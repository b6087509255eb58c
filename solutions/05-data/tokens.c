/* tokens.c -- checks the header of a token file, and copies windows of its tokens. */
#include "data/tokens.h"

#include <string.h>

mt_status mt_tokens_read(mt_tokens *out, const char *path, const uint8_t *bytes, int64_t size)
{
    uint32_t version = 0, token = 0;
    int64_t count = -1;
    if (size < MT_TOKENS_HEADER || memcmp(bytes, "MTTOKENS", 8) != 0)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 0: not a token file (tokenize writes them)", path);
    memcpy(&version, bytes + 8, sizeof version);
    memcpy(&token, bytes + 12, sizeof token);
    memcpy(&count, bytes + 16, sizeof count);
    if (version != 1)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 8: version %u, this program reads version 1", path, version);
    /* LAB 05.3 BEGIN  Refuse a file that does not agree with its header.
     * Hint: tokens have 2 or 4 bytes. The file has `count` of them after the header, and no part of one. Divide the
     * number of bytes in the file; a product of numbers from the header may overflow. Each refusal is a `return
     * mt_fail(MT_ERR_FORMAT, "%s: offset ...: ...", path, ...)`. */
    int64_t behind = size - MT_TOKENS_HEADER;
    if (token != 2 && token != 4)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 12: tokens of %u bytes, expected 2 or 4", path, token);
    if (behind % token != 0)
        return mt_fail(MT_ERR_FORMAT, "%s: offset %" PRId64 ": the file ends in the middle of a token of %u bytes",
                       path, size, token);
    if (behind / token != count)
        return mt_fail(MT_ERR_FORMAT, "%s: offset %" PRId64 ": the file ends after %" PRId64 " tokens of %" PRId64,
                       path, size, behind / token, count);
    /* LAB 05.3 END */
    *out = (mt_tokens){ bytes + MT_TOKENS_HEADER, count, token };
    return MT_OK;
}

int64_t mt_tokens_windows(int64_t count, int64_t T, int64_t stride)
{
    /* LAB 05.4 BEGIN  How many windows fit.
     * Hint: a window of T tokens is read twice, once shifted by one. Which token is the last that the window from s
     * needs? */
    return count <= T ? 0 : (count - T - 1) / stride + 1;
    /* LAB 05.4 END */
}

void mt_tokens_window(int32_t *x, int32_t *y, const mt_tokens *tokens, int64_t start, int64_t T)
{
    /* LAB 05.4 BEGIN  A window, and the same one token later.
     * Hint: u16 tokens are converted, i32 tokens copied; data is aligned for both. */
    if (tokens->size == 2) {
        const uint16_t *token = (const uint16_t *)tokens->data + start;
        for (int64_t i = 0; i < T; i++) {
            x[i] = token[i];
            y[i] = token[i + 1];
        }
    } else {
        const int32_t *token = (const int32_t *)tokens->data + start;
        memcpy(x, token, (size_t)T * sizeof *x);
        memcpy(y, token + 1, (size_t)T * sizeof *y);
    }
    /* LAB 05.4 END */
}
