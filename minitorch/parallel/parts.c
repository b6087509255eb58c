/* parts.c -- see parts.h. */
#include "parallel/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/scope.h"
#include "dist/threads.h"
#include "models/gpt2_ops.h"
#include "ops/ops.h"

struct mt_gpt2_parts {
    mt_gpt2_parts_config config;
    mt_module *model; /* borrowed */
    int64_t *begin;   /* [stages * chunks + 1] the first block of each part */
    int *first;       /* [chunks + 1] which child of h is the first block of each chunk of this rank */
    mt_tp tp;
    mt_tp alone;  /* with `sequence`: of this rank */
    int64_t time; /* tokens of a sample of this forward */
};

static int count(const mt_gpt2_parts *p)
{
    return p->config.stages * p->config.chunks;
}

static int part_of(const mt_gpt2_parts *p, int chunk)
{
    return chunk * p->config.stages + p->config.stage;
}

static bool has_first(const mt_gpt2_parts *p)
{
    return p->config.stage == 0;
}

static bool has_last(const mt_gpt2_parts *p)
{
    return p->config.stage == p->config.stages - 1;
}

/* ---- blocks ----------------------------------------------------------------------------------------------- */

/* Which blocks belong to which part, by their products for a token: a block has 12 C^2 weights, its attention reads T/2
 * keys and values on average, and the head has V C weights. */
static mt_status partition(int64_t *begin, const mt_gpt2_config *c, int parts)
{
    int64_t *cost = mt_calloc(c->layers, sizeof *cost);
    for (int64_t l = 0; l < c->layers; l++)
        cost[l] = c->width * (12 * c->width + c->block);
    cost[c->layers - 1] += c->width * c->vocabulary;
    mt_status status = mt_pipe_partition(begin, cost, c->layers, parts);
    free(cost);
    return status;
}

mt_status mt_gpt2_parts_check(const mt_gpt2_config *c, int parts, int ranks)
{
    if (c->heads % ranks != 0)
        return mt_fail(MT_ERR_ARGUMENT, "%" PRId64 " heads cannot be divided equally among %d ranks (--tp)", c->heads,
                       ranks);
    int64_t *begin = mt_calloc(parts + 1, sizeof *begin);
    mt_status status = partition(begin, c, parts);
    free(begin);
    return status;
}

/* Only the blocks of this rank stay, in their order. */
static void keep_blocks(mt_gpt2_parts *p)
{
    mt_module *h = p->model->child[MT_GPT2_H];
    int kept = 0, next = 0;
    for (int part = 0; part < count(p); part++) {
        bool mine = part % p->config.stages == p->config.stage;
        for (; next < p->begin[part + 1]; next++) {
            if (!mine) {
                mt_module_free(h->child[next]);
                continue;
            }
            h->child[kept] = h->child[next];
            memmove(h->child_name[kept++], h->child_name[next], sizeof *h->child_name);
        }
        if (mine)
            p->first[part / p->config.stages + 1] = kept;
    }
    h->children = kept;
}

static void drop_params(mt_module *m)
{
    while (m->params > 0) {
        mt_release(m->param[--m->params]);
        m->param[m->params] = NULL;
    }
}

static void keep_ends(mt_gpt2_parts *p)
{
    mt_module *const *child = p->model->child;
    if (!has_first(p) && !has_last(p))
        drop_params(child[MT_GPT2_WTE]);
    if (!has_first(p))
        drop_params(child[MT_GPT2_WPE]);
    if (!has_last(p))
        drop_params(child[MT_GPT2_LN_F]);
}

/* ---- matrices --------------------------------------------------------------------------------------------- */

