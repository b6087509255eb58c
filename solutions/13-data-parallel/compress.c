/* compress.c -- gradients in one bit an element, or their largest elements only; see dist/compress.h. */
#include "dist/compress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist/collectives.h"

static void *room(int64_t bytes)
{
    void *memory = malloc((size_t)bytes + 1);
    MT_CHECK(memory, "out of memory");
    return memory;
}

/* ---- one bit ------------------------------------------------------------------------------------ */

void mt_onebit_pack(uint8_t *message, float *error, const float *x, int64_t n)
{
    uint8_t *bits = message + sizeof(float);
    double sum = 0;
    float scale = 0;
    /* LAB 13.14 BEGIN  Send the mean size and the signs of v = x + error; keep what is not sent.
     * Hint: error has room for v until the scale is known. The scale goes to the first four bytes (memcpy). */
    for (int64_t i = 0; i < n; i++) {
        error[i] += x[i];
        sum += fabs((double)error[i]);
    }
    scale = n > 0 ? (float)(sum / (double)n) : 0;
    memcpy(message, &scale, sizeof scale);
    memset(bits, 0, (size_t)(n + 7) / 8);
    for (int64_t i = 0; i < n; i++) {
        bool positive = error[i] >= 0;
        bits[i / 8] |= (uint8_t)(positive << i % 8);
        error[i] -= positive ? scale : -scale;
    }
    /* LAB 13.14 END */
}

void mt_onebit_unpack(float *out, const uint8_t *message, int64_t n)
{
    float scale;
    memcpy(&scale, message, sizeof scale);
    /* LAB 13.14 BEGIN  Each element is scale or minus scale. */
    for (int64_t i = 0; i < n; i++)
        out[i] = message[sizeof(float) + i / 8] >> i % 8 & 1 ? scale : -scale;
    /* LAB 13.14 END */
}

/* What a rank exchanges, in two phases. */
typedef struct exchange {
    mt_comm *comm;
    int64_t n, longest; /* bytes of the longest message */
    uint8_t *out, *in;  /* [size, longest] to and from each rank */
} exchange;

static int64_t part_begin(const exchange *e, int rank)
{
    return mt_part_begin(e->n, e->comm->size, rank);
}

static int64_t part_length(const exchange *e, int rank)
{
    return part_begin(e, rank + 1) - part_begin(e, rank);
}

/* Sends `bytes_out` to each other rank while that many of its own come from it: every pair of ranks in some step. */
static mt_status swap(const exchange *e, bool means)
{
    mt_comm *comm = e->comm;
    mt_status status = MT_OK;
    for (int step = 1; step < comm->size && status == MT_OK; step++) {
        int to = (comm->rank + step) % comm->size, from = (comm->rank - step + comm->size) % comm->size;
        /* in the first phase each rank gets its own part, in the second that of the sender */
        int64_t sent = mt_onebit_bytes(part_length(e, means ? comm->rank : to));
        int64_t got = mt_onebit_bytes(part_length(e, means ? from : comm->rank));
        mt_request *request;
        status = mt_send(comm, e->out + (means ? comm->rank : to) * e->longest, sent, MT_U8, to, &request);
        if (status == MT_OK)
            status = mt_recv(comm, e->in + from * e->longest, got, MT_U8, from, NULL);
        if (status == MT_OK)
            status = mt_wait(request);
    }
    return status;
}

