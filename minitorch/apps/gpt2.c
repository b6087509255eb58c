/* gpt2.c -- a small GPT-2 learns to write, character by character: a whole training program, from text to sample.
 *
 * `make gpt2` runs it, in a minute. docs/TOUR.md follows such a loop. train_gpt2.c has what a long run needs. */
#include <stdio.h>
#include <stdlib.h>

#include "mt.h"

enum { STEPS = 1000, REPORT = 100, BATCH = 16, BLOCK = 64, SAMPLE = 400, SEED = 1 };

int main(void)
{
    mt_flush_denormals(true); /* numbers below 1e-38, which are slow, are 0 */
    /* Data: the text as ids, one a character. A sample is a window of BLOCK ids x and, for each, the id after it, y. */
    mt_file_map text;
    mt_vocabulary *vocabulary;
    mt_must(mt_data_map(&text, "shakespeare/tinyshakespeare.txt", "standin-text/tinyshakespeare.txt"));
    mt_must(mt_vocabulary_characters(&vocabulary, text.bytes, text.size));
    int32_t *ids = mt_calloc(text.size, sizeof *ids);
    mt_tokens tokens = { .data = (const uint8_t *)ids, .size = sizeof *ids };
    mt_must(mt_encode_characters(ids, &tokens.count, vocabulary, text.bytes, text.size));
    mt_dataset *windows = mt_token_windows_new(&tokens, BLOCK, 1);
    mt_loader_config config = mt_loader_config_default(windows);
    config.batch = BATCH;
    config.source = mt_batches_random(windows, SEED);
    mt_loader *loader = mt_loader_new(&config);

    /* Model: 0.8 million parameters. The smallest GPT-2 has 12 layers, 12 heads, 768 columns and a context of 1024. */
    mt_gpt2_config size = { vocabulary->token.count, .block = BLOCK, .layers = 4, .heads = 4, .width = 128 };
    mt_rng rng = mt_rng_new(SEED, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&size, &rng);
    mt_optim *optim = mt_optim_new(MT_ADAMW, mt_hyper_default(MT_ADAMW));
    mt_optim_add_all(optim, mt_module_params(model));
    mt_schedule rate = { MT_SCHEDULE_COSINE, .lr = 3e-3, .period = STEPS, .warmup = STEPS / 20 };
    mt_batch batch;
    double sum = 0;
    for (int step = 1; step <= STEPS && mt_loader_next(loader, &batch); step++) {
        mt_scope_begin(); /* tensors made from here to mt_scope_end are freed there */
        mt_tensor *loss = mt_gpt2_loss(model, batch.x, batch.y);
        mt_backward(loss);
        mt_optim_clip_grad_norm(optim, 1);
        mt_optim_set_lr(optim, mt_schedule_at(&rate, step - 1));
        mt_optim_step(optim);
        mt_optim_zero_grad(optim);
        sum += mt_item(loss) / REPORT;
        mt_scope_end();
        if (step % REPORT == 0) {
            printf("step %4d  loss %.3f\n", step, sum);
            fflush(stdout);
            sum = 0;
        }
    }
    mt_must(mt_loader_status(loader));

    /* A sample: each next character is drawn with the probability that the model gives it, after those before it. */
    int32_t sample[1 + SAMPLE] = { ids[0] };
    uint8_t *written;
    int64_t bytes;
    mt_gpt2_extend(sample, 1, SAMPLE, model, &(mt_sampling){ .temperature = 0.8, .top_p = 1 }, &rng);
    mt_must(mt_decode(&written, &bytes, vocabulary, sample, 1 + SAMPLE));
    printf("\n%s\n", (const char *)written);
    free(written);
    mt_loader_free(loader);
    mt_dataset_close(windows);
    mt_optim_free(optim);
    mt_module_free(model);
    mt_vocabulary_free(vocabulary);
    mt_file_map_close(&text);
    free(ids);
}
