/* io.c -- see io.h: maps, and files that are replaced in one step, by the calls of mt_io. */
#include "core/io.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---------------------------------------------------------------------------------- */

mt_status mt_file_map_open(mt_file_map *out, const char *path)
{
    mt_io *io = mt_io_now();
    MT_TRY(io->map(io, out, path));
    out->path = strdup(path);
    MT_CHECK(out->path, "out of memory");
    return MT_OK;
}

void mt_file_map_close(mt_file_map *map)
{
    mt_io_now()->unmap(mt_io_now(), map);
    free(map->path);
    *map = (mt_file_map){ 0 };
}

void mt_names_add(mt_names *names, const char *name)
{
    names->name = mt_realloc(names->name, names->count + 1, sizeof *names->name);
    char *copy = strdup(name);
    MT_CHECK(copy, "out of memory");
    names->name[names->count++] = copy;
}

static void add(void *names, const char *name)
{
    mt_names_add(names, name);
}

mt_status mt_names_of(mt_names *out, const char *folder)
{
    mt_io *io = mt_io_now();
    *out = (mt_names){ 0 };
    if (io->list(io, folder, add, out) == 0)
        return MT_OK;
    int problem = errno;
    mt_names_free(out);
    errno = problem;
    return mt_fail(MT_ERR_IO, "%s: %s", folder, strerror(problem));
}

void mt_names_free(mt_names *names)
{
    for (int64_t i = 0; i < names->count; i++)
        free(names->name[i]);
    free(names->name);
    *names = (mt_names){ 0 };
}

/* ---- writing ---------------------------------------------------------------------------------- */

static mt_status cannot(const char *path, int problem)
{
    bool full = problem == ENOSPC || problem == EDQUOT || problem == EFBIG;
    bool forbidden = problem == EACCES || problem == EPERM || problem == EROFS;
    return mt_fail(MT_ERR_IO, "%s: %s%s", path, strerror(problem),
                   full        ? "; make room there, or write to another folder"
                   : forbidden ? "; choose a folder in which you may write"
                               : "");
}

/* For fopencookie: `file->out` writes by mt_io. */
static ssize_t put(void *user, const char *data, size_t bytes)
{
    mt_file_writer *file = user;
    mt_io *io = mt_io_now();
    if (io->write(io, file->fd, data, (int64_t)bytes, file->at) != 0) {
        file->problem = file->problem ? file->problem : errno;
        return 0;
    }
    file->at += (int64_t)bytes;
    return (ssize_t)bytes;
}

static int seek(void *user, off64_t *to, int whence)
{
    mt_file_writer *file = user;
    if (whence == SEEK_END) /* its size is not known here */
        return -1;
    file->at = *to += whence == SEEK_CUR ? file->at : 0;
    return 0;
}

static int finish(void *user)
{
    mt_io *io = mt_io_now();
    return io->close(io, ((mt_file_writer *)user)->fd);
}

mt_status mt_file_writer_open(mt_file_writer *file, const char *path)
{
    mt_io *io = mt_io_now();
    file->path = path;
    file->at = file->problem = 0;
    if (snprintf(file->temp, sizeof file->temp, "%s.%d.tmp", path, (int)getpid()) >= (int)sizeof file->temp)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", path);
    file->fd = io->create(io, file->temp);
    if (file->fd < 0)
        return cannot(path, errno);
    file->out = fopencookie(file, "wb", (cookie_io_functions_t){ .write = put, .seek = seek, .close = finish });
    MT_CHECK(file->out, "out of memory");
    return MT_OK;
}

bool mt_file_writer_flush(mt_file_writer *file)
{
    mt_io *io = mt_io_now();
    return fflush(file->out) == 0 && !ferror(file->out) && io->name(io, file->fd, file->temp) == 0;
}

mt_status mt_file_writer_end(mt_file_writer *file, bool good)
{
    mt_io *io = mt_io_now();
    int problem = file->problem ? file->problem : errno;
    if (fclose(file->out) != 0 && good) { /* path is replaced already; only some network file systems fail here */
        problem = errno;
        good = false;
    }
    if (good)
        return MT_OK;
    io->remove(io, file->temp);
    cannot(file->path, problem);
    errno = problem;
    return MT_ERR_IO;
}

