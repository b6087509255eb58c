/* calls_09_autocast.c -- how the worker calls the policy, the kept copies and the keeper of saved tensors of lab 09.
 *
 * Copies are tested with conversions and products that are not the student's, so that one unwritten step does not hide
 * another. */
#include "autograd/node.h"
#include "core/scope.h"
#include "models/gpt2.h"
#include "models/gpt2_ops.h"
#include "amp/autocast.h"
#include "amp/kernels_16bit.h"
#include "ops/ops.h"
#include "worker/calls_09.h"
#include "worker/copies.h"

#include <string.h>

/* ---- policy ------------------------------------------------------------------------------------------ */

void mg_call_autocast_dtype(const mg_value *v)
{
    static const char *const names[][4] = { { "linear", "attention", "my_product", "matmul" },
                                            { "relu", "gelu", "my_function", "add" },
                                            { "softmax", "layernorm", "my_sum", "mean" } };
    for (int64_t i = 0; i < ARRAY(answer)->count; i++) {
        mt_dtype chosen = (mt_dtype)I64(chosen)[i];
        mt_op_kind kind = (mt_op_kind)I64(kind)[i];
        I64(answer)[i] = mt_autocast_dtype(&chosen, names[kind][i % 4], kind, (mt_dtype)I64(input)[i]);
    }
}

static int64_t conversions;

static void counted(void *out, mt_dtype to, const void *x, mt_dtype from, int64_t n)
{
    conversions++;
    for (int64_t i = 0; i < n; i++)
        mt_store_f64(out, to, i, mt_load_f64(x, from, i));
}

static void no_product(float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *dims)
{
    (void)a, (void)b, (void)dtype;
    for (int64_t m = 0; m < dims->M; m++)
        memset(c + m * dims->ldc, 0, sizeof *c * (size_t)dims->N);
}

static void use_ours(bool ours)
{
    static const mt_16bit_table table = { .convert = counted, .matmul16 = no_product };
    mt_table_set(&mt_16bit_tables, MT_CPU, ours ? &table : NULL);
    conversions = 0;
}

static void note_types(int64_t *row, const mt_tensor *t)
{
    row[0] = t->dtype;
    for (int i = 1; i < MG_NET_COLUMNS; i++)
        row[i] = t->node && i <= t->node->saved_count ? (int64_t)t->node->saved[i - 1].tensor->dtype : MG_NET_NONE;
}

/* Saves everything as it is: autocast's own keeper (09.9) is not asked. */
static bool keep_all(mt_saved *saved, const mt_tensor *t)
{
    saved->tensor = mt_tensor_alias(t);
    return true;
}

static const mt_keeper as_it_is = { keep_all, NULL };

static mt_tensor *parameter(mt_shape shape)
{
    mt_tensor *t = mt_full(shape, 0.5f);
    t->requires_grad = true;
    return t;
}

void mg_call_autocast_network(const mg_value *v)
{
    int64_t N = N(N), C = N(C);
    mt_scope_begin();
    use_ours(true);
    mt_tensor *x = mt_full(MT_SHAPE(N, C), 1), *w = parameter(MT_SHAPE(C, C)), *head = parameter(MT_SHAPE(C + 1, C));
    mt_tensor *target = mt_zeros(MT_SHAPE(N), MT_I32, MT_CPU), *t[MG_NET_OPS];
    mt_autocast_begin((mt_dtype)N(type));
    if (!N(keeper))
        mt_keeper_begin(&as_it_is);
    t[0] = mt_linear(x, w, parameter(MT_SHAPE(C)));
    t[1] = mt_relu(t[0]);
    t[2] = mt_layernorm(t[1], parameter(MT_SHAPE(C)), parameter(MT_SHAPE(C)), 1e-5f);
    t[3] = mt_matmul(t[2], w);
    t[4] = mt_softmax(t[3]);
    t[5] = mt_mul(t[3], t[1]);
    t[6] = mt_classifier(t[5], head, target, C);
    if (!N(keeper))
        mt_keeper_end();
    mt_autocast_end();
    for (int i = 0; i < MG_NET_OPS; i++)
        note_types(I64(types) + i * MG_NET_COLUMNS, t[i]);
    use_ours(false);
    mt_scope_end();
}

/* ---- kept copies --------------------------------------------------------------------------------------- */

static mt_tensor *tensor_of(int64_t kind, const mt_tensor *before, int64_t S)
{
    mt_view view = mt_view_contiguous(MT_SHAPE(S));
    view.offset = kind == MG_NEIGHBOUR ? S : 0;
    mt_tensor *t = mt_tensor_view(kind == MG_NEIGHBOUR ? before : mt_zeros(MT_SHAPE(2 * S), MT_F32, MT_CPU), view);
    t->requires_grad = kind != MG_DATA;
    return kind == MG_ACTIVATION ? mt_scale(t, 1) : t;
}

