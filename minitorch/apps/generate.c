/* generate.c -- text from a checkpoint of train_gpt2 or published weights, token by token as it is drawn.
 *
 *     build/release/bin/generate --prompt ROMEO:                                      the newest of build/run/gpt2
 *     build/release/bin/generate --run datasets/cache/gpt2 --weights datasets/cache/gpt2-weights/model.safetensors
 *     build/release/bin/generate --export model.safetensors                           for other programs */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fused/fused.h"
#include "text/tokenizer.h"
#include "models/decoder.h"
#include "models/gpt2.h"
#include "models/sample.h"
#include "amp/autocast.h"
#include "amp/kernels_16bit.h"
#include "cli/allowed.h"
#include "cli/cli.h"
#include "train/given.h"
#include "train/saving.h"

typedef struct options {
    const char *run, *prompt, *size;
    const char *weights; /* NULL: a checkpoint in run */
    const char *export;  /* NULL: write text */
    bool interactive;
    int64_t tokens, samples, seed, threads;
    int64_t step;   /* of the checkpoint, or MT_NEWEST */
    mt_dtype dtype; /* in which products read weights */
    mt_sampling how;
} options;

/* ---- command line ------------------------------------------------------------------------------------ */

static const mt_option flags[] = {
    { "run", 'r', "DIR", MT_TEXT(options, run), "Folder of checkpoints and vocabulary, that of train_gpt2's run" },
    { "step", 0, "N", MT_I64(options, step, 1, INT64_MAX), "Step of the checkpoint; default: the newest valid one" },
    { "weights", 0, "PATH", MT_TEXT(options, weights),
      "A safetensors file, or a folder with model.safetensors and config.json, instead of a checkpoint; --run is where "
      "its vocabulary is" },
    { "size", 'z', "NAME", MT_TEXT(options, size),
      "Size of the model of such a file: gpt2, gpt2-medium, gpt2-large, gpt2-xl or toy" },
    { "export", 0, "PATH", MT_TEXT(options, export),
      "Write no text but the weights, as a safetensors file; into a folder (DIR/) also config.json and the vocabulary, "
      "in the layout of Hugging Face's transformers" },
    { "prompt", 'p', "TEXT", MT_TEXT(options, prompt), "Beginning of the text; default: a new line" },
    { "interactive", 'i', NULL, MT_FLAG(options, interactive),
      "Read prompts from standard input, after --prompt, each a line, until it ends" },
    { "samples", 'k', "N", MT_I64(options, samples, 1, INT32_MAX),
      "Number of texts for each prompt, drawn with --seed and the seeds that follow it" },
    { "tokens", 'n', "N", MT_I64(options, tokens, 0, INT32_MAX),
      "Most tokens to draw; <|endoftext|> ends a text earlier" },
    { "temperature", 'T', "T", MT_F64(options, how.temperature, 0, 1e6),
      "Randomness: 0 always takes the most likely token, 1 draws as likely as the model says" },
    { "top-k", 0, "K", MT_I64(options, how.top_k, 0, INT32_MAX),
      "Number of most likely tokens from which one is drawn; 0: all" },
    { "top-p", 0, "P", MT_F64(options, how.top_p, 1e-9, 1),
      "Probability of the most likely tokens, together, from which one is drawn; 1: all" },
    { "dtype", 0, "NAME", MT_CHOICE(options, dtype, mt_cli_floats),
      "Element type in which products read weights, and --export writes them: f32, bf16 or f16" },
    { "seed", 's', "N", MT_I64(options, seed, 0, INT64_MAX), "Seed of the draws: the same one draws the same text" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024),
      "Number of threads for arithmetic; does not change the text; default: one per core" },
    { 0 },
};

/* ---- text -------------------------------------------------------------------------------------------- */

static void show(const mt_vocabulary *vocabulary, int32_t id)
{
    const mt_strings *token = &vocabulary->token;
    fwrite(token->bytes + token->start[id], 1, (size_t)(token->start[id + 1] - token->start[id]), stdout);
    fflush(stdout);
}

/* The prompt's tokens, the caller's. */
static mt_status encode(int32_t **ids, int64_t *count, const mt_vocabulary *vocabulary, const char *prompt)
{
    int64_t size = (int64_t)strlen(prompt);
    *ids = mt_realloc(NULL, size + 1, sizeof **ids);
    mt_tokenizer *tokenizer = mt_tokenizer_new(vocabulary);
    mt_encoder *encoder = mt_encoder_new(tokenizer);
    mt_status status = mt_encode(encoder, *ids, count, (const uint8_t *)prompt, size);
    mt_encoder_free(encoder);
    mt_tokenizer_free(tokenizer);
    if (status == MT_OK && *count == 0)
        return mt_fail(MT_ERR_ARGUMENT, "--prompt is empty: the model needs a token to begin with");
    return status;
}

