/* storage.h -- one reference-counted block of memory on one device; tensors and their views share it.
 *
 * All memory of the framework comes from mt_alloc, so that it can be observed, taken from another allocator (lab 10)
 * and checked (debug flavour: core/guard.h). */
#pragma once

#include "core/base.h"
#include "core/device.h"

MT_C_BEGIN

#define MT_ALIGNMENT 64 /* of every block: a cache line, and an AVX-512 vector */

typedef struct mt_storage {
    void *data;
    int64_t bytes;
    mt_device device;
    int refs;        /* tensors that share it; changed by one thread at a time */
    int64_t version; /* number of writes in place (mt_written, autograd/tape.h) */

    /* ---- extension point: memory that comes when it is read (dist/zero3.h); NULL: it is always there. Called by
     * mt_storage_data; may allocate data, and free that of storages read before the last two. */
    void (*use)(struct mt_storage *storage);
    void *user;
} mt_storage;

/* mt_storage_new -- an uninitialised block with one reference; bytes >= 0. Aborts: out of memory. */
mt_storage *mt_storage_new(int64_t bytes, mt_device device);
mt_storage *mt_storage_retain(mt_storage *storage);
void mt_storage_release(mt_storage *storage); /* NULL is allowed */

/* mt_storage_data -- where the memory is that is about to be read or written. */
static inline void *mt_storage_data(mt_storage *storage)
{
    if (storage->use)
        storage->use(storage);
    return storage->data;
}

/* mt_alloc, mt_free -- a block without a reference count, for buffers that are not tensors. Free it with its size.
 * An empty block (bytes = 0) has an address of its own too.   Aborts: out of memory. */
void *mt_alloc(int64_t bytes, mt_device device);
void mt_free(void *data, int64_t bytes, mt_device device); /* NULL is allowed */

/* mt_live_bytes, mt_peak_bytes -- bytes allocated now, and their maximum since mt_peak_reset. */
int64_t mt_live_bytes(mt_device device);
int64_t mt_peak_bytes(mt_device device);
void mt_peak_reset(mt_device device);

/* ---- extension point: the observer of allocations (prof/recorder.h) ----------------------------
 * It is called after every allocation (bytes > 0) and before every free (bytes < 0), on the thread that does it, except
 * for empty blocks. The calls for one address arrive in order. It may allocate (and is called). */
typedef void mt_alloc_observer(void *user, mt_device device, const void *data, int64_t bytes);

/* mt_alloc_observe -- call this one from now on instead of another; NULL: none. When it is removed while other threads
 * allocate, it may still be called shortly afterwards. */
void mt_alloc_observe(mt_alloc_observer *observer, void *user);

/* What memory is used for. */
typedef enum mt_memory_use {
    MT_USE_PARAMETER, /* and copies of parameters in 16 bits */
    MT_USE_STATE,     /* of an optimizer */
    MT_USE_GRADIENT,  /* of a parameter */
    MT_USE_ACTIVATION,
    MT_USE_OTHER,  /* batches, data sets */
    MT_USE_UNSAID, /* the recorder takes it for an activation inside an op (core/span.h), else for other */
} mt_memory_use;

#define MT_USES MT_USE_UNSAID
extern const char *const mt_use_name[MT_USES]; /* "parameters", ... */

/* mt_alloc_for -- what this thread allocates from now on is for this use; returns the use before, to go back to.
 *     mt_memory_use before = mt_alloc_for(MT_USE_GRADIENT);
 *     grad = mt_zeros(...);
 *     mt_alloc_for(before);
 * mt_alloc_use -- the use now; MT_USE_UNSAID at first. */
mt_memory_use mt_alloc_for(mt_memory_use use);
mt_memory_use mt_alloc_use(void);

/* ---- extension point: the allocator of a device (lab 10) -------------------------------------- */
typedef struct mt_allocator {
    void *(*alloc)(int64_t bytes); /* MT_ALIGNMENT-aligned, NULL when out of memory; bytes >= 1 */
    void (*free)(void *data, int64_t bytes);
} mt_allocator;

/* mt_allocator_set -- replace a device's allocator; NULL: the default.   Aborts: the device has live blocks.
 * mt_allocator_of -- the one it has.   Aborts: the device is not open. */
void mt_allocator_set(mt_device device, const mt_allocator *allocator);
mt_allocator mt_allocator_of(mt_device device);

/* Called before mt_alloc aborts because so many bytes cannot be had; NULL: nothing is. */
extern void (*mt_out_of_memory_hook)(mt_device device, int64_t bytes);

MT_C_END
