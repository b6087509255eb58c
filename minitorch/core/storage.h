/* storage.h -- one reference-counted block of memory on one device; tensors and their views share it.
 *
 * All memory of the framework passes through mt_alloc and mt_free, so that it can be watched (observers), replaced
 * (lab 10's caching allocator) and checked (debug flavour: new and freed blocks are filled with NaN, guard bytes stand
 * on both sides, and live bytes must be zero when the program ends). */
#ifndef MT_CORE_STORAGE_H
#define MT_CORE_STORAGE_H

#include "core/base.h"
#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MT_ALIGNMENT 64 /* of every block: a cache line, and an AVX-512 vector */

typedef struct mt_storage {
    void *data;
    int64_t bytes;
    mt_device device;
    int refs;        /* tensors and views that hold it; changed by one thread at a time */
    int64_t version; /* how often it was written in place (autograd/tape.h, mt_written) */
} mt_storage;

/* mt_storage_new -- an uninitialised block with one reference; bytes >= 0. Aborts when memory is out. */
mt_storage *mt_storage_new(int64_t bytes, mt_device device);
mt_storage *mt_storage_retain(mt_storage *storage);
void mt_storage_release(mt_storage *storage); /* NULL is allowed */

/* mt_alloc, mt_free -- the blocks themselves, for buffers that are no tensor. Free with the size they were made with.
 * An empty block (bytes = 0) has an address of its own too. */
void *mt_alloc(int64_t bytes, mt_device device);
void mt_free(void *data, int64_t bytes, mt_device device); /* NULL is allowed */

/* mt_live_bytes, mt_peak_bytes -- bytes allocated now, and the most there ever were since mt_peak_reset. */
int64_t mt_live_bytes(mt_device device);
int64_t mt_peak_bytes(mt_device device);
void mt_peak_reset(mt_device device);

/* ---- seam: allocator observers (memory accounting of lab 10, the profiler) --------------------
 * Each is told of every allocation (bytes > 0), right after it, and of every free (bytes < 0), right before it, so that
 * news of one address never overtake each other; on the thread that does it; empty blocks are no news. Observers may
 * allocate (and are told of that too). */
typedef void mt_alloc_observer(void *user, mt_device device, const void *data, int64_t bytes);
void mt_alloc_observe(mt_alloc_observer *observer, void *user);   /* aborts: more than 8 at a time */
void mt_alloc_unobserve(mt_alloc_observer *observer, void *user); /* aborts: not registered */

/* ---- seam: the allocator of a device (lab 10's caching allocator, cudaMalloc) ----------------- */
typedef struct mt_allocator {
    void *(*alloc)(int64_t bytes); /* MT_ALIGNMENT-aligned, NULL when memory is out; bytes >= 1 */
    void (*free)(void *data, int64_t bytes);
} mt_allocator;

/* mt_allocator_set -- replace a device's allocator, while nothing is live on it; NULL brings back the default.
 * Aborts: live blocks. */
void mt_allocator_set(mt_device device, const mt_allocator *allocator);

#ifdef __cplusplus
}
#endif
#endif
