/* idx.c -- reading and writing IDX files. The header is never believed: its sizes are compared with the file's own
 * before a byte is allocated, so a hostile file can be refused but cannot make us allocate or read what is not there. */
#include "data/idx.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "core/storage.h"

#define HEADER_MAX 16

static const char *const fetch_again = "fetch it again: datasets/fetch mnist";

static int64_t header_bytes(mt_idx_kind kind)
{
    return 4 + 4 * (int64_t)kind;
}

static uint32_t magic_of(mt_idx_kind kind)
{
    return 0x800 + (uint32_t)kind; /* 0x08: unsigned bytes */
}

static const char *kind_name(mt_idx_kind kind)
{
    return kind == MT_IDX_IMAGES ? "images" : "labels";
}

static uint32_t load_big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_big_endian(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (24 - 8 * i));
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

/* read_fully -- as many of n bytes as there are; -1 on an error. */
static int64_t read_fully(int fd, uint8_t *to, int64_t n)
{
    int64_t done = 0;
    while (done < n) {
        ssize_t got = read(fd, to + done, (size_t)(n - done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += got;
    }
    return done;
}

static mt_status check_magic(const char *path, const uint8_t *header, int64_t got, mt_idx_kind kind)
{
    mt_idx_kind other = kind == MT_IDX_IMAGES ? MT_IDX_LABELS : MT_IDX_IMAGES;
    if (got >= 2 && header[0] == 0x1f && header[1] == 0x8b)
        return mt_fail(MT_ERR_FORMAT, "%s: offset 0: this is a gzip file: run gunzip on it, or datasets/fetch mnist",
                       path);
    if (got < header_bytes(kind))
        return mt_fail(MT_ERR_FORMAT,
                       "%s: offset %" PRId64 ": the file ends, its header alone takes %" PRId64 " bytes: %s", path, got,
                       header_bytes(kind), fetch_again);
    uint32_t magic = load_big_endian(header);
    if (magic == magic_of(other))
        return mt_fail(MT_ERR_FORMAT, "%s: offset 0: this file holds %s, %s are expected", path, kind_name(other),
                       kind_name(kind));
    if (magic != magic_of(kind))
        return mt_fail(MT_ERR_FORMAT,
                       "%s: offset 0: magic 0x%08" PRIx32 ", expected 0x%08" PRIx32 ": not a file of IDX %s", path,
                       magic, magic_of(kind), kind_name(kind));
    return MT_OK;
}

/* check_sizes -- fill out's sizes from the header and compare them with the size of the file. */
static mt_status check_sizes(mt_idx *out, const char *path, const uint8_t *header, int64_t file_bytes)
{
    int64_t bytes;
    out->count = load_big_endian(header + 4);
    if (out->kind == MT_IDX_IMAGES) {
        out->rows = load_big_endian(header + 8);
        out->cols = load_big_endian(header + 12);
        if (out->rows < 1 || out->cols < 1)
            return mt_fail(MT_ERR_FORMAT, "%s: offset 8: images of %" PRId64 " x %" PRId64 " pixels", path, out->rows,
                           out->cols);
    }
    if (__builtin_mul_overflow(out->rows, out->cols, &bytes) || __builtin_mul_overflow(bytes, out->count, &bytes) ||
        __builtin_add_overflow(bytes, header_bytes(out->kind), &bytes))
        bytes = INT64_MAX; /* no file is that large: refused below */
    if (bytes > file_bytes)
        return mt_fail(MT_ERR_FORMAT,
                       "%s: offset %" PRId64 ": the file ends, %" PRId64 " %s of %" PRId64 " x %" PRId64
                       " need %" PRId64 " bytes: %s",
                       path, file_bytes, out->count, kind_name(out->kind), out->rows, out->cols, bytes, fetch_again);
    if (bytes < file_bytes)
        return mt_fail(MT_ERR_FORMAT, "%s: offset %" PRId64 ": %" PRId64 " bytes too many after %" PRId64 " %s: %s",
                       path, bytes, file_bytes - bytes, out->count, kind_name(out->kind), fetch_again);
    return MT_OK;
}

static mt_status read_open_file(mt_idx *out, const char *path, mt_idx_kind kind, int fd)
{
    uint8_t header[HEADER_MAX];
    struct stat info;
    if (fstat(fd, &info) < 0)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return mt_fail(MT_ERR_IO, "%s: %s, a file of IDX %s is expected", path,
                       S_ISDIR(info.st_mode) ? "a folder" : "not a regular file", kind_name(kind));
    int64_t got = read_fully(fd, header, header_bytes(kind));
    if (got < 0)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));

    mt_idx idx = { .kind = kind, .rows = 1, .cols = 1 };
    mt_status status = check_magic(path, header, got, kind);
    if (status == MT_OK)
        status = check_sizes(&idx, path, header, info.st_size);
    if (status != MT_OK)
        return status;

    int64_t bytes = idx.count * idx.rows * idx.cols;
    idx.data = mt_alloc(bytes, MT_CPU);
    got = read_fully(fd, idx.data, bytes);
    if (got != bytes) {
        status = mt_fail(MT_ERR_IO, "%s: offset %" PRId64 ": %s", path, header_bytes(kind) + mt_max(got, 0),
                         got < 0 ? strerror(errno) : "the file became shorter while it was read");
        mt_idx_free(&idx);
        return status;
    }
    *out = idx;
    return MT_OK;
}

mt_status mt_idx_read(mt_idx *out, const char *path, mt_idx_kind kind)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe in its place must not hang us */
    if (fd < 0) {
        int why = errno;
        char zipped[4096];
        snprintf(zipped, sizeof zipped, "%s.gz", path);
        if (why == ENOENT && access(zipped, F_OK) == 0)
            return mt_fail(MT_ERR_IO, "%s: not there, but %s is: run gunzip on it", path, zipped);
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(why));
    }
    mt_status status = read_open_file(out, path, kind, fd);
    close(fd);
    return status;
}

mt_status mt_idx_write(const char *path, const mt_idx *idx)
{
    uint8_t header[HEADER_MAX];
    const int64_t sizes[] = { idx->count, idx->rows, idx->cols };
    store_big_endian(header, magic_of(idx->kind));
    for (int i = 0; i < (int)idx->kind; i++) {
        MT_CHECK(sizes[i] <= UINT32_MAX, "IDX holds sizes of 32 bits, not %" PRId64, sizes[i]);
        store_big_endian(header + 4 + 4 * i, (uint32_t)sizes[i]);
    }
    mt_file_writer file;
    mt_status status = mt_file_writer_open(&file, path);
    if (status != MT_OK)
        return status;
    fwrite(header, 1, (size_t)header_bytes(idx->kind), file.out);
    fwrite(idx->data, 1, (size_t)(idx->count * idx->rows * idx->cols), file.out);
    return mt_file_writer_close(&file);
}
