/* attention.c -- causal self-attention.
 * Kernels: attention_* of models/kernels_gpt2.h; CPU: unit attention.c of lab 08; devices: kernels/tables.h. In
 * f32 mt_gpt2_products_of() calls the kernels of the tensors' device and nothing else. */
#include "ops/call.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"

/* Multiply-adds of one product of queries and keys, the causal half, as two FLOPs each. */
static int64_t attention_flops(const int64_t *d)
{
    return d[0] * d[1] * (d[1] + 1) * d[2];
}

static void attention_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *qkv = mt_saved_tensor(node, 0), *out = mt_saved_tensor(node, 1), *saved = mt_saved_tensor(node, 2);
    mt_gpt2_products_of(qkv->dtype)->attention_bwd(mt_grad_data(node, 0), dout, qkv, out, saved, node->dims[0]);
    mt_count_work(5 * attention_flops(node->shape.dim), 44 * mt_numel(dout));
}

static const mt_op attention_op = { "attention", MT_OP_MATMUL, attention_backward };

mt_tensor *mt_attention(mt_tensor *qkv, int64_t heads)
{
    MT_CALL(c, &attention_op, { &qkv, MT_OPERAND });
    MT_CHECK(qkv->view.rank == 3 && qkv->view.shape[2] % 3 == 0, "attention: qkv is %s, it must be [B,T,3C]",
             mt_text_of(qkv));
    MT_CHECK(mt_gpt2_kernels(c.device)->attention_fwd,
             "attention: this program has no kernel of it for %s: use the cpu", mt_device_name(c.device));
    int64_t B = qkv->view.shape[0], T = qkv->view.shape[1], C = qkv->view.shape[2] / 3;
    mt_tensor *out = mt_call_result(&c, MT_SHAPE(B, T, C));
    mt_tensor *saved = mt_empty(MT_SHAPE(mt_gpt2_kernels(c.device)->attention_saved(B, T, heads)), MT_F32, c.device);
    mt_gpt2_products_of(c.dtype)->attention_fwd(out, saved, qkv, heads);
    int64_t bytes = mt_dtype_size(c.dtype) * mt_numel(qkv) + 4 * mt_numel(out);
    mt_node *node = mt_call_end(&c, 2 * attention_flops(out->view.shape), bytes);
    if (node)
        node->dims[0] = heads;
    mt_save(node, qkv, out, saved);
    return out;
}