static void copy_of(mt_tensor *t, mt_dtype dtype, int64_t *type, float *value, int64_t S)
{
    mt_tensor *copy = mt_autocast_operand(t, dtype);
    *type = copy->dtype;
    for (int64_t i = 0; i < S && i < mt_numel(copy); i++)
        value[i] = (float)mt_get(copy, &i);
}

/* types, conversions so far [n], values [n,S], bytes never freed [1]; script [n,3], kinds, contents [tensors+n,S] */
void mg_call_kept_copies(const mg_value *v)
{
    int64_t n = ARRAY(types)->count, S = ARRAY(values)->count / n, before = mt_live_bytes(MT_CPU);
    mt_tensor *tensor[MG_COPIES_TENSORS];
    const float *contents = F(contents);
    mt_scope_begin();
    use_ours(true);
    for (int64_t i = 0; i < ARRAY(kinds)->count; i++, contents += S) {
        tensor[i] = tensor_of(I64(kinds)[i], i ? tensor[i - 1] : NULL, S);
        memcpy(mt_f32(tensor[i]), contents, sizeof(float) * (size_t)S);
    }
    for (int64_t i = 0; i < n; i++, contents += S) {
        const int64_t *event = I64(events) + i * MG_COPIES_COLUMNS;
        mt_scope_begin();
        memset(F(values) + i * S, 0, sizeof(float) * (size_t)S);
        I64(types)[i] = MG_NET_NONE;
        if (event[0] == MG_COPY) {
            if (i % 2 == 0) /* which makes no difference */
                mt_no_grad_begin();
            copy_of(tensor[event[1]], (mt_dtype)event[2], I64(types) + i, F(values) + i * S, S);
            if (i % 2 == 0)
                mt_no_grad_end();
        } else {
            memcpy(mt_f32(tensor[event[1]]), contents, sizeof(float) * (size_t)S);
            mt_written(tensor[event[1]]);
        }
        I64(conversions)[i] = conversions;
        mt_scope_end();
    }
    use_ours(false);
    mt_scope_end();
    I64(left)[0] = mt_live_bytes(MT_CPU) - before;
}

/* ---- saved tensors ------------------------------------------------------------------------------------- */

/* [R,C], [R,1,C] or [R,1,1,C] */
static mt_shape shape_of_rank(int64_t R, int64_t C, int64_t rank)
{
    return rank == 2 ? MT_SHAPE(R, C) : rank == 3 ? MT_SHAPE(R, 1, C) : MT_SHAPE(R, 1, 1, C);
}

/* What is saved: of the parameter's shape (shape_of_rank), but for columns, [R C,1] or [R,C,1], vectors, [R C], views,
 * [C,R], and the second half of [2R,1,1,1,C]. */
static mt_tensor *tensor_to_save(int64_t kind, mt_tensor *w)
{
    const mt_shape shape = mt_view_shape(&w->view);
    int64_t R = shape.dim[0], C = shape.dim[shape.rank - 1];
    switch (kind) {
    case MG_SAVE_PARAMETER:
        return w;
    case MG_SAVE_DATA:
        return mt_zeros(shape, MT_F32, MT_CPU);
    case MG_SAVE_IDS:
        return mt_zeros(shape, MT_I32, MT_CPU);
    case MG_SAVE_COLUMN:
        return mt_scale(mt_reshape(w, R % 2 ? MT_SHAPE(R, C, 1) : MT_SHAPE(R * C, 1)), 1);
    case MG_SAVE_VECTOR:
        return mt_scale(mt_reshape(w, MT_SHAPE(R * C)), 1);
    case MG_SAVE_CUBE:
        return mt_slice(mt_scale(parameter(MT_SHAPE(2 * R, 1, 1, 1, C)), 1), 0, R, 2 * R, 1);
    case MG_SAVE_VIEW:
        return mt_transpose(mt_scale(mt_reshape(w, MT_SHAPE(R, C)), 1), 0, 1);
    default:
        return mt_scale(w, 1);
    }
}

static void write(mt_tensor *t, const float *contents)
{
    for (int64_t i = 0; i < mt_numel(t); i++)
        mt_store_f64(t->storage->data, t->dtype, t->view.offset + i, contents[i]);
    mt_written(t);
}

/* From here on t counts as computed by a product under autocast in dtype. */
static void computed_in(mt_tensor *t, mt_dtype dtype)
{
    t->precision = t->dtype == MT_F32 ? dtype : MT_F32;
}

static void no_gradient(mt_node *node, mt_tensor *dout)
{
    (void)node, (void)dout;
}

