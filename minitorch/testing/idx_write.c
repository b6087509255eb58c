/* idx_write.c -- writing IDX files. */
#include "testing/idx_write.h"

#include "core/io.h"
#include "core/storage.h"

static void put_big_endian(FILE *file, int64_t value)
{
    MT_CHECK(value <= UINT32_MAX, "IDX holds sizes of 32 bits, not %" PRId64, value);
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(value >> shift & 255), file);
}

mt_idx mt_idx_new(mt_idx_kind kind, int64_t count, int64_t rows, int64_t cols)
{
    MT_CHECK(count >= 0 && rows >= 1 && cols >= 1, "IDX of %" PRId64 " x %" PRId64 " x %" PRId64, count, rows, cols);
    MT_CHECK(kind == MT_IDX_IMAGES || rows * cols == 1, "labels are one byte each, not %" PRId64, rows * cols);
    return (mt_idx){ kind, count, rows, cols, mt_alloc(count * rows * cols, MT_CPU) };
}

void mt_idx_free(mt_idx *idx)
{
    mt_free(idx->data, idx->count * idx->rows * idx->cols, MT_CPU);
    *idx = (mt_idx){ 0 };
}

mt_status mt_idx_write(const char *path, const mt_idx *idx)
{
    const int64_t sizes[] = { idx->count, idx->rows, idx->cols };
    mt_file_writer file;
    MT_TRY(mt_file_writer_open(&file, path));
    put_big_endian(file.out, 0x800 + (int64_t)idx->kind); /* 0x08: unsigned bytes */
    for (int i = 0; i < (int)idx->kind; i++)
        put_big_endian(file.out, sizes[i]);
    fwrite(idx->data, 1, (size_t)(idx->count * idx->rows * idx->cols), file.out); /* close reports a failure */
    return mt_file_writer_close(&file);
}
