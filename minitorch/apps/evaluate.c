/* evaluate.c -- how good the model of a checkpoint is: of train_mnist by the test images, of train_gpt2 by the last
 * tenth of its text, which it did not learn from. run.json says where the run's data are.
 *
 *     build/release/bin/evaluate build/run/mnist
 *     build/release/bin/evaluate build/run/gpt2 --step 1500 --data other.txt
 *     build/release/bin/evaluate build/run/gpt2 --choices questions.jsonl */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ckpt/checkpoint.h"
#include "fused/fused.h"
#include "models/classifier.h"
#include "models/gpt2.h"
#include "amp/autocast.h"
#include "cli/allowed.h"
#include "cli/cli.h"
#include "train/corpus.h"
#include "train/evaluation.h"
#include "train/pictures.h"
#include "train/recipe.h"
#include "train/run_json.h"
#include "train/saving.h"

typedef struct options {
    const char *data, *vocabulary, *choices;
    int64_t step, batch, windows, threads;
    mt_dtype dtype;
} options;

static const mt_option flags[] = {
    { "step", 0, "N", MT_I64(options, step, 1, INT64_MAX),
      "Step of the checkpoint; default: the best by validation, or the newest valid one" },
    { "data", 'd', "PATH", MT_TEXT(options, data),
      "Folder of the IDX files, or a text or token file; default: those of the run" },
    { "vocab", 0, "DIR", MT_TEXT(options, vocabulary),
      "Folder of a token file's vocabulary; default: that of the run" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Images or windows computed at once" },
    { "windows", 0, "N", MT_I64(options, windows, 1, 1 << 30),
      "Number of windows of a text, spread over its last tenth; default: all of it, one after the other" },
    { "choices", 0, "FILE", MT_TEXT(options, choices),
      "Multiple choice instead of a text: JSON lines {\"question\": \"...\", \"endings\": [\"...\", \"...\"], "
      "\"label\": 0}, "
      "answered by the likelihood of the endings" },
    { "dtype", 0, "NAME", MT_CHOICE(options, dtype, mt_cli_floats),
      "Element type of matrix products: f32, bf16 or f16" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024),
      "Number of threads for arithmetic; default: one per core" },
    { 0 },
};

static const mt_recipe no_workers;

/* The data that were named, else those of the run, if they are what they were. file: of a folder. */
static mt_status find_data(char out[MT_PATH], const options *o, const mt_run_data *run, const char *otherwise,
                           const char *file)
{
    char summed[MT_PATH];
    const char *path = o->data ? o->data : *run->path ? run->path : otherwise;
    snprintf(out, MT_PATH, "%s", path);
    if (file)
        MT_TRY(mt_mnist_path(summed, path, file, 3));
    else
        snprintf(summed, sizeof summed, "%s", path);
    if (o->data || !*run->checksum || strcmp(mt_saving_sum(summed), run->checksum) == 0)
        return MT_OK;
    return mt_fail(MT_ERR_ARGUMENT,
                   access(summed, F_OK) == 0
                       ? "%s has changed since the run; --data %s takes it as it is now"
                       : "%s, the data of the run, is not there any more; --data names other data",
                   summed, path);
}

static mt_status test_mlp(const options *o, const mt_run_data *run, const char *dir, int64_t step)
{
    mt_mnist mnist = { 0 };
    mt_module *model = NULL;
    mt_test_result result;
    char data[MT_PATH], sum[9];
    mt_status status = find_data(data, o, run, mt_mnist_folder(), "t10k-images");
    if (status == MT_OK)
        status = mt_saved_mlp(&model, dir, step);
    if (status == MT_OK)
        status = mt_pictures_open(&mnist, sum, data, true);
    int64_t pixels = status == MT_OK ? mt_shape_numel(mnist.test->x.shape) : 0;
    if (status == MT_OK && mt_dim(mt_module_tensor(model, "0.weight"), 0) != pixels)
        status = mt_fail(MT_ERR_ARGUMENT, "%s: images of %" PRId64 " pixels; the model takes %" PRId64, data, pixels,
                         mt_dim(mt_module_tensor(model, "0.weight"), 0));
    if (status == MT_OK) {
        mt_sampler all = mt_sampler_sequential(mnist.test->count);
        mt_loader *loader = mt_recipe_loader(&no_workers, mnist.test, all, o->batch);
        status = mt_classifier_test(&result, model, loader);
        mt_loader_free(loader);
    }
    if (status == MT_OK) {
        mt_classifier_print(&result);
        printf("evaluate: step=%" PRId64 " loss=%.6f accuracy=%.4f data=%s\n", step, result.loss, result.accuracy,
               mt_mnist_name(data));
    }
    mt_mnist_close(&mnist);
    mt_module_free(model);
    return status;
}

/* Whether the text has the tokens that the model learned. */
static mt_status same_vocabulary(const mt_corpus *corpus, const char *data, const char *dir)
{
    mt_vocabulary *learned;
    MT_TRY(mt_vocabulary_open(&learned, dir));
    const mt_strings *a = &learned->token, *b = &corpus->vocabulary->token;
    bool same = a->count == b->count && a->start[a->count] == b->start[b->count] &&
                memcmp(a->bytes, b->bytes, (size_t)a->start[a->count]) == 0 &&
                memcmp(a->start, b->start, (size_t)a->count * sizeof *a->start) == 0;
    mt_vocabulary_free(learned);
    return same ? MT_OK
                : mt_fail(MT_ERR_ARGUMENT,
                          "%s: its tokens are not those of the vocabulary in %s: encode the text with it (tokenize -v "
                          "%s -o FILE TEXT)",
                          data, dir, dir);
}

