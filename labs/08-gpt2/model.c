/* model.c -- the forward pass of GPT-2: a block, the model, the loss. Ops record themselves, so backward is lab 03's.
 * Modules and their parameters are made in models/gpt2.c. Source: Radford et al. 2019; for the order of norm and sum,
 * Xiong et al. 2020, arXiv:2002.04745. */
#include "models/gpt2.h"
#include "models/gpt2_ops.h"
#include "ops/ops.h"

/* ---- a block ---------------------------------------------------------------------------------------------- */

mt_tensor *mt_gpt2_attention_forward(mt_module *attn, mt_tensor *x)
{
    /* TODO 08.10: The attention part of a block.
     * Hint: queries, keys and values come from one layer, c_attn, and the layer c_proj mixes the columns of what
     * mt_attention returns. The number of heads is attn->size. */
    MT_TODO("08.10"); /* delete this line when yours stands here */
}

mt_tensor *mt_gpt2_mlp_forward(mt_module *mlp, mt_tensor *x)
{
    /* TODO 08.10: The MLP part of a block: c_fc from C to 4C columns, GELU in its tanh form, c_proj back to C.
     * Hint: mt_gelu_tanh of the layer c_fc, or mt_linear_gelu (gpt2_ops.h), which is both, with its weight and bias,
     * param[0] and param[1]. */
    MT_TODO("08.10"); /* delete this line when yours stands here */
}

mt_tensor *mt_gpt2_block_forward(mt_module *block, mt_tensor *x)
{
    /* TODO 08.10: Both parts, each added to the residual stream.
     * Hint: a part reads the normalised stream, ln_1 or ln_2 of x, and mt_residual adds its result to x itself. The MLP
     * reads the stream that attention has already been added to. mt_forward calls the children's own forward
     * functions. */
    MT_TODO("08.10"); /* delete this line when yours stands here */
}

/* ---- the model -------------------------------------------------------------------------------------------- */

mt_tensor *mt_gpt2_forward(mt_module *model, mt_tensor *ids)
{
    mt_tensor *wte = model->child[MT_GPT2_WTE]->param[0], *wpe = model->child[MT_GPT2_WPE]->param[0];
    /* TODO 08.11: From ids to what the head reads.
     * Hint: mt_embedding of both tables; the child h, a sequence of all blocks; the child ln_f. */
    MT_TODO("08.11"); /* delete this line when yours stands here */
}

mt_tensor *mt_gpt2_loss(mt_module *model, mt_tensor *ids, mt_tensor *targets)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(model);
    mt_tensor *wte = model->child[MT_GPT2_WTE]->param[0];
    /* TODO 08.11: The mean cross-entropy of all positions, without the logits in memory of their own.
     * Hint: mt_classifier takes what the head reads, the whole table, the targets and how many rows of the table are
     * classes. */
    MT_TODO("08.11"); /* delete this line when yours stands here */
}
