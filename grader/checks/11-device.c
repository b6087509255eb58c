/* 11-device.c -- the counts of lab 11's kernels on the emulated device, and what nvcc makes of them (steps 11.6 on).
 * Values: 08-attention.c, 11-attention.c. Rows: 11-fusion.c. */
#include "checks/11-fusion.h"

#include <string.h>

/* 256 tokens, 2 heads of 64 columns: 4 blocks of 64 queries a head. False: the run has its verdict. */
static const mg_attention size = { .B = 1, .T = 256, .H = 2, .C = 128 };

static bool attention(mg_run *run, bool backward, bool bf16)
{
    const attention_case call = { .scores = MG_SCORES_ANY, .tiled = true, .cuda = true, .bf16 = bf16 };
    mg_answer answer[2] = { 0 };
    const int count = mg_08_describe(run, &call, size, answer, backward);
    return mg_call_and_judge(run, answer, count);
}

void mg_11_attention_count(mg_run *run, const void *one_case)
{
    const fusion_count *c = one_case;
    if (!attention(run, c->backward, c->bf16))
        return;
    int64_t launches = mg_device_counts(run)->launches;
    if (launches != c->launches)
        mg_fail(run, "%lld launches, where one attention needs %d", (long long)launches, c->launches);
    /* Forward reads qkv and writes out and lse; backward reads qkv, out, dout and lse, reads and writes dqkv. */
    double numbers = c->backward ? 11 : c->bf16 ? 2.5 : 4; /* of 4 bytes, for each of out */
    double bytes = 4.0 * (double)size.T * ((double)size.C * numbers + (double)size.H);
    if (c->count == MG_TRAFFIC)
        mg_device_credit(run, MG_TRAFFIC, bytes);
    else
        mg_device_credit_shared(run, c->count,
                                c->backward ? "11.7 attention backward on the device: traffic"
                                : c->bf16   ? "11.13 attention on tensor cores: traffic"
                                            : "11.6 attention on the device: traffic",
                                bytes);
}

/* The emulated device has tensor cores; heads have at most 128 columns. */
static bool pays(mg_run *run)
{
    static const int64_t sizes[2][4] = { { 128, 129, 256, 258 }, { 1, 1, 2, 2 } };
    static const double want[4] = { 1, 0, 1, 0 };
    mg_begin(run, "attention in bf16 pays");
    mg_out(run, "answers", MT_I64, MT_SHAPE(4));
    memcpy(mg_in(run, "C", MT_I64, MT_SHAPE(4)), sizes[0], sizeof sizes[0]);
    memcpy(mg_in(run, "H", MT_I64, MT_SHAPE(4)), sizes[1], sizeof sizes[1]);
    mg_hint(run, "mt_attention_bf16_pays_cuda: on tensor cores, and heads of at most MT_HEAD_COLUMNS columns");
    return mg_call(run) && mg_expect(run, "answers", want, NULL);
}

void mg_11_attention_compiled(mg_run *run, const void *one_case)
{
    const fusion_fact *c = one_case;
    if (attention(run, c->backward, c->bf16) && (c->fact != MG_TENSOR_CORES || pays(run)))
        mg_compiled_fact(run, c->file, c->fact);
}