/* The file for validation of the run, unless other data were named; NULL: the end of the data. */
static const char *valid_file(const options *o, const mt_run_data *run)
{
    return o->data || !*run->valid ? NULL : run->valid;
}

/* A token file is read with the vocabulary of the run, unless another was named. */
static mt_status open_corpus(mt_corpus *corpus, const options *o, const mt_run_data *run, const char *data,
                             const char *dir, int64_t block)
{
    char own[MT_PATH];
    bool tokens = o->vocabulary || mt_corpus_is_tokens(data);
    snprintf(own, sizeof own, "%s/vocab.bpe", dir);
    if (*run->vocabulary_checksum && strcmp(mt_saving_sum(own), run->vocabulary_checksum) != 0)
        return mt_fail(MT_ERR_FORMAT, "%s is not the vocabulary of the run any more: put that one back", own);
    MT_TRY(mt_corpus_open_valid(corpus, data, valid_file(o, run),
                                o->vocabulary ? o->vocabulary
                                : tokens      ? dir
                                              : NULL,
                                block));
    return same_vocabulary(corpus, data, dir);
}

/* Windows spread over the validation part, or all of it. */
static mt_status text_loss(double *loss, int64_t *targets, const options *o, const mt_corpus *corpus, mt_module *model)
{
    if (!o->windows)
        return mt_evaluate_text(loss, targets, corpus, model, o->batch);
    mt_dataset *windows = mt_dataset_spread(corpus->valid_set, o->windows);
    mt_loader *loader = mt_recipe_loader(&no_workers, windows, mt_sampler_sequential(o->windows), o->batch);
    mt_status status = mt_corpus_loss(loss, model, loader);
    *targets = o->windows * mt_gpt2_config_of(model)->block;
    mt_loader_free(loader);
    mt_dataset_close(windows);
    return status;
}

/* How many questions of a file the model of a text answers. */
static mt_status test_choices(const options *o, const char *dir, int64_t step)
{
    mt_module *model = NULL;
    mt_vocabulary *vocabulary = NULL;
    mt_choices_result r;
    mt_status status = mt_saved_gpt2(&model, dir, step);
    if (status == MT_OK)
        status = mt_vocabulary_open(&vocabulary, dir);
    if (status == MT_OK)
        status = mt_choices(&r, o->choices, model, vocabulary);
    if (status == MT_OK)
        printf("evaluate: step=%" PRId64 " questions=%" PRId64
               " accuracy=%.4f accuracy_per_byte=%.4f chance=%.4f data=%s\n",
               step, r.questions, (double)r.right / (double)r.questions, (double)r.right_per_byte / (double)r.questions,
               r.chance, o->choices);
    mt_vocabulary_free(vocabulary);
    mt_module_free(model);
    return status;
}

static mt_status test_gpt2(const options *o, const mt_run_data *run, const char *dir, int64_t step)
{
    mt_corpus corpus = { 0 };
    mt_module *model = NULL;
    char data[MT_PATH];
    double loss;
    int64_t targets;
    mt_status status = find_data(data, o, run, mt_corpus_text(), NULL);
    if (status == MT_OK)
        status = mt_saved_gpt2(&model, dir, step);
    if (status == MT_OK)
        status = open_corpus(&corpus, o, run, data, dir, mt_gpt2_config_of(model)->block);
    if (status == MT_OK)
        status = text_loss(&loss, &targets, o, &corpus, model);
    if (status == MT_OK)
        printf("evaluate: step=%" PRId64 " loss=%.6f perplexity=%.4f bits_per_byte=%.4f tokens=%" PRId64 " data=%s\n",
               step, loss, exp(loss), loss / M_LN2 / mt_corpus_bytes(&corpus), targets,
               valid_file(o, run) ? valid_file(o, run) : data);
    mt_corpus_close(&corpus);
    mt_module_free(model);
    return status;
}

/* The best checkpoint, where the newest says which it is and it is valid. */
static mt_status find(int64_t *step, const char *dir, int64_t wanted)
{
    char text[32];
    mt_status status = mt_saving_find(step, dir, wanted);
    if (status != MT_OK || wanted != MT_NEWEST ||
        mt_checkpoint_text(text, sizeof text, dir, *step, "best step") != MT_OK)
        return status;
    int64_t best = strtoll(text, NULL, 10);
    if (best > 0 && mt_checkpoint_check(dir, best) == MT_OK)
        *step = best;
    return MT_OK;
}

int main(int argc, char **argv)
{
    mt_threads_begin(argv);
    mt_fused_use();
    options o = { .step = MT_NEWEST, .batch = 12 };
    mt_run_data run;
    char program[64];
    int64_t step = 0;
    mt_words words = mt_cli_parse_words(
        argc, argv, "Evaluate the model of a checkpoint in DIR, by default build/run/mnist.", flags, &o, "[DIR]", 1);
    const char *dir = words.count ? words.item[0] : "build/run/mnist";
    if (o.threads)
        omp_set_num_threads((int)o.threads);
    mt_status status = find(&step, dir, o.step);
    if (status == MT_OK)
        status = mt_run_data_read(&run, dir);
    if (status == MT_OK)
        status = mt_checkpoint_text(program, sizeof program, dir, step, "program");
    mt_autocast_begin(o.dtype);
    if (status == MT_OK && o.choices && strcmp(program, "train_gpt2") != 0)
        status = mt_fail(MT_ERR_ARGUMENT, "%s is a run of %s: --choices asks a model of train_gpt2", dir, program);
    else if (status == MT_OK && o.choices)
        status = test_choices(&o, dir, step);
    else if (status == MT_OK)
        status = strcmp(program, "train_mnist") == 0 ? test_mlp(&o, &run, dir, step) : test_gpt2(&o, &run, dir, step);
    mt_autocast_end();
    return mt_cli_exit(status);
}