/* How a parameter is divided among the ranks of a stage. */
static bool layout_of(mt_tp_layout *out, const mt_gpt2_parts *p, const char *name)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(p->model);
    int64_t C = c->width, D = C / c->heads;
    const struct {
        const char *name;
        mt_tp_layout layout;
    } divided[] = {
        { "attn.c_attn.weight", { C, 3, C, D } },     { "attn.c_attn.bias", { 1, 3, C, D } },
        { "attn.c_proj.weight", { 1, 1, C * C, C } }, { "mlp.c_fc.weight", { C, 1, 4 * C, 1 } },
        { "mlp.c_fc.bias", { 1, 1, 4 * C, 1 } },      { "mlp.c_proj.weight", { 1, 1, 4 * C * C, C } },
        { "wte.weight", { 1, 1, c->rows * C, C } },
    };
    for (int i = 0; i < (int)MT_COUNT(divided) && p->tp.comm->size > 1; i++) {
        const char *at = strstr(name, divided[i].name);
        bool is_whole = p->config.whole_table && strncmp(divided[i].name, "wte.", 4) == 0;
        if (at && strchr("/", at[strlen(divided[i].name)]) && !is_whole) { /* there, or at the end */
            *out = divided[i].layout;
            return true;
        }
    }
    return false;
}

bool mt_gpt2_parts_divides(const mt_gpt2_parts *p, const char *name)
{
    mt_tp_layout layout;
    return layout_of(&layout, p, name);
}

int64_t mt_gpt2_parts_copy(const mt_gpt2_parts *p, const char *name, float *whole, int64_t n, float *part, int tensor,
                           bool to_whole)
{
    mt_tp_layout l = { 1, 1, n, 1 };
    bool divided = layout_of(&l, p, name);
    mt_tp_range range = mt_tp_range_of(l.width / l.unit, divided ? p->tp.comm->size : 1, divided ? tensor : 0);
    int64_t piece = (range.end - range.begin) * l.unit, pieces = l.rows * l.groups;
    for (int64_t i = 0; part && i < pieces; i++) {
        float *from = whole + i * l.width + range.begin * l.unit, *to = part + i * piece;
        memcpy(to_whole ? from : to, to_whole ? to : from, (size_t)piece * sizeof *to);
    }
    return pieces * piece;
}

/* In place of a parameter its part: some columns of a matrix, or rows if its rows are one piece. */
static void divide(const mt_gpt2_parts *p, const char *name, mt_tensor *param)
{
    mt_tp_layout l;
    mt_shape shape = mt_view_shape(&param->view);
    if (!layout_of(&l, p, name))
        return;
    int64_t n = mt_numel(param), elements = mt_gpt2_parts_copy(p, name, NULL, n, NULL, p->tp.comm->rank, false);
    shape.dim[l.rows > 1 ? 1 : 0] = elements * shape.dim[l.rows > 1 ? 1 : 0] / n;
    mt_memory_use before = mt_alloc_for(MT_USE_PARAMETER);
    mt_scope_begin();
    mt_tensor *part = mt_empty(shape, MT_F32, MT_CPU);
    mt_gpt2_parts_copy(p, name, mt_f32(param), n, mt_f32(part), p->tp.comm->rank, false);
    mt_storage_release(param->storage);
    param->storage = mt_storage_retain(part->storage);
    param->view = part->view;
    mt_scope_end();
    mt_alloc_for(before);
}

static mt_gpt2_parts *parts_of(const mt_module *m)
{
    return *(mt_gpt2_parts **)m->config;
}

static mt_tensor *column(mt_gpt2_parts *p, const mt_module *linear, mt_tensor *x)
{
    return (p->config.sequence ? mt_sp_column_linear : mt_tp_column_linear)(&p->tp, x, linear->param[0],
                                                                            linear->param[1]);
}

static mt_tensor *row(mt_gpt2_parts *p, const mt_module *linear, mt_tensor *x)
{
    return (p->config.sequence ? mt_sp_row_linear : mt_tp_row_linear)(&p->tp, x, linear->param[0], linear->param[1]);
}

/* What mt_gpt2_attention_forward and mt_gpt2_mlp_forward compute. */
static mt_tensor *attention(mt_module *m, mt_tensor *x)
{
    mt_gpt2_parts *p = parts_of(m);
    mt_tensor *qkv = column(p, m->child[MT_GPT2_C_ATTN], x);
    if (p->config.sequence)
        qkv = mt_reshape(qkv, MT_SHAPE(mt_dim(qkv, 0) / p->time, p->time, mt_dim(qkv, -1)));
    return row(p, m->child[MT_GPT2_C_PROJ], mt_attention(qkv, m->size / p->tp.comm->size));
}

