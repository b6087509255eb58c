/* calls_08.c -- how the worker reaches the units of lab 08. */
#include "text/tokenizer.h"
#include "models/sample.h"
#include "models/kernels_gpt2.h"
#include "models/program.h"
#include "worker/aborts.h"
#include "worker/calls_08.h"

#include <stdlib.h>
#include <string.h>

/* ---- tokenizer -------------------------------------------------------------------------------------- */

static void pieces(const mg_value *v) /* ends [size]; text [size] */
{
    int64_t size = v[1].count, n = 0;
    memset(v[0].i64s, 0xff, sizeof(int64_t) * (size_t)size);
    for (int64_t at = 0, end; at < size && n < size; at = end) {
        end = v[0].i64s[n++] = mt_piece_end(v[1].u8, size, at);
        if (end <= at || end > size)
            break;
    }
}

static void byte_char(const mg_value *v) /* code [256] */
{
    for (int32_t b = 0; b < v[0].count; b++)
        v[0].i64s[b] = mt_byte_char(b);
}

/* Bytes in their own order, so that ids are symbols and do not depend on mt_byte_char. */
static mt_vocabulary *vocabulary_of(const mg_value *rules)
{
    mt_vocabulary *v = calloc(1, sizeof *v);
    MT_CHECK(v, "out of memory");
    v->end_of_text = -1;
    for (int b = 0; b < MT_BYTES; b++)
        mt_strings_add(&v->token, &(uint8_t){ (uint8_t)b }, 1);
    for (int64_t i = 0; i + 1 < rules->count; i += 2)
        mt_vocabulary_merge(v, rules->i32[i], rules->i32[i + 1]);
    return v;
}

static void merge(const mg_value *v) /* symbol [n], count [1]; rules [r,2] */
{
    mt_vocabulary *vocabulary = vocabulary_of(&v[2]);
    mt_merges merges = mt_merges_new(vocabulary);
    int64_t left = v[1].i64s[0] = mt_bpe_merge(v[0].i32, v[0].count, &merges);
    for (int64_t i = mt_max(left, 0); i < v[0].count; i++)
        v[0].i32[i] = -1;
    free((void *)merges.slot);
    mt_vocabulary_free(vocabulary);
}

static void words(const mg_value *v) /* slot [n], INT64_MIN for NULL; keys [n,2] */
{
    mt_word *table = calloc(MT_WORDS, sizeof *table);
    MT_CHECK(table, "out of memory");
    for (int64_t i = 0; i < v[0].count; i++) {
        uint64_t key[2];
        memcpy(key, v[1].i64s + 2 * i, sizeof key);
        const mt_word *found = mt_word_slot(table, key);
        int64_t slot = v[0].i64s[i] = found ? found - table : INT64_MIN;
        if (slot >= 0 && slot < MT_WORDS)
            memcpy(table[slot].key, key, sizeof key);
    }
    free(table);
}

static void decode(const mg_value *v) /* size [1], text; ids, bytes, start */
{
    mt_strings token = { .bytes = v[3].u8, .start = v[4].i64s, .count = v[4].count - 1 };
    memset(v[1].u8, 0, (size_t)v[1].count);
    v[0].i64s[0] = mt_bpe_decode(v[1].u8, v[2].i32, v[2].count, &token);
}

static void encode(const mg_value *v) /* ids [size]; text [size], rules [r,2] */
{
    mt_vocabulary *vocabulary = vocabulary_of(&v[2]);
    mt_tokenizer *t = mt_tokenizer_new(vocabulary);
    mt_encoder *e = mt_encoder_new(t);
    int64_t count = 0;
    memset(v[0].i32, 0xff, sizeof(int32_t) * (size_t)v[0].count);
    mt_encode(e, v[0].i32, &count, v[1].u8, v[1].count);
    for (int64_t i = count; i < v[0].count; i++) /* room that it may use on the way */
        v[0].i32[i] = -1;
    mt_encoder_free(e);
    mt_tokenizer_free(t);
    mt_vocabulary_free(vocabulary);
}

