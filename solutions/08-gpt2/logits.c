/* logits.c -- GPT-2's logits. Programs need them of the last position only (models/sample.c), or inside the loss. */
#include "models/gpt2.h"
#include "ops/ops.h"

mt_tensor *mt_gpt2_logits(mt_module *model, mt_tensor *ids)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(model);
    mt_tensor *wte = model->child[MT_GPT2_WTE]->param[0];
    /* LAB 08.11 BEGIN  Logits of every token of the vocabulary, at every position.
     * Hint: the head is the token table. Slice its first c->vocabulary rows (the others are padding), transpose,
     * multiply. */
    mt_tensor *tokens = mt_slice(wte, 0, 0, c->vocabulary, 1);
    return mt_matmul(mt_forward(model, ids), mt_transpose(tokens, 0, 1));
    /* LAB 08.11 END */
}