/* The two phases. part [n / size, rounded up], one: room. */
static mt_status two_phases(const exchange *e, float *data, float *error, float *part_error, float *part, float *one)
{
    int rank = e->comm->rank, size = e->comm->size;
    int64_t mine = part_length(e, rank);
    mt_status status = MT_OK;
    /* LAB 13.15 BEGIN  Send each part to its rank, and the mean of each part to all.
     * Hint: e->out + r * e->longest is the message for part r, e->in + r * e->longest what rank r has sent; swap moves
     * them between ranks, but not a rank's own: copy that. If data had this rank's exact mean at the end, the ranks
     * would not have the same bits. */
    for (int r = 0; r < size; r++)
        mt_onebit_pack(e->out + r * e->longest, error + part_begin(e, r), data + part_begin(e, r), part_length(e, r));
    memcpy(e->in + rank * e->longest, e->out + rank * e->longest, (size_t)e->longest);
    status = swap(e, false);
    if (status != MT_OK)
        return status;
    memset(part, 0, (size_t)mine * sizeof *part);
    for (int r = 0; r < size; r++) {
        mt_onebit_unpack(one, e->in + r * e->longest, mine);
        for (int64_t i = 0; i < mine; i++)
            part[i] += one[i] / (float)size;
    }
    mt_onebit_pack(e->out + rank * e->longest, part_error, part, mine);
    memcpy(e->in + rank * e->longest, e->out + rank * e->longest, (size_t)e->longest);
    status = swap(e, true);
    for (int r = 0; r < size && status == MT_OK; r++)
        mt_onebit_unpack(data + part_begin(e, r), e->in + r * e->longest, part_length(e, r));
    /* LAB 13.15 END */
    return status;
}

mt_status mt_onebit_all_reduce(mt_comm *comm, float *data, int64_t n, float *error, float *part_error)
{
    int64_t longest = mt_ceil_div(n, comm->size);
    exchange e = { .comm = comm, .n = n, .longest = mt_onebit_bytes(longest) };
    float *part = room(2 * longest * (int64_t)sizeof *part);
    e.out = room(2 * comm->size * e.longest);
    e.in = e.out + comm->size * e.longest;
    mt_status status = two_phases(&e, data, error, part_error, part, part + longest);
    free(e.out);
    free(part);
    return status;
}

/* ---- the largest elements ------------------------------------------------------------------------- */

/* Bits of |v|: of floats that are no NaN they have the order of their values. */
static uint32_t size_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & 0x7fffffff;
}

static int64_t count_above(const float *v, int64_t n, uint32_t size)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += size_of(v[i]) > size;
    return count;
}

void mt_topk_pack(int32_t *index, float *value, float *error, const float *x, int64_t n, int64_t k)
{
    MT_CHECK(k >= 0 && k <= n && n <= INT32_MAX, "top-k: %lld of %lld elements", (long long)k, (long long)n);
    /* LAB 13.16 BEGIN  The k largest of v = x + error, by their places.
     * Hint: error has room for v. count_above tells how many are larger than a size: look for the smallest size that at
     * most k are larger than, one bit after the other. Those that are larger are sent, and the first of those of that
     * size. */
    uint32_t size = 0;
    int64_t sent = 0, equal;
    for (int64_t i = 0; i < n; i++)
        error[i] += x[i];
    for (uint32_t bit = 1u << 30; bit > 0; bit /= 2)
        if (count_above(error, n, size + bit - 1) > k)
            size += bit;
    equal = k - count_above(error, n, size);
    for (int64_t i = 0; i < n && sent < k; i++) {
        bool is_equal = size_of(error[i]) == size;
        if (size_of(error[i]) < size || (is_equal && equal == 0))
            continue;
        equal -= is_equal;
        index[sent] = (int32_t)i;
        value[sent++] = error[i];
        error[i] = 0;
    }
    /* LAB 13.16 END */
}

mt_status mt_topk_all_reduce(mt_comm *comm, float *data, int64_t n, int64_t k, float *error)
{
    int64_t all = k * comm->size;
    int32_t *index = room(all * (int64_t)sizeof *index), *my_index = index + k * comm->rank;
    float *value = room(all * (int64_t)sizeof *value), *my_value = value + k * comm->rank;
    mt_status status = MT_OK;
    /* LAB 13.16 BEGIN  What all ranks send, added up in order of rank.
     * Hint: places and values have different types, and an mt_all_gather each. */
    mt_topk_pack(my_index, my_value, error, data, n, k);
    status = mt_all_gather(comm, index, my_index, k, MT_I32, NULL);
    if (status == MT_OK)
        status = mt_all_gather(comm, value, my_value, k, MT_F32, NULL);
    for (int64_t i = 0; i < n; i++)
        data[i] = 0;
    for (int64_t i = 0; i < all && status == MT_OK; i++)
        data[index[i]] += value[i] / (float)comm->size;
    /* LAB 13.16 END */
    free(index);
    free(value);
    return status;
}
