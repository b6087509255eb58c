/* token_writer.c -- see token_writer.h. The number of tokens is known at the end, so the header is written twice. */
#include "text/token_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/io.h"

struct mt_token_writer {
    mt_file_writer file;
    int64_t size, count;
};

static mt_status cannot_write(const mt_token_writer *w)
{
    return mt_fail(MT_ERR_IO, "%s: %s", w->file.path, strerror(errno));
}

static bool write_header(mt_token_writer *w)
{
    uint32_t version = 1, size = (uint32_t)w->size;
    return fseek(w->file.out, 0, SEEK_SET) == 0 && fwrite("MTTOKENS", 1, 8, w->file.out) == 8 &&
           fwrite(&version, sizeof version, 1, w->file.out) == 1 && fwrite(&size, sizeof size, 1, w->file.out) == 1 &&
           fwrite(&w->count, sizeof w->count, 1, w->file.out) == 1;
}

mt_status mt_token_writer_open(mt_token_writer **out, const char *path, int64_t size)
{
    MT_CHECK(size == 2 || size == 4, "tokens of %" PRId64 " bytes", size);
    mt_token_writer *w = mt_calloc(1, sizeof *w);
    w->size = size;
    mt_status status = mt_file_writer_open(&w->file, path);
    if (status != MT_OK) {
        free(w);
        return status;
    }
    if (!write_header(w)) {
        status = cannot_write(w);
        mt_token_writer_abandon(w);
        return status;
    }
    *out = w;
    return MT_OK;
}

mt_status mt_token_writer_put(mt_token_writer *w, const int32_t *ids, int64_t count)
{
    enum { BLOCK = 4096 };
    w->count += count;
    if (w->size == 4)
        return fwrite(ids, sizeof *ids, (size_t)count, w->file.out) == (size_t)count ? MT_OK : cannot_write(w);
    for (int64_t done = 0; done < count; done += BLOCK) {
        uint16_t narrow[BLOCK];
        int64_t n = mt_min(BLOCK, count - done);
        for (int64_t i = 0; i < n; i++) {
            narrow[i] = (uint16_t)ids[done + i];
            MT_CHECK(narrow[i] == ids[done + i], "token %d does not fit two bytes", ids[done + i]);
        }
        if (fwrite(narrow, sizeof *narrow, (size_t)n, w->file.out) != (size_t)n)
            return cannot_write(w);
    }
    return MT_OK;
}

mt_status mt_token_writer_close(mt_token_writer *w)
{
    mt_status status;
    if (write_header(w)) {
        status = mt_file_writer_close(&w->file);
    } else {
        status = cannot_write(w);
        mt_file_writer_abandon(&w->file);
    }
    free(w);
    return status;
}

void mt_token_writer_abandon(mt_token_writer *w)
{
    mt_file_writer_abandon(&w->file);
    free(w);
}