mt_status mt_file_writer_close(mt_file_writer *file)
{
    mt_io *io = mt_io_now();
    return mt_file_writer_end(file, mt_file_writer_flush(file) && io->rename(io, file->temp, file->path) == 0);
}

void mt_file_writer_abandon(mt_file_writer *file)
{
    mt_io *io = mt_io_now();
    fclose(file->out);
    io->remove(io, file->temp); /* where it has that name already */
}

/* ---- a whole file in memory -------------------------------------------------------------------------------------- */

mt_status mt_file_no_page(const mt_file_map *map)
{
    static const char *const begins[] = { "<!doctype html", "<html" };
    int64_t at = 0;
    while (at < mt_min(map->size, 512) && (isspace(map->bytes[at]) || map->bytes[at] >= 0x80)) /* a byte-order mark */
        at++;
    for (int i = 0; i < MT_COUNT(begins); i++)
        if (map->size - at >= (int64_t)strlen(begins[i]) &&
            strncasecmp((const char *)map->bytes + at, begins[i], strlen(begins[i])) == 0)
            return mt_fail(MT_ERR_FORMAT,
                           "%s: offset %lld: this is an HTML page, not the file: download the file itself", map->path,
                           (long long)at);
    return MT_OK;
}

mt_status mt_file_read(uint8_t **bytes, int64_t *size, const char *path)
{
    int fd;
    int64_t want, have = 0, got = 0;
    mt_status status = mt_file_open(&fd, &want, path);
    if (status != MT_OK)
        return status;
    if (want > MT_FILE_READ_MAX) {
        close(fd);
        return mt_fail(MT_ERR_FORMAT, "%s: %lld bytes; files above %d bytes are not read into memory", path,
                       (long long)want, MT_FILE_READ_MAX);
    }
    uint8_t *data = malloc((size_t)want + 1);
    MT_CHECK(data, "%s: out of memory for its %lld bytes", path, (long long)want);
    while (have < want && ((got = read(fd, data + have, (size_t)(want - have))) > 0 || (got < 0 && errno == EINTR)))
        have += mt_max(got, 0);
    if (got < 0) {
        status = mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
        free(data);
    } else {
        *bytes = data;
        *size = have; /* less than `want` when the file became shorter during the read */
    }
    close(fd);
    return status;
}

/* ---- files of datasets/fetch --------------------------------------------------------------------- */

/* datasets/cache, of the program's own tree where there is none here: its path is in text [size]. */
static const char *cache(char *text, size_t size)
{
    static const char here[] = "datasets/cache";
    ssize_t length = readlink("/proc/self/exe", text, size - sizeof here);
    text[mt_max(0, length)] = 0;
    char *build = NULL;
    for (char *next = text; (next = strstr(next, "/build/")); next++)
        build = next;
    if (!build || access(here, F_OK) == 0)
        return here;
    memcpy(build + 1, here, sizeof here);
    return access(text, F_OK) == 0 ? text : here;
}

void mt_dataset_path(char *out, const char *file, const char *standin)
{
    const char *root = getenv("MT_DATA");
    char second[MT_PATH], tree[MT_PATH / 2];
    if (!root || !*root)
        root = cache(tree, sizeof tree);
    snprintf(second, MT_PATH, "%s/%s", root, standin);
    snprintf(out, MT_PATH, "%s/%s", root, file);
    if (access(out, F_OK) < 0 && access(second, F_OK) == 0)
        snprintf(out, MT_PATH, "%s", second);
}

mt_status mt_data_map(mt_file_map *out, const char *file, const char *standin)
{
    char path[MT_PATH];
    mt_dataset_path(path, file, standin);
    mt_status status = mt_file_map_open(out, path);
    if (status == MT_OK)
        return MT_OK;
    return mt_fail(status, "%s\nrun datasets/fetch %.*s", mt_last_error(), (int)strcspn(file, "/"), file);
}
