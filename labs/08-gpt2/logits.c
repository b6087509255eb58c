/* logits.c -- GPT-2's logits. Programs need them of the last position only (models/sample.c), or inside the loss. */
#include "models/gpt2.h"
#include "ops/ops.h"

mt_tensor *mt_gpt2_logits(mt_module *model, mt_tensor *ids)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(model);
    mt_tensor *wte = model->child[MT_GPT2_WTE]->param[0];
    /* TODO 08.11: Logits of every token of the vocabulary, at every position.
     * Hint: the head is the token table. Slice its first c->vocabulary rows (the others are padding), transpose,
     * multiply. */
    MT_TODO("08.11"); /* delete this line when yours stands here */
}