/* ---- layernorm, embedding, classifier ---------------------------------------------------------------- */

static void layernorm_fwd(const mg_value *v)
{
    mt_layernorm_fwd_cpu(v[0].f32, v[1].f32, v[2].f32, v[3].f32, v[4].f32, v[5].f32, v[6].i64, v[7].i64, v[8].scalar);
}

static void layernorm_in_place(const mg_value *v)
{
    mt_layernorm_fwd_cpu(v[0].f32, v[1].f32, v[2].f32, v[0].f32, v[3].f32, v[4].f32, v[5].i64, v[6].i64, v[7].scalar);
}

static void layernorm_bwd(const mg_value *v)
{
    mt_layernorm_bwd_cpu(v[0].f32, v[1].f32, v[2].f32, v[3].f32, v[4].f32, v[5].f32, v[6].f32, v[7].f32, v[8].i64,
                         v[9].i64);
}

static void embedding_fwd(const mg_value *v)
{
    mt_embedding_fwd_cpu(v[0].f32, v[1].i32, v[2].f32, v[3].f32, v[4].i64, v[5].i64, v[6].i64, v[7].i64);
}

static void embedding_bwd(const mg_value *v)
{
    mt_embedding_bwd_cpu(v[0].f32, v[1].f32, v[2].f32, v[3].i32, v[4].i64, v[5].i64, v[6].i64);
}

static void classifier_fwd(const mg_value *v)
{
    mt_classifier_fwd_cpu(v[0].f32, v[1].f32, v[2].f32, v[3].f32, v[4].i32, v[5].i64, v[6].i64, v[7].i64);
}

static void classifier_bwd(const mg_value *v)
{
    mt_classifier_bwd_cpu(v[0].f32, v[1].f32, v[2].f32, v[3].f32, v[4].f32, v[5].f32, v[6].i32, v[7].i64, v[8].i64,
                          v[9].i64);
}

/* ---- attention -------------------------------------------------------------------------------------- */

static void attention_fwd(const mg_value *v) /* out, saved; qkv; B, T, C, H */
{
    mt_attention_plain_fwd_cpu(v[0].f32, v[1].f32, v[2].f32, v[3].i64, v[4].i64, v[5].i64, v[6].i64);
}

static void attention_bwd(const mg_value *v) /* dqkv, saved; dout, qkv, out; B, T, C, H */
{
    mt_attention_plain_bwd_cpu(v[0].f32, v[2].f32, v[3].f32, v[4].f32, v[1].f32, v[5].i64, v[6].i64, v[7].i64,
                               v[8].i64);
}

static void attention_cached(const mg_value *v) /* out, cache; qkv; place, C, H */
{
    mt_attention_cached_cpu(v[0].f32, v[1].f32, v[2].f32, v[3].i64, v[4].i64, v[5].i64);
}

static void attention_text(const mg_value *v) /* out [T,C], cache [T,2C]; qkv [T,3C]; T, C, H */
{
    for (int64_t t = 0, C = v[4].i64; t < v[3].i64; t++)
        mt_attention_cached_cpu(v[0].f32 + t * C, v[1].f32, v[2].f32 + t * 3 * C, t, C, v[5].i64);
}

/* ---- what must abort ------------------------------------------------------------------------------------ */

MG_THUNK_ABORTS(layernorm_fwd)
MG_THUNK_ABORTS(embedding_fwd)
MG_THUNK_ABORTS(classifier_fwd)
MG_THUNK_ABORTS(attention_fwd)
MG_THUNK_ABORTS(attention_bwd)
MG_THUNK_ABORTS(attention_cached)

/* ---- sampling ------------------------------------------------------------------------------------------ */

static void most_likely(const mg_value *v)
{
    v[0].i32[0] = mt_most_likely_cpu(v[1].f32, v[2].i64);
}

