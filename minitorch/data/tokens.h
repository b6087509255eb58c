/* tokens.h -- a file of token ids, and windows of it as samples for a language model.
 *
 *   offset 0   "MTTOKENS"          magic
 *          8   u32  1              version
 *         12   u32  2 or 4         bytes of a token: u16 or i32
 *         16   i64  count          of tokens
 *         24   tokens              all little-endian
 *
 * Unit: solutions/05-data/tokens.c */
#pragma once

#include "data/dataset.h"

MT_C_BEGIN

#define MT_TOKENS_HEADER 24

/* Tokens in a mapped file or in memory. */
typedef struct mt_tokens {
    const uint8_t *data; /* count tokens of `size` bytes */
    int64_t count;
    int64_t size; /* 2: u16, 4: i32 */
} mt_tokens;

/* mt_tokens_read -- decode and check a header.
 *   bytes  [size]  the whole file, 8-byte aligned; path is for messages
 * Fails (MT_ERR_FORMAT) with "path: offset N: ...", *out unchanged: no token file, a newer version, tokens of another
 * size, the last token cut in half, fewer or more tokens than the header promises.   Lab 05.3 */
mt_status mt_tokens_read(mt_tokens *out, const char *path, const uint8_t *bytes, int64_t size);

/* mt_tokens_windows -- the number of windows of T tokens, each followed by at least one token, that start at 0, stride,
 * 2 stride, ...;  T, stride >= 1.   Lab 05.4 */
int64_t mt_tokens_windows(int64_t count, int64_t T, int64_t stride);

/* mt_tokens_window -- the input of a language model, and for each token its target, the next token.
 *   x, y  [T] i32  overwritten: x[i] = token start + i, y[i] = token start + i + 1;  start + T < count
 * Lab 05.4 */
void mt_tokens_window(int32_t *x, int32_t *y, const mt_tokens *tokens, int64_t start, int64_t T);

/* mt_token_windows_new -- those windows as samples: x [T] i32, y [T] i32. The tokens' data is borrowed.
 * Aborts: there is no window.   Given */
mt_dataset *mt_token_windows_new(const mt_tokens *tokens, int64_t T, int64_t stride);

MT_C_END
