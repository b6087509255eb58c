/* nccl_reduce.c -- sums, maxima and means over ranks, in order of rank: the same bits on all of them.
 *
 * 16-bit floats are added as f32 and rounded once; NCCL rounds as often as its ring is long, or once. A maximum of
 * floats ignores NaN, as NCCL's does.
 */
#include <math.h>
#include <string.h>
#include "emulator/api/nccl_run.h"

enum { PART = 4096 }; /* elements at a time */

static float from_bf16(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bool nan = (bits & 0x7fffffff) > 0x7f800000;
    bits = nan ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1); /* to nearest, ties to even */
    return (uint16_t)(bits >> 16);
}

/* One rank's elements, widened. */
typedef struct part {
    ncclDataType_t type;
    size_t n;
    union {
        uint8_t u8[PART];
        int32_t i32[PART];
        int64_t i64[PART];
        _Float16 f16[PART];
        uint16_t bf16[PART];
        float f32[PART];
    } raw;
    int64_t whole[PART];
    float real[PART];
} part;

static bool is_real(ncclDataType_t type)
{
    return type == ncclFloat16 || type == ncclBfloat16 || type == ncclFloat32;
}

static void widen(part *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->type == ncclFloat32)
            p->real[i] = p->raw.f32[i];
        else if (p->type == ncclFloat16)
            p->real[i] = (float)p->raw.f16[i];
        else if (p->type == ncclBfloat16)
            p->real[i] = from_bf16(p->raw.bf16[i]);
        else
            p->whole[i] = p->type == ncclUint8 ? p->raw.u8[i] : p->type == ncclInt32 ? p->raw.i32[i] : p->raw.i64[i];
}

static void narrow(part *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->type == ncclFloat32)
            p->raw.f32[i] = p->real[i];
        else if (p->type == ncclFloat16)
            p->raw.f16[i] = (_Float16)p->real[i];
        else if (p->type == ncclBfloat16)
            p->raw.bf16[i] = to_bf16(p->real[i]);
        else if (p->type == ncclUint8)
            p->raw.u8[i] = (uint8_t)p->whole[i];
        else if (p->type == ncclInt32)
            p->raw.i32[i] = (int32_t)p->whole[i];
        else
            p->raw.i64[i] = p->whole[i];
}

static void combine(part *a, const part *b, ncclRedOp_t reduction)
{
    for (size_t i = 0; i < a->n; i++)
        if (is_real(a->type))
            a->real[i] = reduction == ncclMax ? fmaxf(a->real[i], b->real[i]) : a->real[i] + b->real[i];
        else if (reduction == ncclMax)
            a->whole[i] = a->whole[i] > b->whole[i] ? a->whole[i] : b->whole[i];
        else
            a->whole[i] = (int64_t)((uint64_t)a->whole[i] + (uint64_t)b->whole[i]);
}

static void divide(part *p, int size)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_real(p->type))
            p->real[i] /= (float)size;
        else
            p->whole[i] /= size;
}

void emu_nccl_reduce(const emu_transfer *op, size_t first, size_t count)
{
    static part sum, other; /* under the API's lock */
    size_t size = emu_nccl_type_size(op->type);
    for (size_t at = 0; at < count; at += PART) {
        sum.type = other.type = op->type;
        sum.n = other.n = count - at < PART ? count - at : PART;
        for (int rank = 0; rank < op->comm->size; rank++) {
            part *p = rank ? &other : &sum;
            const emu_announced *a =
                emu_announcement(op->comm->ranks, emu_channel(EMU_COLLECTIVES, rank, 0), op->number);
            emu_bytes(op->comm->ranks, a, (first + at) * size, &p->raw, p->n * size);
            widen(p);
            if (rank)
                combine(&sum, &other, op->reduction);
        }
        if (op->reduction == ncclAvg)
            divide(&sum, op->comm->size);
        narrow(&sum);
        memcpy((char *)op->out + at * size, &sum.raw, sum.n * size);
    }
}