static void sample_weights(const mg_value *v)
{
    mt_sample_weights_cpu(v[0].f32, v[1].f32, v[2].i64, (double)v[3].scalar);
}

static void sample_kept(const mg_value *v)
{
    v[0].i64s[0] = mt_sample_kept_cpu(v[1].f32, v[2].i64, v[3].i64, (double)v[4].scalar);
}

static void sample_drawn(const mg_value *v)
{
    v[0].i64s[0] = mt_sample_drawn_cpu(v[1].f32, v[2].i64, (double)v[3].scalar);
}

static void sample(const mg_value *v) /* token; logits, V, temperature, top_k, top_p, seed */
{
    mt_sampling how = { (double)v[3].scalar, v[4].i64, (double)v[5].scalar };
    mt_rng rng = mt_rng_new((uint64_t)v[6].i64, MT_STREAM_SAMPLE);
    v[0].i32[0] = mt_sample(v[1].f32, v[2].i64, &how, &rng);
}

static void program_text(const mg_value *v) /* logits [rows,V]; text, asked [rows,context]; V, seed */
{
    int64_t V = v[3].i64, rows = v[0].count / V;
    mt_program_text(v[0].f32, &(mt_text_task){ .text = v[1].i32,
                                               .count = v[1].count,
                                               .vocabulary = V,
                                               .asked = v[2].i32,
                                               .rows = rows,
                                               .context = v[2].count / rows,
                                               .seed = (uint64_t)v[4].i64 });
}

const mg_function mg_calls_08[] = {
    { "mt_piece_end, over a text", pieces },
    { "mt_byte_char", byte_char },
    { "mt_bpe_merge", merge },
    { "mt_word_slot, again and again", words },
    { "mt_bpe_decode", decode },
    { "mt_encode", encode },
    { "mt_layernorm_fwd_cpu", layernorm_fwd },
    { "mt_layernorm_fwd_cpu in place", layernorm_in_place },
    { "mt_layernorm_bwd_cpu", layernorm_bwd },
    { "mt_layernorm_bwd_cpu for dx", layernorm_bwd },
    { "mt_layernorm_bwd_cpu for dgamma", layernorm_bwd },
    { "mt_layernorm_bwd_cpu for dbeta", layernorm_bwd },
    { "mt_embedding_fwd_cpu", embedding_fwd },
    { "mt_embedding_bwd_cpu", embedding_bwd },
    { "mt_classifier_fwd_cpu", classifier_fwd },
    { "mt_classifier_bwd_cpu", classifier_bwd },
    { "mt_attention_plain_fwd_cpu", attention_fwd },
    { "mt_attention_plain_bwd_cpu", attention_bwd },
    { "mt_attention_cached_cpu", attention_cached },
    { "mt_attention_cached_cpu, token by token", attention_text },
    { "may abort: mt_layernorm_fwd_cpu", layernorm_fwd_aborts },
    { "may abort: mt_embedding_fwd_cpu", embedding_fwd_aborts },
    { "may abort: mt_classifier_fwd_cpu", classifier_fwd_aborts },
    { "may abort: mt_attention_plain_fwd_cpu", attention_fwd_aborts },
    { "may abort: mt_attention_plain_bwd_cpu", attention_bwd_aborts },
    { "may abort: mt_attention_cached_cpu", attention_cached_aborts },
    { "mt_most_likely_cpu", most_likely },
    { "mt_sample_weights_cpu", sample_weights },
    { "mt_sample_kept_cpu", sample_kept },
    { "mt_sample_drawn_cpu", sample_drawn },
    { "mt_sample", sample },
    { "mt_gpt2_block_forward, and backward", mg_call_gpt2_block },
    { "mt_gpt2_forward, _logits, _loss, and backward", mg_call_gpt2_model },
    { "mt_train_step", mg_call_train_step },
    { "mt_train_batch", mg_call_train_batch },
    { "mt_program_text", program_text },
    { NULL, NULL },
};
