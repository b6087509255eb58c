/* decoder.c -- the forward pass of models/gpt2.c for one row, over kernels: no tensors, no tape, nothing allocated. */
#include "models/decoder.h"

#include <stdlib.h>
#include <string.h>

#include "core/scope.h"
#include "models/gpt2.h"
#include "kernels/kernels.h"
#include "models/kernels_gpt2.h"
#include "ops/policy.h"
#include "kernels/vec16.h"

enum {
    STREAMS = 4,  /* rows of a matrix that a thread reads at the same time */
    AHEAD = 4096, /* bytes between a prefetch and the use */
    PARTS = 8,    /* of a sum over a matrix's rows */
};

/* The modules of a block that hold its parameters. */
typedef struct layer {
    const mt_module *ln_1, *c_attn, *attn_proj, *ln_2, *c_fc, *mlp_proj;
} layer;

struct mt_decoder {
    mt_gpt2_config config;
    mt_dtype dtype; /* of the matrices that products read; all else is f32 */
    const float *wte, *wpe;
    const mt_module *ln_f, *head; /* the head's matrix is wte */
    layer *layer;
    int32_t *ids; /* [block]: the tokens of the context */
    int64_t place;
    int64_t bytes; /* of the block of memory that the next lines point into */
    float *cache;  /* [layers, block, 2 width] */
    float *x, *normal, *wide, *part;
    float *parts;  /* [PARTS, 4 width] */
    float *logits; /* [vocabulary] */
};

static layer layer_of(const mt_module *block)
{
    const mt_module *attn = block->child[MT_GPT2_ATTN], *mlp = block->child[MT_GPT2_MLP];
    return (layer){ block->child[MT_GPT2_LN_1], attn->child[MT_GPT2_C_ATTN], attn->child[MT_GPT2_C_PROJ],
                    block->child[MT_GPT2_LN_2], mlp->child[MT_GPT2_C_FC],    mlp->child[MT_GPT2_C_PROJ] };
}

mt_decoder *mt_decoder_new(const mt_module *model)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(model);
    MT_CHECK(mt_module_device(model) == MT_CPU, "the decoder reads its model on the cpu, this one is on %s",
             mt_device_name(mt_module_device(model)));
    mt_decoder *d = mt_calloc(1, sizeof *d);
    *d = (mt_decoder){ .config = *c,
                       .dtype = mt_cast_dtype("decoder", MT_OP_MATMUL, MT_F32),
                       .wte = mt_f32(model->child[MT_GPT2_WTE]->param[0]),
                       .wpe = mt_f32(model->child[MT_GPT2_WPE]->param[0]),
                       .ln_f = model->child[MT_GPT2_LN_F],
                       .head = model->child[MT_GPT2_WTE],
                       .layer = mt_realloc(NULL, c->layers, sizeof *d->layer),
                       .ids = mt_realloc(NULL, c->block, sizeof *d->ids) };
    for (int64_t l = 0; l < c->layers; l++)
        d->layer[l] = layer_of(model->child[MT_GPT2_H]->child[l]);
    int64_t cache = c->layers * c->block * 2 * c->width;
    d->bytes = (cache + (7 + PARTS * 4) * c->width + c->vocabulary) * (int64_t)sizeof(float);
    d->cache = mt_alloc(d->bytes, MT_CPU);
    d->x = d->cache + cache;
    d->normal = d->x + c->width;
    d->part = d->normal + c->width;
    d->wide = d->part + c->width;
    d->parts = d->wide + 4 * c->width;
    d->logits = d->parts + PARTS * 4 * c->width;
    return d;
}

void mt_decoder_free(mt_decoder *d)
{
    if (!d)
        return;
    mt_free(d->cache, d->bytes, MT_CPU);
    free(d->layer);
    free(d->ids);
    free(d);
}

static void layernorm(float *out, const float *x, const mt_module *m, int64_t C)
{
    float mean, rstd;
    mt_gpt2_kernels(MT_CPU)->layernorm_fwd(out, &mean, &rstd, x, mt_f32(m->param[0]), mt_f32(m->param[1]), 1, C,
                                           m->scalar[0]);
}

/* ---- one row times many weights --------------------------------------------------------------------------
 * Each weight is used once, so memory bandwidth is the limit. It is used best with several sequential streams of reads
 * and with prefetches far ahead. */

