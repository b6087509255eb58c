/* products.c -- the tables of GPT-2: the CPU's of its kernels; and of its products, that with operands of f32, which
 * calls the kernels of the tensors' device, and those of other types, which are offered. */
#include "ops/ops.h"
#include "models/gpt2_ops.h"
#include "models/kernels_gpt2.h"

const mt_gpt2_table mt_gpt2_cpu = { .attention_saved = mt_attention_plain_saved_cpu,
                                    .attention_fwd = mt_attention_plain_fwd_cpu,
                                    .attention_bwd = mt_attention_plain_bwd_cpu,
                                    MT_GPT2_KERNELS(MT_KERNEL_CPU) };
MT_TABLES_DEFINE(gpt2)

/* ---- products of f32 ------------------------------------------------------------------------------------ */

static void attention_fwd(mt_tensor *out, mt_tensor *saved, mt_tensor *qkv, int64_t heads)
{
    const int64_t *d = out->view.shape;
    mt_gpt2_kernels(mt_device_of(qkv))->attention_fwd(mt_f32(out), mt_f32(saved), mt_f32(qkv), d[0], d[1], d[2], heads);
}

static void attention_bwd(float *dqkv, mt_tensor *dout, mt_tensor *qkv, mt_tensor *out, mt_tensor *saved, int64_t heads)
{
    const int64_t *d = out->view.shape;
    mt_gpt2_kernels(mt_device_of(qkv))
        ->attention_bwd(dqkv, mt_f32(dout), mt_f32(qkv), mt_f32(out), mt_f32(saved), d[0], d[1], d[2], heads);
}

static void classifier_fwd(mt_tensor *loss, mt_tensor *probs, mt_tensor *x, mt_tensor *w, mt_tensor *target)
{
    const int64_t *d = probs->view.shape;
    mt_gpt2_kernels(mt_device_of(x))
        ->classifier_fwd(mt_f32(loss), mt_f32(probs), mt_f32(x), mt_f32(w), mt_data(target), d[0], mt_dim(w, 1), d[1]);
}

static void classifier_bwd(float *dx, float *dw, mt_tensor *probs, const float *dloss, mt_tensor *x, mt_tensor *w,
                           mt_tensor *target)
{
    const int64_t *d = probs->view.shape;
    mt_gpt2_kernels(mt_device_of(x))
        ->classifier_bwd(dx, dw, mt_f32(probs), dloss, mt_f32(x), mt_f32(w), mt_data(target), d[0], mt_dim(w, 1), d[1]);
}

static const mt_gpt2_products of_f32 = { .attention_fwd = attention_fwd,
                                         .attention_bwd = attention_bwd,
                                         .classifier_fwd = classifier_fwd,
                                         .classifier_bwd = classifier_bwd };

/* ---- the products of each type -------------------------------------------------------------------------- */

static const mt_gpt2_products *tables[MT_DTYPE_COUNT] = { [MT_F32] = &of_f32 };

const mt_gpt2_products *mt_gpt2_products_of(mt_dtype dtype)
{
    const mt_gpt2_products *products = __atomic_load_n(&tables[dtype], __ATOMIC_RELAXED);
    MT_CHECK(products, "this program has no products of operands in %s for GPT-2", mt_dtype_name(dtype));
    return products;
}

void mt_gpt2_products_offer(mt_dtype dtype, const mt_gpt2_products *products)
{
    __atomic_store_n(&tables[dtype], products, __ATOMIC_RELAXED);
}

/* ---- the first layer of a block's MLP, and its GELU ----------------------------------------------------- */

mt_tensor *mt_linear_gelu(mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    const mt_gpt2_table *kernels = mt_gpt2_kernels(mt_device_of(x));
    return kernels->linear_gelu ? kernels->linear_gelu(x, w, b) : mt_gelu_tanh(mt_linear(x, w, b));
}
