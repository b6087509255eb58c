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

/* The sum of the losses of so many windows, which follow each other from a token of the corpus on. */
static double loss_of(const mt_corpus *c, mt_module *model, int64_t first, int64_t rows, int64_t length)
{
    mt_device device = mt_module_device(model);
    mt_scope_begin();
    mt_tensor *x = ids_of(rows, length), *y = ids_of(rows, length);
    for (int64_t r = 0; r < rows; r++)
        mt_tokens_window((int32_t *)mt_data(x) + r * length, (int32_t *)mt_data(y) + r * length, &c->tokens,
                         first + r * length, length);
    double mean = mt_item(mt_gpt2_loss(model, mt_to_device(x, device), mt_to_device(y, device)));
    mt_scope_end();
    return mean * (double)(rows * length);
}

mt_status mt_evaluate_text(double *loss, int64_t *targets, const mt_corpus *c, mt_module *model, int64_t batch)
{
    int64_t T = mt_gpt2_config_of(model)->block, all = c->count - c->train - 1;
    mt_progress progress = mt_progress_begin("tokens", all);
    double total = 0;
    mt_no_grad_begin();
    for (int64_t done = 0; done < all;) {
        int64_t length = mt_min(T, all - done), rows = mt_min(batch, (all - done) / length);
        total += loss_of(c, model, c->train + done, rows, length);
        done += rows * length;
        mt_progress_show(&progress, done, "loss %.4f", total / (double)done);
    }
    mt_no_grad_end();
    mt_progress_clear(&progress);
    *loss = total / (double)all, *targets = all;
    return MT_OK;
}
