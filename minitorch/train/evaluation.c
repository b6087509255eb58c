/* evaluation.c -- see evaluation.h. */
#include "train/evaluation.h"

#include "autograd/tape.h"
#include "cli/progress.h"
#include "core/scope.h"
#include "models/gpt2.h"

static mt_tensor *ids_of(int64_t rows, int64_t length)
{
    return mt_empty(MT_SHAPE(rows, length), MT_I32, MT_CPU);
}

/* The sum of the losses of so many windows, which follow each other from a token on. */
static double loss_of(const mt_tokens *tokens, mt_module *model, int64_t first, int64_t rows, int64_t length)
{
    mt_device device = mt_module_device(model);
    mt_scope_begin();
    mt_tensor *x = ids_of(rows, length), *y = ids_of(rows, length);
    for (int64_t r = 0; r < rows; r++)
        mt_tokens_window((int32_t *)mt_data(x) + r * length, (int32_t *)mt_data(y) + r * length, tokens,
                         first + r * length, length);
    double mean = mt_item(mt_gpt2_loss(model, mt_to_device(x, device), mt_to_device(y, device)));
    mt_scope_end();
    return mean * (double)(rows * length);
}

/* Targets of a file: the tokens of its part for validation, but for the first. */
static int64_t targets_of(const mt_corpus_part *p)
{
    return mt_max(0, p->tokens.count - p->train - 1);
}

mt_status mt_evaluate_text(double *loss, int64_t *targets, const mt_corpus *c, mt_module *model, int64_t batch)
{
    int64_t T = mt_gpt2_config_of(model)->block, all = 0, before = 0;
    for (int64_t i = 0; i < c->parts; i++)
        all += targets_of(&c->part[i]);
    mt_progress progress = mt_progress_begin("tokens", all);
    double total = 0;
    mt_module_set_mode(model, MT_EVAL);
    mt_no_grad_begin();
    for (const mt_corpus_part *p = c->part; p < c->part + c->parts; before += targets_of(p++))
        for (int64_t done = 0, mine = targets_of(p); done < mine;) {
            int64_t length = mt_min(T, mine - done), rows = mt_min(batch, (mine - done) / length);
            total += loss_of(&p->tokens, model, p->train + done, rows, length);
            done += rows * length;
            mt_progress_show(&progress, before + done, "loss %.4f", total / (double)(before + done));
        }
    mt_no_grad_end();
    mt_module_set_mode(model, MT_TRAIN);
    mt_progress_clear(&progress);
    *loss = total / (double)all, *targets = all;
    return MT_OK;
}