/* A part of a matrix. The functions below are compiled once for each type. */
typedef struct weights {
    const void *data;
    mt_dtype dtype;
} weights;

/* A module's matrix, in another type than f32 a copy that the parameter keeps. */
static weights matrix_of(const mt_module *m, mt_dtype dtype)
{
    mt_scope_begin();
    const void *data = mt_data(mt_operand(m->param[0], dtype));
    mt_scope_end();
    return (weights){ data, dtype };
}

#define FOR_EACH_TYPE static inline __attribute__((always_inline))

FOR_EACH_TYPE weights from(weights w, int64_t i)
{
    return (weights){ (const char *)w.data + i * (w.dtype == MT_F32 ? 4 : 2), w.dtype };
}

FOR_EACH_TYPE mt_vec vector_at(weights w, int64_t i)
{
    const void *at = from(w, i).data;
    __builtin_prefetch((const char *)at + AHEAD);
    return w.dtype == MT_F32 ? mt_load(at) : w.dtype == MT_BF16 ? mt_load_bf16(at) : mt_load_f16(at);
}

FOR_EACH_TYPE float number_at(weights w, int64_t i)
{
    const void *at = from(w, i).data;
    return w.dtype == MT_F32    ? *(const float *)at
           : w.dtype == MT_BF16 ? mt_bf16_to_f32(*(const mt_bf16 *)at)
                                : mt_f16_to_f32(*(const mt_f16 *)at);
}

/* sum [O] += x[r * apart] times row r * apart of w, for r = 0 .. STREAMS-1. */
FOR_EACH_TYPE void add_rows(float *restrict sum, const float *x, weights w, int64_t apart, int64_t O)
{
    int64_t j = 0, step = apart * O;
    for (; j + MT_VL <= O; j += MT_VL) {
        mt_vec total = mt_load(sum + j);
#pragma GCC unroll 4
        for (int r = 0; r < STREAMS; r++)
            total += x[r * apart] * vector_at(w, r * step + j);
        mt_store(sum + j, total);
    }
    for (; j < O; j++)
        for (int r = 0; r < STREAMS; r++)
            sum[j] += x[r * apart] * number_at(w, r * step + j);
}

/* sum [O] = x [rows] w [rows,O]. */
FOR_EACH_TYPE void add_part_of(float *sum, const float *x, weights w, int64_t rows, int64_t O)
{
    int64_t apart = rows / STREAMS;
    memset(sum, 0, (size_t)O * sizeof *sum);
    for (int64_t i = 0; i < apart; i++)
        add_rows(sum, x + i, from(w, i * O), apart, O);
    for (int64_t i = apart * STREAMS; i < rows; i++)
        for (int64_t j = 0; j < O; j++)
            sum[j] += x[i] * number_at(w, i * O + j);
}

static void add_part(float *sum, const float *x, weights w, int64_t rows, int64_t O)
{
    if (w.dtype == MT_F32)
        add_part_of(sum, x, (weights){ w.data, MT_F32 }, rows, O);
    else if (w.dtype == MT_BF16)
        add_part_of(sum, x, (weights){ w.data, MT_BF16 }, rows, O);
    else
        add_part_of(sum, x, (weights){ w.data, MT_F16 }, rows, O);
}

/* out [O] = x [I] w [I,O] + b. The sum over I is made of PARTS, added in their order, whatever the number of
 * threads. */
static void linear(const mt_decoder *d, float *out, const float *x, const mt_module *m)
{
    const weights w = matrix_of(m, d->dtype);
    const float *b = mt_f32(m->param[1]);
    int64_t I = m->param[0]->view.shape[0], O = m->param[0]->view.shape[1];
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int64_t p = 0; p < PARTS; p++) {
            int64_t begin = p * I / PARTS, end = (p + 1) * I / PARTS;
            add_part(d->parts + p * O, x + begin, from(w, begin * O), end - begin, O);
        }
#pragma omp for schedule(static)
        for (int64_t j = 0; j < O; j++) {
            out[j] = b[j];
            for (int64_t p = 0; p < PARTS; p++)
                out[j] += d->parts[p * O + j];
        }
    }
}

