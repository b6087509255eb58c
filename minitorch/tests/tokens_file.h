/* tokens_file.h -- a token file at once. */
#pragma once

#include "text/token_writer.h"

static inline mt_status write_tokens(const char *path, const int32_t *ids, int64_t count, int64_t size)
{
    mt_token_writer *w = NULL;
    mt_status status = mt_token_writer_open(&w, path, size);
    if (status != MT_OK)
        return status;
    status = mt_token_writer_put(w, ids, count);
    if (status == MT_OK)
        return mt_token_writer_close(w);
    mt_token_writer_abandon(w);
    return status;
}
