/* choices.c -- multiple choice by the likelihood of the endings; see evaluation.h. */
#include "train/evaluation.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "ckpt/manifest.h"
#include "cli/progress.h"
#include "core/scope.h"
#include "models/gpt2.h"
#include "text/tokenizer.h"

/* ---- likelihood -------------------------------------------------------------------------------------------- */

/* log of the softmax of a row at `id`. */
static double log_probability(const float *logits, int64_t V, int32_t id)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t v = 0; v < V; v++)
        largest = fmax(largest, (double)logits[v]);
    for (int64_t v = 0; v < V; v++)
        sum += exp((double)logits[v] - largest);
    return (double)logits[id] - largest - log(sum);
}

double mt_choice_likelihood(mt_module *model, const int32_t *ids, int64_t count, int64_t n)
{
    int64_t T = mt_min(count - 1, mt_gpt2_config_of(model)->block), V = mt_gpt2_config_of(model)->vocabulary;
    double sum = 0;
    ids += count - 1 - T;
    mt_no_grad_begin();
    mt_scope_begin();
    mt_tensor *x = mt_empty(MT_SHAPE(1, T), MT_I32, MT_CPU);
    memcpy(mt_data(x), ids, (size_t)T * sizeof *ids);
    mt_tensor *logits = mt_to_device(mt_gpt2_logits(model, mt_to_device(x, mt_module_device(model))), MT_CPU);
    for (int64_t t = T - n; t < T; t++)
        sum += log_probability(mt_f32(logits) + t * V, V, ids[t + 1]);
    mt_scope_end();
    mt_no_grad_end();
    return sum;
}

/* ---- a line ------------------------------------------------------------------------------------------------ */

typedef struct question {
    const char *text, **ending; /* lent by the JSON */
    int64_t endings, label;
} question;

/* What is wrong with an object; NULL: nothing. */
static const char *read_question(question *q, const cJSON *json)
{
    const cJSON *endings = cJSON_GetObjectItemCaseSensitive(json, "endings");
    q->text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "question"));
    q->label = mt_json_whole(cJSON_GetObjectItemCaseSensitive(json, "label"));
    q->endings = cJSON_IsArray(endings) ? cJSON_GetArraySize(endings) : 0;
    if (!q->text || !*q->text)
        return "\"question\" must be a text";
    if (q->endings < 2)
        return "\"endings\" must be two texts or more";
    if (q->label < 0 || q->label >= q->endings)
        return "\"label\" must be the number of an ending, from 0 on";
    q->ending = mt_realloc(NULL, q->endings, sizeof *q->ending);
    const cJSON *item = endings->child;
    for (int64_t i = 0; i < q->endings; i++, item = item->next)
        if (!(q->ending[i] = cJSON_GetStringValue(item)) || !*q->ending[i])
            return "an ending must be a text, and not empty";
    return NULL;
}

/* Appends the ids of a text. */
static mt_status encode(mt_encoder *encoder, int32_t **ids, int64_t *count, const char *text)
{
    int64_t size = (int64_t)strlen(text), more = 0;
    *ids = mt_realloc(*ids, *count + size + 1, sizeof **ids);
    MT_TRY(mt_encode(encoder, *ids + *count, &more, (const uint8_t *)text, size));
    *count += more;
    return MT_OK;
}

/* The log-likelihood of one ending. */
static mt_status likelihood(double *out, const question *q, int64_t i, mt_module *model, mt_encoder *encoder)
{
    int32_t *ids = NULL;
    int64_t before = 0, context = mt_gpt2_config_of(model)->block;
    mt_status status = encode(encoder, &ids, &before, q->text);
    int64_t count = before;
    if (status == MT_OK)
        status = encode(encoder, &ids, &count, q->ending[i]);
    if (status == MT_OK && count - before > context)
        status = mt_fail(MT_ERR_FORMAT, "ending %" PRId64 " has %" PRId64 " tokens, and the model's context %" PRId64,
                         i, count - before, context);
    if (status == MT_OK)
        *out = mt_choice_likelihood(model, ids, count, count - before);
    free(ids);
    return status;
}

static mt_status answer(mt_choices_result *out, const question *q, mt_module *model, mt_encoder *encoder)
{
    int64_t best = 0, best_per_byte = 0;
    double most = -INFINITY, most_per_byte = -INFINITY, value;
    for (int64_t i = 0; i < q->endings; i++) {
        MT_TRY(likelihood(&value, q, i, model, encoder));
        double per_byte = value / (double)strlen(q->ending[i]);
        if (value > most)
            most = value, best = i;
        if (per_byte > most_per_byte)
            most_per_byte = per_byte, best_per_byte = i;
    }
    out->questions++;
    out->right += best == q->label;
    out->right_per_byte += best_per_byte == q->label;
    out->chance += 1 / (double)q->endings;
    return MT_OK;
}

static mt_status take_line(mt_choices_result *out, const char *line, int64_t size, mt_module *model,
                           mt_encoder *encoder)
{
    question q = { 0 };
    cJSON *json = mt_json_parse(line, size);
    const char *why = cJSON_IsObject(json) ? read_question(&q, json) : "no JSON object";
    mt_status status = why ? mt_fail(MT_ERR_FORMAT, "%s", why) : answer(out, &q, model, encoder);
    free(q.ending);
    cJSON_Delete(json);
    return status;
}

/* ---- the file ---------------------------------------------------------------------------------------------- */

static bool is_blank(const char *line, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        if (!strchr(" \t\r", line[i]) || !line[i])
            return false;
    return true;
}

static mt_status take_lines(mt_choices_result *out, const mt_file_map *file, mt_module *model, mt_encoder *encoder)
{
    const char *text = (const char *)file->bytes;
    mt_progress progress = mt_progress_begin("bytes", mt_max(1, file->size));
    int64_t at = 0;
    for (int64_t number = 1; at < file->size; number++) {
        const char *end = memchr(text + at, '\n', (size_t)(file->size - at));
        int64_t size = end ? end - (text + at) : file->size - at;
        char why[1024];
        mt_status status = is_blank(text + at, size) ? MT_OK : take_line(out, text + at, size, model, encoder);
        if (status != MT_OK) {
            snprintf(why, sizeof why, "%s", mt_last_error());
            mt_progress_clear(&progress);
            return mt_fail(status, "%s: line %" PRId64 ": %s", file->path, number, why);
        }
        at += size + 1;
        mt_progress_show(&progress, mt_min(at, file->size), "%" PRId64 " of %" PRId64 " right", out->right,
                         out->questions);
    }
    mt_progress_clear(&progress);
    return out->questions ? MT_OK : mt_fail(MT_ERR_FORMAT, "%s: there is no question", file->path);
}

mt_status mt_choices(mt_choices_result *out, const char *path, mt_module *model, const mt_vocabulary *vocabulary)
{
    mt_file_map file;
    MT_TRY(mt_file_map_open(&file, path));
    mt_tokenizer *tokenizer = mt_tokenizer_new(vocabulary);
    mt_encoder *encoder = mt_encoder_new(tokenizer);
    mt_choices_result result = { 0 };
    mt_status status = take_lines(&result, &file, model, encoder);
    result.chance /= (double)mt_max(1, result.questions);
    mt_encoder_free(encoder);
    mt_tokenizer_free(tokenizer);
    mt_file_map_close(&file);
    if (status == MT_OK)
        *out = result;
    return status;
}