/* out[r * apart] = row r * apart of w, C long, times x [C], for r = 0 .. STREAMS-1. */
FOR_EACH_TYPE void dot_rows_of(float *out, weights w, const float *x, int64_t apart, int64_t C)
{
    mt_vec sum[STREAMS] = { 0 };
    int64_t c = 0, step = apart * C;
    for (; c + MT_VL <= C; c += MT_VL)
#pragma GCC unroll 4
        for (int r = 0; r < STREAMS; r++)
            sum[r] += vector_at(w, r * step + c) * mt_load(x + c);
    for (int r = 0; r < STREAMS; r++) {
        float total = 0;
        for (int lane = 0; lane < MT_VL; lane++)
            total += sum[r][lane];
        for (int64_t k = c; k < C; k++)
            total += number_at(w, r * step + k) * x[k];
        out[r * apart] = total;
    }
}

static void dot_rows(float *out, weights w, const float *x, int64_t apart, int64_t C)
{
    if (w.dtype == MT_F32)
        dot_rows_of(out, (weights){ w.data, MT_F32 }, x, apart, C);
    else if (w.dtype == MT_BF16)
        dot_rows_of(out, (weights){ w.data, MT_BF16 }, x, apart, C);
    else
        dot_rows_of(out, (weights){ w.data, MT_F16 }, x, apart, C);
}

/* logits [V] = wte x; the last rows of wte, which no stream has, alone: STREAMS times the same one. */
static void classify(const mt_decoder *d, const float *x)
{
    int64_t V = d->config.vocabulary, apart = V / STREAMS, C = d->config.width;
    const weights wte = matrix_of(d->head, d->dtype);
#pragma omp parallel for schedule(static)
    for (int64_t v = 0; v < apart; v++)
        dot_rows(d->logits + v, from(wte, v * C), x, apart, C);
    for (int64_t v = apart * STREAMS; v < V; v++)
        dot_rows(d->logits + v, from(wte, v * C), x, 0, C);
}

/* x += part, then normal = the layernorm of x by m. */
static void add_and_normalise(mt_decoder *d, const mt_module *m)
{
    float mean, rstd;
    int64_t C = d->config.width;
    mt_kernels(MT_CPU)->residual_fwd(d->x, d->x, d->part, C);
    mt_gpt2_kernels(MT_CPU)->layernorm_fwd(d->normal, &mean, &rstd, d->x, mt_f32(m->param[0]), mt_f32(m->param[1]), 1,
                                           C, m->scalar[0]);
}

/* From ln_1 of x, in normal, to what the next layer reads, or the head. */
static void run_layer(mt_decoder *d, int64_t l)
{
    const layer *p = &d->layer[l];
    int64_t C = d->config.width;
    linear(d, d->wide, d->normal, p->c_attn);
    mt_gpt2_kernels(MT_CPU)->attention_cached(d->normal, d->cache + l * d->config.block * 2 * C, d->wide, d->place, C,
                                              d->config.heads);
    linear(d, d->part, d->normal, p->attn_proj);
    add_and_normalise(d, p->ln_2);
    linear(d, d->wide, d->normal, p->c_fc);
    mt_kernels(MT_CPU)->gelu_tanh_fwd(d->wide, d->wide, 4 * C);
    linear(d, d->part, d->wide, p->mlp_proj);
    add_and_normalise(d, l + 1 < d->config.layers ? d->layer[l + 1].ln_1 : d->ln_f);
}

/* Everything but the logits, which only the last token needs. */
static void read_token(mt_decoder *d, int32_t id)
{
    int64_t C = d->config.width;
    mt_gpt2_kernels(MT_CPU)->embedding_fwd(d->x, &id, d->wte, d->wpe + d->place * C, 1, 1, d->config.vocabulary, C);
    layernorm(d->normal, d->x, d->layer[0].ln_1, C);
    for (int64_t l = 0; l < d->config.layers; l++)
        run_layer(d, l);
    d->ids[d->place++] = id;
}

/* The newer half once more, from place 0 on; a context of one token is simply emptied. */
static void forget(mt_decoder *d)
{
    int64_t kept = d->config.block / 2, first = d->config.block - kept;
    d->place = 0;
    for (int64_t i = 0; i < kept; i++)
        read_token(d, d->ids[first + i]);
}

const float *mt_decoder_next(mt_decoder *d, int32_t id)
{
    if (d->place == d->config.block)
        forget(d);
    read_token(d, id);
    classify(d, d->normal);
    return d->logits;
}
