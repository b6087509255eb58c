/* calls_12.c -- the functions of lab 12 that the worker calls: sums, the plan of shards, intervals. */
#include "ckpt/crc32c.h"
#include "ckpt/interval.h"
#include "ckpt/shards.h"
#include "worker/calls_12.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef uint32_t (*crc_of)(uint32_t crc, const void *data, int64_t bytes);

/* crc [n]; data; offset, bytes, start [n]: n calls */
static void sums(const mg_value *v, crc_of of)
{
    for (int64_t i = 0; i < ARRAY(crc)->count; i++)
        I64(crc)[i] = of((uint32_t)I64(start)[i], U8(data) + I64(offset)[i], I64(bytes)[i]);
}

static void by_table(const mg_value *v)
{
    sums(v, mt_crc32c_table);
}

static void by_instruction(const mg_value *v)
{
    sums(v, mt_crc32c_sse42);
}

/* Data again and again, each time continued: an array that is not in a cache would be a measurement of memory. */
static void repeated(const mg_value *v)
{
    uint32_t crc = 0;
    const uint8_t *data = U8(data);
    for (int64_t i = 0, bytes = ARRAY(data)->count, times = N(times); i < times; i++)
        crc = mt_crc32c_sse42(crc, data, bytes);
    I64(crc)[0] = crc;
}

/* crc [1]; start, bytes. Zeros that nobody has written are pages that the kernel has once. */
static void zeros(const mg_value *v, crc_of of)
{
    size_t bytes = (size_t)N(bytes);
    void *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MT_CHECK(data != MAP_FAILED, "there are no %zu bytes of address space", bytes);
    madvise(data, bytes, MADV_HUGEPAGE);
    I64(crc)[0] = of((uint32_t)N(start), data, N(bytes));
    munmap(data, bytes);
}

static void zeros_by_table(const mg_value *v)
{
    zeros(v, mt_crc32c_table);
}

static void zeros_by_instruction(const mg_value *v)
{
    zeros(v, mt_crc32c_sse42);
}

static void join(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(crc)->count; i++)
        I64(crc)[i] = mt_crc32c_join((uint32_t)I64(a)[i], (uint32_t)I64(b)[i], I64(bytes of b)[i]);
}

/* shards [1], begin [n+2]; elements (-1: no tensor), dtype [n]; limit. The tensors have a shape and no memory; other
 * items are integers, reals and texts in turn. */
static void plan(const mg_value *v)
{
    static int64_t integer = 7;
    static double real = 7;
    static char text[] = "seven";
    int64_t n = ARRAY(elements)->count;
    mt_tensor *tensors = calloc((size_t)n + 1, sizeof *tensors);
    mt_state_item *items = calloc((size_t)n + 1, sizeof *items);
    MT_CHECK(tensors && items, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        tensors[i].view = mt_view_contiguous(MT_SHAPE(mt_max(I64(elements)[i], 0)));
        tensors[i].dtype = (mt_dtype)I64(dtype)[i];
        if (I64(elements)[i] >= 0)
            items[i].tensor = &tensors[i];
        else if (i % 3 == 0)
            items[i].integer = &integer;
        else if (i % 3 == 1)
            items[i].real = &real;
        else
            items[i].setting = text;
    }
    tensors[n].view = mt_view_contiguous(MT_SHAPE((int64_t)1 << 55)); /* behind the list, in a file of its own */
    tensors[n].dtype = MT_U8;
    items[n].tensor = &tensors[n];
    I64(shards)[0] = mt_shards_plan(I64(begin), &(mt_state){ items, n }, N(limit));
    free(items);
    free(tensors);
}

static double number(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int64_t bits(double x)
{
    int64_t result;
    memcpy(&result, &x, sizeof x);
    return result;
}

static void young(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(interval)->count; i++)
        I64(interval)[i] = bits(mt_young_interval(number(I64(cost)[i]), number(I64(mtbf)[i])));
}

static void waste(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(waste)->count; i++) {
        const int64_t *p = I64(plan) + 5 * i;
        mt_run_plan plan = { (double)p[0] / 4, (double)p[1] / 4, (double)p[2] / 4, (double)p[3] / 4, (double)p[4] / 4 };
        mt_rng rng = mt_rng_new((uint64_t)I64(seed)[i], 0);
        I64(waste)[i] = bits(mt_run_waste(&plan, &rng));
    }
}

const mg_function mg_calls_12[] = {
    { "mt_crc32c_table", by_table },
    { "mt_crc32c_sse42", by_instruction },
    { "mt_crc32c_sse42, repeated", repeated },
    { "mt_crc32c_table, zeros", zeros_by_table },
    { "mt_crc32c_sse42, zeros", zeros_by_instruction },
    { "mt_crc32c_join", join },
    { "mt_shards_plan", plan },
    { "mt_young_interval", young },
    { "mt_run_waste", waste },
    { "mt_commit_file", mg_call_commit },
    { "mt_commit", mg_call_commit },
    { "mt_checkpoint_remove", mg_call_remove },
    { "mt_checkpoint_check", mg_call_check },
    { "mt_checkpoint_check, damaged", mg_call_damage },
    { "mt_recover", mg_call_recover },
    { "mt_keeps", mg_call_keeps },
    { "mt_checkpoint_prune", mg_call_prune },
    { "mt_saver", mg_call_saver },
    { NULL, NULL },
};
