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
    /* TODO 05.3: Refuse a file that does not agree with its header.
     * Hint: tokens have 2 or 4 bytes. The file has `count` of them after the header, and no part of one. Divide the
     * number of bytes in the file; a product of numbers from the header may overflow. Each refusal is a `return
     * mt_fail(MT_ERR_FORMAT, "%s: offset ...: ...", path, ...)`. */
    MT_TODO("05.3"); /* delete this line when yours stands here */
    *out = (mt_tokens){ bytes + MT_TOKENS_HEADER, count, token };
    return MT_OK;
}

int64_t mt_tokens_windows(int64_t count, int64_t T, int64_t stride)
{
    /* TODO 05.4: How many windows fit.
     * Hint: a window of T tokens is read twice, once shifted by one. Which token is the last that the window from s
     * needs? */
    MT_TODO("05.4"); /* delete this line when yours stands here */
}

void mt_tokens_window(int32_t *x, int32_t *y, const mt_tokens *tokens, int64_t start, int64_t T)
{
    /* TODO 05.4: A window, and the same one token later.
     * Hint: u16 tokens are converted, i32 tokens copied; data is aligned for both. */
    MT_TODO("05.4"); /* delete this line when yours stands here */
}
