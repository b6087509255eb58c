/* dump.c -- reads reference dumps; a file that is not exactly what its header says is refused. */
#include "testing/dump.h"

#include "core/storage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char MAGIC[] = "minitorch dump 1\n";

typedef struct array {
    char name[64], type[8];
    mt_shape shape;
    int64_t bytes;
    void *data; /* NULL until read */
} array;

struct mt_dump {
    array *item;
    int64_t count;
};

void mt_dump_close(mt_dump *dump)
{
    if (!dump)
        return;
    for (int64_t i = 0; i < dump->count; i++)
        if (dump->item[i].data)
            mt_free(dump->item[i].data, dump->item[i].bytes, MT_CPU);
    free(dump->item);
    free(dump);
}

static int64_t size_of(const char *type)
{
    static const struct {
        const char *name;
        int64_t size;
    } types[] = { { "f64", 8 }, { "f32", 4 }, { "i64", 8 }, { "i32", 4 }, { "u8", 1 } };
    for (int64_t i = 0; i < MT_COUNT(types); i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].size;
    return 0;
}

/* A header line "name type d0 d1 ..."; false unless it is one, of an array of at most `limit` bytes. */
static bool parse_line(array *a, const char *line, int64_t limit)
{
    int at = 0, length = 0;
    *a = (array){ 0 };
    if (sscanf(line, "%63s %7s%n", a->name, a->type, &at) != 2 || !(a->bytes = size_of(a->type)))
        return false;
    for (int64_t dim; sscanf(line + at, "%" SCNd64 "%n", &dim, &length) == 1; at += length) {
        if (a->shape.rank == MT_MAX_RANK || dim < 0 || dim > limit || a->bytes * dim > limit)
            return false;
        a->shape.dim[a->shape.rank++] = dim;
        a->bytes *= dim; /* no overflow: both are below 2^31 */
    }
    return strcmp(line + at, "\n") == 0;
}

static mt_status read_header(mt_dump *dump, FILE *file, const char *path, int64_t limit)
{
    char line[256];
    if (!fgets(line, sizeof line, file) || strcmp(line, MAGIC) != 0)
        return mt_fail(MT_ERR_FORMAT, "%s: not a dump: it does not begin with \"minitorch dump 1\"", path);
    for (int number = 2;; number++) {
        if (!fgets(line, sizeof line, file))
            return mt_fail(MT_ERR_FORMAT, "%s: line %d: the header has no end", path, number);
        if (strcmp(line, "\n") == 0)
            return MT_OK;
        if (line[0] == '#')
            continue;
        dump->item = realloc(dump->item, (size_t)(dump->count + 1) * sizeof *dump->item);
        MT_CHECK(dump->item, "out of memory");
        if (!parse_line(&dump->item[dump->count], line, limit))
            return mt_fail(MT_ERR_FORMAT, "%s: line %d: not an array that this file can hold: %s", path, number, line);
        dump->count++;
    }
}

static mt_status read_all(mt_dump *dump, FILE *file, const char *path)
{
    struct stat about;
    if (fstat(fileno(file), &about) != 0)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode) || about.st_size > INT32_MAX)
        return mt_fail(MT_ERR_FORMAT, "%s: not a dump: not a regular file of at most 2 GB", path);
    mt_status status = read_header(dump, file, path, about.st_size);
    for (array *a = dump->item; status == MT_OK && a < dump->item + dump->count; a++) {
        a->data = mt_alloc(a->bytes, MT_CPU);
        if (fread(a->data, 1, (size_t)a->bytes, file) != (size_t)a->bytes)
            status = mt_fail(MT_ERR_FORMAT, "%s: truncated in array %s", path, a->name);
    }
    if (status == MT_OK && fgetc(file) != EOF)
        status = mt_fail(MT_ERR_FORMAT, "%s: bytes after the last array", path);
    return status;
}

mt_status mt_dump_open(mt_dump **out, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    mt_dump *dump = mt_calloc(1, sizeof *dump);
    mt_status status = read_all(dump, file, path);
    fclose(file);
    if (status == MT_OK)
        *out = dump;
    else
        mt_dump_close(dump);
    return status;
}

const void *mt_dump_array(const mt_dump *dump, const char *name, const char *type, mt_shape shape)
{
    for (const array *a = dump->item; a < dump->item + dump->count; a++) {
        if (strcmp(a->name, name) != 0)
            continue;
        MT_CHECK(strcmp(a->type, type) == 0 && mt_shape_equal(a->shape, shape), "dump: %s is %s %s, not %s %s", name,
                 a->type, mt_shape_text(a->shape), type, mt_shape_text(shape));
        return a->data;
    }
    MT_CHECK(false, "dump: there is no array %s", name);
}