static mt_tensor *mlp(mt_module *m, mt_tensor *x)
{
    mt_gpt2_parts *p = parts_of(m);
    return row(p, m->child[MT_GPT2_C_PROJ], mt_gelu_tanh(column(p, m->child[MT_GPT2_C_FC], x)));
}

static void run_divided(mt_gpt2_parts *p, mt_module *m, mt_tensor *(*run)(mt_module *m, mt_tensor *x))
{
    m->run = run;
    m->config = mt_calloc(1, sizeof p);
    *(mt_gpt2_parts **)m->config = p;
}

static void divide_matrices(mt_gpt2_parts *p)
{
    const mt_module *h = p->model->child[MT_GPT2_H];
    mt_state params = mt_module_params(p->model);
    for (const mt_state_item *i = params.item; i < params.item + params.count; i++)
        divide(p, i->name, i->tensor);
    mt_state_free(&params);
    for (int b = 0; b < h->children && p->tp.comm->size > 1; b++) {
        run_divided(p, h->child[b]->child[MT_GPT2_ATTN], attention);
        run_divided(p, h->child[b]->child[MT_GPT2_MLP], mlp);
    }
}

/* ---- life --------------------------------------------------------------------------------------------------- */

mt_status mt_gpt2_divide(mt_gpt2_parts **out, mt_module *model, const mt_gpt2_parts_config *config)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(model);
    MT_TRY(mt_gpt2_parts_check(c, config->stages * config->chunks, config->tensor->size));
    mt_comm *alone = NULL;
    if (config->sequence)
        mt_comm_threads(&alone, 1, &(mt_wires){ 0 });
    mt_gpt2_parts *p = mt_calloc(1, sizeof *p);
    *p = (mt_gpt2_parts){ .config = *config,
                          .model = model,
                          .first = mt_calloc(config->chunks + 1, sizeof(int)),
                          .tp = { config->tensor, MT_OK },
                          .alone = { alone, MT_OK } };
    p->begin = mt_calloc(count(p) + 1, sizeof *p->begin);
    (void)partition(p->begin, c, count(p)); /* checked */
    keep_blocks(p);
    keep_ends(p);
    divide_matrices(p);
    *out = p;
    return MT_OK;
}

void mt_gpt2_parts_free(mt_gpt2_parts *p)
{
    if (!p)
        return;
    mt_comm_free(p->alone.comm);
    free(p->begin);
    free(p->first);
    free(p);
}

/* ---- forward ------------------------------------------------------------------------------------------------ */

mt_tensor *mt_gpt2_parts_tied(const mt_gpt2_parts *p)
{
    bool ends = has_first(p) != has_last(p); /* both: one tensor */
    return ends ? p->model->child[MT_GPT2_WTE]->param[0] : NULL;
}

mt_status mt_gpt2_parts_status(const mt_gpt2_parts *p)
{
    return p->tp.status;
}

void mt_gpt2_parts_sum(mt_gpt2_parts *p)
{
    if (!p->config.sequence)
        return;
    mt_state params = mt_module_params(p->model);
    mt_tensor **whole = mt_calloc(params.count, sizeof *whole);
    int64_t count = 0;
    for (const mt_state_item *i = params.item; i < params.item + params.count; i++)
        if (!mt_gpt2_parts_divides(p, i->name))
            whole[count++] = i->tensor;
    mt_sp_sum_gradients(&p->tp, whole, count);
    free(whole);
    mt_state_free(&params);
}

static bool divides_table(const mt_gpt2_parts *p)
{
    return p->tp.comm->size > 1 && !p->config.whole_table;
}

/* The elements of this rank's tokens, from an array with an element for each token. */
static mt_tensor *own_tokens(const mt_gpt2_parts *p, mt_tensor *all)
{
    int64_t tokens = mt_numel(all) / p->tp.comm->size, begin = p->tp.comm->rank * tokens;
    return mt_slice(mt_reshape(all, MT_SHAPE(mt_numel(all))), 0, begin, begin + tokens, 1);
}

