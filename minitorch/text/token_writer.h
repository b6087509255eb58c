/* token_writer.h -- writes a token file (data/tokens.h) piece by piece; it replaces the old one when it is complete. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_token_writer mt_token_writer;

/* mt_token_writer_open -- size: bytes of a token in the file, 2 or 4. path is borrowed until the writer is closed. */
mt_status mt_token_writer_open(mt_token_writer **out, const char *path, int64_t size);

/* mt_token_writer_put -- ids [count] i32. MT_ERR_IO when the disk is full. Aborts: an id that does not fit. */
mt_status mt_token_writer_put(mt_token_writer *writer, const int32_t *ids, int64_t count);

/* mt_token_writer_close -- frees the writer; MT_ERR_IO when any write failed: path is then unchanged, and nothing is
 * left beside it. _abandon: frees the writer and discards what was written. */
mt_status mt_token_writer_close(mt_token_writer *writer);
void mt_token_writer_abandon(mt_token_writer *writer);

MT_C_END
