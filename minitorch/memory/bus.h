/* bus.h -- the way between the memory of a device and that of the host: copies that run while the device computes.
 *
 *     mt_bus *bus;
 *     void *host;
 *     MT_TRY(mt_bus_open(&bus, MT_CUDA));
 *     MT_TRY(mt_bus_host(bus, &host, storage->bytes));
 *     mt_bus_out(bus, host, storage);                  // begins a copy, and returns at once
 *     int64_t gone = mt_bus_mark(bus);
 *     ...                                              // the device computes meanwhile
 *     mt_bus_wait(bus, gone);                          // what it computes from here on comes after the copy
 *
 * A bus makes its copies one after another, in the order of the calls, and each after what the device was given to
 * compute before the call. The device waits for a copy only where mt_bus_wait says so: until then, memory that is
 * being copied out must be neither written nor freed, and memory that is being copied in must not be read either.
 *
 *     cuda   pinned memory of the host, a stream of its own for the copies, and events (cuda/bus.cu)
 *     cpu    mappings of files without names in the folder TMPDIR, or /tmp: a copy is complete when its call returns */
#pragma once

#include "core/storage.h"

MT_C_BEGIN

typedef struct mt_bus mt_bus;

/* What a kind of bus does. Sizes are >= 1. */
typedef struct mt_bus_kind {
    mt_status (*host)(mt_bus *bus, void **host, int64_t bytes); /* *host unchanged after a failure */
    void (*host_free)(mt_bus *bus, void *host, int64_t bytes);
    void (*copy)(mt_bus *bus, void *to, const void *from, int64_t bytes, bool out);
    void (*mark)(mt_bus *bus, int64_t mark); /* it is behind all copies so far */
    void (*wait)(mt_bus *bus, int64_t mark); /* one that was set */
    void (*free)(mt_bus *bus);
} mt_bus_kind;

/* A kind's own struct begins with it. */
struct mt_bus {
    const mt_bus_kind *kind;
    int64_t out, in; /* bytes that were copied in each direction, or are being copied */
    int64_t marks;   /* that were set */
};

/* mt_bus_open -- the bus of a device that is open. mt_bus_free -- waits for its copies; NULL is allowed. Its memory
 * of the host is freed before.
 * Fails, MT_ERR_UNAVAILABLE: this program was built without that device. */
mt_status mt_bus_open(mt_bus **out, mt_device device);
void mt_bus_free(mt_bus *bus);

/* mt_bus_host -- memory of the host that copies reach; bytes >= 1. Nothing is taken after a failure.
 * Fails, saying what to do: MT_ERR_IO, no file can be made there or the disk is full; MT_ERR_UNAVAILABLE, the system
 * has no more pages to pin. */
mt_status mt_bus_host(mt_bus *bus, void **host, int64_t bytes);
void mt_bus_host_free(mt_bus *bus, void *host, int64_t bytes); /* NULL is allowed */

/* mt_bus_out, mt_bus_in -- begin to copy all bytes of a storage to `host`, or from there. */
void mt_bus_out(mt_bus *bus, void *host, const mt_storage *from);
void mt_bus_in(mt_bus *bus, mt_storage *to, const void *host);

/* mt_bus_mark -- a mark behind the copies that were begun so far: 1, 2, 3, ...
 * mt_bus_wait -- what the device computes from now on comes after the copies before that mark; the host does not wait.
 * Aborts: there is no such mark. */
int64_t mt_bus_mark(mt_bus *bus);
void mt_bus_wait(mt_bus *bus, int64_t mark);

/* The bus of a GPU (cuda/bus.cu). A weak symbol: NULL in a program that is linked without that file. */
extern mt_status (*const mt_bus_open_cuda)(mt_bus **out) __attribute__((weak));

MT_C_END