/* A node that has saved one tensor, under autocast; everything else is freed. */
static mt_node *save_one(mt_tensor *out, mt_tensor *w, const int64_t *event, const float *contents)
{
    static const mt_op op = { "test", MT_OP_ELEMENTWISE, no_gradient };
    bool nested = event[2] != MG_NET_NONE;
    mt_dtype now = (mt_dtype)(nested ? event[2] : event[1]);
    int64_t S = mt_numel(w);
    mt_scope_begin();
    mt_node *node = mt_record(&op, out, &w, 1);
    mt_tensor *t = tensor_to_save(event[0], w);
    write(t, contents);
    computed_in(t, now);
    mt_autocast_begin((mt_dtype)event[1]);
    if (nested)
        mt_autocast_begin(now);
    if (event[3] == MG_SAVED_OPERAND || event[3] == MG_WRITTEN_BEFORE)
        mt_autocast_operand(t, now);
    if (event[3] == MG_WRITTEN_BEFORE)
        write(t, contents + S);
    mt_save(node, t);
    if (event[3] == MG_SAVED_OPERAND || event[3] == MG_OPERAND_SAVED)
        mt_save(node, mt_autocast_operand(t, now));
    if (event[3] == MG_SAVED_TWICE)
        mt_save(node, t);
    if (event[3] == MG_WRITTEN_AFTER || event[3] == MG_WRITTEN_BETWEEN)
        write(t, contents + S);
    if (event[3] == MG_WRITTEN_BETWEEN)
        mt_autocast_operand(t, now);
    if (nested)
        mt_autocast_end();
    if (event[3] == MG_INNER_ENDED) {
        computed_in(t, (mt_dtype)event[1]);
        mt_save(node, t);
    }
    mt_autocast_end();
    mt_scope_end();
    return node;
}

/* Restored in backward, which may run under another policy. */
static void read_back(float *values, int64_t *types, mt_node *node, int64_t S)
{
    int last = node->saved_count - 1;
    types[0] = node->saved[last].tensor ? (int64_t)node->saved[last].tensor->dtype : MG_NET_NONE;
    mt_autocast_begin(types[0] == MT_F16 ? MT_BF16 : MT_F16);
    mt_tensor *t = mt_saved_tensor(node, 0);
    mt_autocast_end();
    types[1] = t->dtype;
    types[2] = mt_numel(t);
    types[3] = t->view.rank > 0 ? mt_dim(t, -1) : 0;
    types[4] = mg_shape_code(mt_view_shape(&t->view));
    for (int64_t i = 0; i < mt_min(S, t->storage->bytes / mt_dtype_size(t->dtype)); i++)
        values[i] = (float)mt_load_f64(t->storage->data, t->dtype, i);
}

/* types, of what is kept and of what comes back, its elements, last dimension and shape [n,5]; bytes, conversions [n];
 * values [n,S]; bytes never freed [1]; events [n,4], contents [n,2,S], C, rank */
void mg_call_saved_tensors(const mg_value *v)
{
    int64_t n = ARRAY(bytes)->count, S = ARRAY(values)->count / n, C = N(C), before = mt_live_bytes(MT_CPU);
    mt_scope_begin();
    use_ours(true);
    for (int64_t i = 0; i < n; i++) {
        mt_scope_begin();
        mt_tensor *w = parameter(shape_of_rank(S / C, C, N(rank))), *out = mt_zeros(MT_SCALAR, MT_F32, MT_CPU);
        int64_t empty = mt_live_bytes(MT_CPU);
        conversions = 0;
        mt_node *node = save_one(out, w, I64(events) + i * MG_SAVE_COLUMNS, F(contents) + 2 * i * S);
        I64(bytes)[i] = mt_live_bytes(MT_CPU) - empty;
        I64(conversions)[i] = conversions;
        memset(F(values) + i * S, 0, sizeof(float) * (size_t)S);
        read_back(F(values) + i * S, I64(types) + 5 * i, node, S);
        mt_scope_end();
    }
    use_ours(false);
    mt_scope_end();
    I64(left)[0] = mt_live_bytes(MT_CPU) - before;
}

/* Bytes that the tape of a GPT-2 holds after forward, products in each type of float [3]; layers, width, T */
void mg_call_kept_bytes(const mg_value *v)
{
    static const mt_dtype types[] = { MT_F32, MT_F16, MT_BF16 };
    const mt_gpt2_config config = {
        .vocabulary = 64, .block = N(T), .layers = N(layers), .heads = 2, .width = N(width)
    };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&config, &rng);
    use_ours(true);
    for (int k = 0; k < MT_COUNT(types); k++) {
        mt_scope_begin();
        mt_tensor *ids = mt_zeros(MT_SHAPE(2, config.block), MT_I32, MT_CPU);
        mt_autocast_begin(types[k]);
        mt_scope_begin();
        mt_gpt2_loss(model, ids, ids); /* parameters have their copies from now on */
        mt_scope_end();
        int64_t before = mt_live_bytes(MT_CPU);
        mt_scope_begin();
        mt_tensor *loss = mt_retain(mt_gpt2_loss(model, ids, ids));
        mt_scope_end();
        I64(bytes)[k] = mt_live_bytes(MT_CPU) - before;
        mt_release(loss);
        mt_autocast_end();
        mt_scope_end();
    }
    use_ours(false);
    mt_module_free(model);
}
