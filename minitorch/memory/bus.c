/* bus.c -- the bus of the CPU, whose far side is a file: a segment that is not needed for a while leaves memory as one
 * that a GPU does not need leaves the GPU. The kernel writes the pages to the disk when memory is short. See bus.h. */
#include "memory/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------------------------ */

static const char *folder(void)
{
    const char *set = getenv("TMPDIR");
    return set && set[0] ? set : "/tmp";
}

/* A file that ends with its descriptor and its mappings, however the program ends. */
static int file_without_name(void)
{
    int fd = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/minitorch-bus-XXXXXX", folder()) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* The blocks of the disk are taken at once: a write to a mapping has no other way to say that there are none. */
static mt_status file_host(mt_bus *bus, void **host, int64_t bytes)
{
    (void)bus;
    int fd = file_without_name();
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, bytes);
    void *at = error ? MAP_FAILED : mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!error && at == MAP_FAILED)
        error = errno;
    if (fd >= 0)
        close(fd); /* the mapping keeps the file; without one it is gone */
    if (error)
        return mt_fail(MT_ERR_IO,
                       "%s: no file of %" PRId64 " bytes for offloaded activations: %s. Name a folder with room in "
                       "TMPDIR, or offload less",
                       folder(), bytes, strerror(error));
    *host = at;
    return MT_OK;
}

static void file_host_free(mt_bus *bus, void *host, int64_t bytes)
{
    (void)bus;
    munmap(host, (size_t)bytes);
}

/* ---- copies ----------------------------------------------------------------------------------------- */

static void copy_now(mt_bus *bus, void *to, const void *from, int64_t bytes, bool out)
{
    (void)bus, (void)out;
    memcpy(to, from, (size_t)bytes);
}

static void nothing_to_do(mt_bus *bus, int64_t mark)
{
    (void)bus, (void)mark;
}

static void file_free(mt_bus *bus)
{
    free(bus);
}

static const mt_bus_kind file_kind = { file_host, file_host_free, copy_now, nothing_to_do, nothing_to_do, file_free };

/* ---- any bus ---------------------------------------------------------------------------------------- */

mt_status mt_bus_open(mt_bus **out, mt_device device)
{
    if (device == MT_CPU) {
        *out = mt_calloc(1, sizeof **out);
        (*out)->kind = &file_kind;
        return MT_OK;
    }
    if (!&mt_bus_open_cuda)
        return mt_fail(MT_ERR_UNAVAILABLE, "this program was built without a bus to %s", mt_device_name(device));
    return mt_bus_open_cuda(out);
}

void mt_bus_free(mt_bus *bus)
{
    if (bus)
        bus->kind->free(bus);
}

mt_status mt_bus_host(mt_bus *bus, void **host, int64_t bytes)
{
    return bus->kind->host(bus, host, bytes);
}

void mt_bus_host_free(mt_bus *bus, void *host, int64_t bytes)
{
    if (host)
        bus->kind->host_free(bus, host, bytes);
}

void mt_bus_out(mt_bus *bus, void *host, const mt_storage *from)
{
    MT_CHECK(from->data, "a copy of memory that is not there");
    bus->kind->copy(bus, host, from->data, from->bytes, true);
    bus->out += from->bytes;
}

void mt_bus_in(mt_bus *bus, mt_storage *to, const void *host)
{
    MT_CHECK(to->data, "a copy to memory that is not there");
    bus->kind->copy(bus, to->data, host, to->bytes, false);
    bus->in += to->bytes;
}

int64_t mt_bus_mark(mt_bus *bus)
{
    bus->kind->mark(bus, ++bus->marks);
    return bus->marks;
}

void mt_bus_wait(mt_bus *bus, int64_t mark)
{
    MT_CHECK(mark >= 1 && mark <= bus->marks, "the bus has marks 1 to %" PRId64 ", not %" PRId64, bus->marks, mark);
    bus->kind->wait(bus, mark);
}