/* One text, which begins with the prompt and ends after --tokens or at <|endoftext|>; *drawn grows by its tokens. */
static void write_sample(const options *o, const mt_module *model, const mt_vocabulary *vocabulary,
                         const int32_t *prompt, int64_t count, int64_t seed, int64_t *drawn)
{
    mt_autocast_begin(o->dtype);
    mt_decoder *decoder = mt_decoder_new(model);
    mt_autocast_end();
    mt_rng rng = mt_rng_new((uint64_t)seed, MT_STREAM_SAMPLE);
    const float *logits = NULL;
    for (int64_t i = 0; i < count; i++) {
        logits = mt_decoder_next(decoder, prompt[i]);
        show(vocabulary, prompt[i]);
    }
    for (int64_t i = 0; i < o->tokens && !mt_cli_stopped(); i++) {
        int32_t id = mt_sample(logits, vocabulary->token.count, &o->how, &rng);
        ++*drawn;
        if (id == vocabulary->end_of_text)
            break;
        show(vocabulary, id);
        logits = mt_decoder_next(decoder, id);
    }
    mt_decoder_free(decoder);
}

/* The samples of one prompt, with a line of dashes between them. */
static mt_status write_samples(const options *o, const mt_module *model, const mt_vocabulary *vocabulary,
                               const char *text)
{
    int32_t *prompt;
    int64_t count = 0, drawn = 0;
    mt_status status = encode(&prompt, &count, vocabulary, text);
    double start = mt_now();
    for (int64_t k = 0; k < o->samples && status == MT_OK && !mt_cli_stopped(); k++) {
        fputs(k ? "\n--------\n" : "", stdout);
        write_sample(o, model, vocabulary, prompt, count, o->seed + k, &drawn);
    }
    if (status == MT_OK)
        fprintf(stderr, "\ngenerate: %" PRId64 " tokens, %.0f a second\n", drawn, (double)drawn / (mt_now() - start));
    free(prompt);
    return status;
}

static mt_status write_text(const options *o, const mt_module *model, const mt_vocabulary *vocabulary)
{
    char *line = NULL;
    size_t size = 0;
    mt_status status = MT_OK;
    if (o->dtype != MT_F32)
        fprintf(stderr, "generate: products read %s, %s\n", mt_dtype_name(o->dtype), mt_matmul16_form(o->dtype));
    if (o->prompt || !o->interactive)
        status = write_samples(o, model, vocabulary, o->prompt ? o->prompt : "\n");
    while (o->interactive && status == MT_OK && !mt_cli_stopped() && fputs("prompt: ", stderr) >= 0) {
        ssize_t length = getline(&line, &size, stdin);
        if (length < 0)
            break;
        line[strcspn(line, "\n")] = 0;
        status = *line ? write_samples(o, model, vocabulary, line) : MT_OK;
    }
    free(line);
    return status;
}

/* A model of the named size with the weights of a file. */
static mt_status load_weights(mt_module **model, const options *o, int64_t vocabulary)
{
    mt_gpt2_config config = { .vocabulary = vocabulary };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    MT_TRY(mt_given_sizes(&config, o->weights));
    MT_TRY(mt_gpt2_fill(&config, o->size));
    MT_TRY(mt_gpt2_check(&config));
    *model = mt_gpt2_new(&config, &rng);
    return mt_given_load(*model, o->weights);
}

static mt_status load(mt_module **model, const options *o, int64_t vocabulary)
{
    int64_t step = 0;
    if (o->weights)
        return load_weights(model, o, vocabulary);
    MT_TRY(mt_saving_find(&step, o->run, o->step));
    MT_TRY(mt_saved_gpt2(model, o->run, step));
    if (mt_gpt2_config_of(*model)->vocabulary != vocabulary)
        return mt_fail(MT_ERR_FORMAT, "%s/step-%" PRId64 " has %" PRId64 " tokens, the vocabulary there has %" PRId64,
                       o->run, step, mt_gpt2_config_of(*model)->vocabulary, vocabulary);
    return MT_OK;
}

int main(int argc, char **argv)
{
    mt_threads_begin(argv);
    mt_fused_use();
    options o = { .run = "build/run/gpt2",
                  .size = "gpt2",
                  .tokens = 500,
                  .samples = 1,
                  .seed = 1,
                  .step = MT_NEWEST,
                  .how = { 0.8, 0, 1 } };
    mt_vocabulary *vocabulary = NULL;
    mt_module *model = NULL;
    mt_cli_parse(argc, argv, "Write text with a trained GPT-2.", flags, &o);
    if (o.threads)
        omp_set_num_threads((int)o.threads);
    mt_cli_catch_stop();
    mt_status status = mt_vocabulary_open(&vocabulary, o.run);
    if (status == MT_OK)
        status = load(&model, &o, vocabulary->token.count);
    if (status == MT_OK)
        status = o.export ? mt_given_export(model, o.export, o.dtype, vocabulary) : write_text(&o, model, vocabulary);
    if (status != MT_OK)
        fprintf(stderr, "generate: %s%s\n", mt_last_error(),
                vocabulary ? "" : "; make train-gpt2 trains a model, --run DIR takes another run's");
    mt_module_free(model);
    mt_vocabulary_free(vocabulary);
    return status != MT_OK;
}
