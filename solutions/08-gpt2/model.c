/* model.c -- the forward pass of GPT-2: a block, the model, the loss. Ops record themselves, so backward is lab 03's.
 * Modules and their parameters are made in models/gpt2.c. Source: Radford et al. 2019; for the order of norm and sum,
 * Xiong et al. 2020, arXiv:2002.04745. */
#include "models/gpt2.h"
#include "models/gpt2_ops.h"
#include "ops/ops.h"

/* ---- a block ---------------------------------------------------------------------------------------------- */

mt_tensor *mt_gpt2_attention_forward(mt_module *attn, mt_tensor *x)
{
    /* LAB 08.10 BEGIN  The attention part of a block.
     * Hint: queries, keys and values come from one layer, c_attn, and the layer c_proj mixes the columns of what
     * mt_attention returns. The number of heads is attn->size. */
    mt_tensor *qkv = mt_forward(attn->child[MT_GPT2_C_ATTN], x);
    return mt_forward(attn->child[MT_GPT2_C_PROJ], mt_attention(qkv, attn->size));
    /* LAB 08.10 END */
}

mt_tensor *mt_gpt2_mlp_forward(mt_module *mlp, mt_tensor *x)
{
    /* LAB 08.10 BEGIN  The MLP part of a block: c_fc from C to 4C columns, GELU in its tanh form, c_proj back to C.
     * Hint: mt_gelu_tanh of the layer c_fc, or mt_linear_gelu (gpt2_ops.h), which is both, with its weight and bias,
     * param[0] and param[1]. */
    const mt_module *fc = mlp->child[MT_GPT2_C_FC];
    mt_tensor *hidden = mt_linear_gelu(x, fc->param[0], fc->param[1]);
    return mt_forward(mlp->child[MT_GPT2_C_PROJ], hidden);
    /* LAB 08.10 END */
}

mt_tensor *mt_gpt2_block_forward(mt_module *block, mt_tensor *x)
{
    /* LAB 08.10 BEGIN  Both parts, each added to the residual stream.
     * Hint: a part reads the normalised stream, ln_1 or ln_2 of x, and mt_residual adds its result to x itself. The MLP
     * reads the stream that attention has already been added to. mt_forward calls the children's own forward
     * functions. */
    mt_tensor *attention = mt_forward(block->child[MT_GPT2_ATTN], mt_forward(block->child[MT_GPT2_LN_1], x));
    x = mt_residual(x, attention);
    mt_tensor *mlp = mt_forward(block->child[MT_GPT2_MLP], mt_forward(block->child[MT_GPT2_LN_2], x));
    return mt_residual(x, mlp);
    /* LAB 08.10 END */
}

/* ---- the model -------------------------------------------------------------------------------------------- */

mt_tensor *mt_gpt2_forward(mt_module *model, mt_tensor *ids)
{
    mt_tensor *wte = model->child[MT_GPT2_WTE]->param[0], *wpe = model->child[MT_GPT2_WPE]->param[0];
    /* LAB 08.11 BEGIN  From ids to what the head reads.
     * Hint: mt_embedding of both tables; the child h, a sequence of all blocks; the child ln_f. */
    mt_tensor *x = mt_embedding(wte, wpe, ids);
    x = mt_forward(model->child[MT_GPT2_H], x);
    return mt_forward(model->child[MT_GPT2_LN_F], x);
    /* LAB 08.11 END */
}

mt_tensor *mt_gpt2_loss(mt_module *model, mt_tensor *ids, mt_tensor *targets)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(model);
    mt_tensor *wte = model->child[MT_GPT2_WTE]->param[0];
    /* LAB 08.11 BEGIN  The mean cross-entropy of all positions, without the logits in memory of their own.
     * Hint: mt_classifier takes what the head reads, the whole table, the targets and how many rows of the table are
     * classes. */
    return mt_classifier(mt_forward(model, ids), wte, targets, c->vocabulary);
    /* LAB 08.11 END */
}