/* The positions of this rank's tokens. */
static mt_tensor *own_positions(const mt_gpt2_parts *p, mt_tensor *wpe, int64_t tokens)
{
    mt_tensor *places = mt_empty(MT_SHAPE(tokens), MT_I32, MT_CPU);
    int32_t *place = mt_data(places);
    for (int64_t i = 0; i < tokens; i++)
        place[i] = (int32_t)((p->tp.comm->rank * tokens + i) % p->time);
    return mt_gather_rows(wpe, mt_to_device(places, mt_device_of(wpe)));
}

static mt_tensor *embed(mt_gpt2_parts *p, mt_tensor *ids)
{
    mt_tensor *wte = p->model->child[MT_GPT2_WTE]->param[0], *wpe = p->model->child[MT_GPT2_WPE]->param[0];
    if (!divides_table(p) && !p->config.sequence)
        return mt_embedding(wte, wpe, ids);
    mt_tp_range range = mt_tp_range_of(mt_gpt2_config_of(p->model)->rows, p->tp.comm->size, p->tp.comm->rank);
    mt_scope_begin(); /* nobody reads the tokens' rows once the positions are added */
    mt_tensor *tokens, *places;
    if (p->config.sequence) {
        tokens = divides_table(p) ? mt_sp_scatter(&p->tp, mt_tp_embedding(&p->alone, wte, ids, range)) /* a summand */
                                  : mt_gather_rows(wte, own_tokens(p, ids));
        places = own_positions(p, wpe, mt_dim(tokens, 0));
    } else {
        tokens = mt_tp_embedding(&p->tp, wte, ids, range);
        places = mt_slice(wpe, 0, 0, p->time, 1);
    }
    mt_tensor *sum = mt_retain(mt_add(tokens, places));
    mt_scope_end();
    return mt_scope_adopt(sum);
}

/* The mean loss of a rank's tokens, with the whole table; then the mean over the ranks. */
static mt_tensor *classify_own(mt_gpt2_parts *p, mt_tensor *x, mt_tensor *wte, mt_tensor *targets)
{
    mt_tensor *own = mt_classifier(x, wte, own_tokens(p, targets), mt_gpt2_config_of(p->model)->vocabulary);
    return mt_tp_reduce(&p->tp, mt_scale(own, 1 / (float)p->tp.comm->size));
}

static mt_tensor *classify(mt_gpt2_parts *p, mt_tensor *x, mt_tensor *targets)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(p->model);
    mt_tensor *wte = p->model->child[MT_GPT2_WTE]->param[0];
    if (!divides_table(p))
        return p->config.sequence ? classify_own(p, x, wte, targets) : mt_classifier(x, wte, targets, c->vocabulary);
    mt_tp_range range = mt_tp_range_of(c->rows, p->tp.comm->size, p->tp.comm->rank);
    range = mt_tp_classes(range, c->vocabulary);
    if (!p->config.sequence)
        return mt_tp_classifier(&p->tp, x, wte, targets, range);
    mt_tensor *classes = mt_transpose(mt_slice(wte, 0, 0, range.end - range.begin, 1), 0, 1);
    return mt_tp_cross_entropy(&p->tp, mt_sp_column_linear(&p->tp, x, classes, NULL), targets, range);
}

mt_tensor *mt_gpt2_parts_forward(mt_gpt2_parts *p, int chunk, mt_tensor *x, mt_tensor *ids, mt_tensor *targets)
{
    mt_module *const *child = p->model->child, blocks = *child[MT_GPT2_H];
    blocks.child += p->first[chunk]; /* a sequence of this chunk's alone */
    blocks.children = p->first[chunk + 1] - p->first[chunk];
    p->time = mt_dim(ids, 1);
    if (part_of(p, chunk) == 0)
        x = embed(p, ids);
    x = mt_forward(&blocks, x);
    bool last = part_of(p, chunk) == count(p) - 1;
    return last ? classify(p, mt_forward(child[MT_GPT2_LN_F], x), targets) : x;
}
