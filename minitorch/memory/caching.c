/* caching.c -- a pool for each device. The allocators of storage.h get no pointer of ours, so each device has functions
 * of its own. */
#include "memory/caching.h"
#include "prof/recorder.h"

#include <inttypes.h>

static struct {
    mt_pool *pool;
    mt_allocator system; /* what the device had before */
} caching[MT_DEVICE_COUNT];

#define POOLED(device)                                     \
    static void *alloc_##device(int64_t bytes)             \
    {                                                      \
        return mt_pool_alloc(caching[device].pool, bytes); \
    }                                                      \
    static void free_##device(void *data, int64_t bytes)   \
    {                                                      \
        mt_pool_free(caching[device].pool, data, bytes);   \
    }
POOLED(MT_CPU)
POOLED(MT_CUDA)

void mt_caching_begin(mt_device device)
{
    static const mt_allocator pooled[] = {
        [MT_CPU] = { alloc_MT_CPU, free_MT_CPU }, [MT_CUDA] = { alloc_MT_CUDA, free_MT_CUDA }
    };
    MT_CHECK(!caching[device].pool, "%s has a pool", mt_device_name(device));
    caching[device].system = mt_allocator_of(device);
    mt_allocator_set(device, &pooled[device]);
    caching[device].pool = mt_pool_open(caching[device].system);
}

void mt_caching_end(mt_device device)
{
    if (!caching[device].pool)
        return;
    mt_allocator_set(device, &caching[device].system);
    mt_pool_close(caching[device].pool);
    caching[device].pool = NULL;
}

mt_pool *mt_caching_pool(mt_device device)
{
    return caching[device].pool;
}

static void record_segment(void *device, const mt_pool_segment *segment)
{
    int before = 0;
    for (const mt_pool_block *b = segment->first; b; b = b->right)
        mt_record_room(*(const mt_device *)device, b->data, b->bytes, before++);
}

void mt_caching_record(mt_device device)
{
    if (caching[device].pool)
        mt_pool_visit(caching[device].pool, record_segment, &device);
}

/* ---- out of memory --------------------------------------------------------------------------------------- */

static mt_memory_adviser *advise;
static void *advise_user;

/* What one kind of block has. */
typedef struct share {
    int64_t segments, reserved, used, largest;
} share;

static void add_segment(void *user, const mt_pool_segment *s)
{
    share *of = (share *)user + s->kind;
    of->segments++;
    of->reserved += s->bytes;
    for (const mt_pool_block *b = s->first; b; b = b->right)
        if (b->used)
            of->used += b->bytes;
        else
            of->largest = mt_max(of->largest, b->bytes);
}

void mt_caching_print(FILE *out, mt_device device)
{
    static const char *const names[] = { [MT_POOL_OF_SMALL] = "small blocks", [MT_POOL_OF_LARGE] = "large blocks" };
    share of[MT_POOL_KINDS] = { 0 };
    fprintf(out, "memory of %s: %.1f MB live, at most %.1f MB so far\n", mt_device_name(device),
            (double)mt_live_bytes(device) / 1e6, (double)mt_peak_bytes(device) / 1e6);
    if (!caching[device].pool)
        return;
    mt_pool_visit(caching[device].pool, add_segment, of);
    mt_pool_stats s = mt_pool_stats_of(caching[device].pool);
    fprintf(out, "%-12s %9s %12s %12s %16s\n", "", "segments", "reserved MB", "used MB", "largest free MB");
    for (int i = 0; i < MT_POOL_KINDS; i++)
        fprintf(out, "%-12s %9" PRId64 " %12.1f %12.1f %16.1f\n", names[i], of[i].segments,
                (double)of[i].reserved / 1e6, (double)of[i].used / 1e6, (double)of[i].largest / 1e6);
    fprintf(out, "%" PRId64 " allocations, for which the system was asked %" PRId64 " times\n", s.allocations,
            s.system_calls);
}

/* Bytes of the largest block that the device still has, up to 1 MiB less. */
static int64_t largest_left(mt_device device, int64_t refused)
{
    mt_allocator system = caching[device].pool ? caching[device].system : mt_allocator_of(device);
    int64_t low = 0, high = refused;
    while (high - low > MT_MIB) {
        int64_t middle = low + (high - low) / 2;
        void *data = system.alloc(middle);
        if (data)
            system.free(data, middle);
        *(data ? &low : &high) = middle;
    }
    return low;
}

static void explain(mt_device device, int64_t bytes)
{
    mt_pool *pool = caching[device].pool;
    fprintf(stderr, "%" PRId64 " bytes cannot be allocated\n", bytes);
    mt_caching_print(stderr, device);
    int64_t given = pool ? mt_pool_stats_of(pool).reserved : mt_live_bytes(device);
    advise(advise_user, stderr, given + largest_left(device, bytes));
}

void mt_memory_advise(mt_memory_adviser *adviser, void *user)
{
    advise = adviser;
    advise_user = user;
    mt_out_of_memory_hook = adviser ? explain : NULL;
}
