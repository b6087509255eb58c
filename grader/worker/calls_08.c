/* calls_08.c -- how the worker reaches the units of lab 08. */
#include "text/tokenizer.h"
#include "models/sample.h"
#include "models/kernels_gpt2.h"
#include "models/program.h"
#include "worker/calls_08.h"

#include <stdlib.h>
#include <string.h>

/* ---- tokenizer -------------------------------------------------------------------------------------- */

static void pieces(const mg_value *v)
{
    int64_t size = ARRAY(text)->count, n = 0;
    memset(I64(ends), 0xff, sizeof(int64_t) * (size_t)size);
    for (int64_t at = 0, end; at < size && n < size; at = end) {
        end = I64(ends)[n++] = mt_piece_end(U8(text), size, at);
        if (end <= at || end > size)
            break;
    }
}

static void byte_char(const mg_value *v)
{
    for (int32_t b = 0; b < ARRAY(code)->count; b++)
        I64(code)[b] = mt_byte_char(b);
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

static void merge(const mg_value *v)
{
    mt_vocabulary *vocabulary = vocabulary_of(ARRAY(rules));
    mt_merges merges = mt_merges_new(vocabulary);
    int64_t left = I64(count)[0] = mt_bpe_merge(I32(symbol), ARRAY(symbol)->count, &merges);
    for (int64_t i = mt_max(left, 0); i < ARRAY(symbol)->count; i++)
        I32(symbol)[i] = -1;
    free((void *)merges.slot);
    mt_vocabulary_free(vocabulary);
}

static void words(const mg_value *v) /* slot [n], INT64_MIN for NULL; keys [n,2] */
{
    mt_word *table = calloc(MT_WORDS, sizeof *table);
    MT_CHECK(table, "out of memory");
    for (int64_t i = 0; i < ARRAY(slot)->count; i++) {
        uint64_t key[2];
        memcpy(key, I64(keys) + 2 * i, sizeof key);
        const mt_word *found = mt_word_slot(table, key);
        int64_t slot = I64(slot)[i] = found ? found - table : INT64_MIN;
        if (slot >= 0 && slot < MT_WORDS)
            memcpy(table[slot].key, key, sizeof key);
    }
    free(table);
}

static void decode(const mg_value *v)
{
    mt_strings token = { .bytes = U8(bytes), .start = I64(start), .count = ARRAY(start)->count - 1 };
    memset(U8(text), 0, (size_t)ARRAY(text)->count);
    I64(size)[0] = mt_bpe_decode(U8(text), I32(ids), ARRAY(ids)->count, &token);
}

static void encode(const mg_value *v)
{
    mt_vocabulary *vocabulary = vocabulary_of(ARRAY(rules));
    mt_tokenizer *t = mt_tokenizer_new(vocabulary);
    mt_encoder *e = mt_encoder_new(t);
    int64_t count = 0;
    memset(I32(ids), 0xff, sizeof(int32_t) * (size_t)ARRAY(ids)->count);
    mt_encode(e, I32(ids), &count, U8(text), ARRAY(text)->count);
    for (int64_t i = count; i < ARRAY(ids)->count; i++) /* room that it may use on the way */
        I32(ids)[i] = -1;
    mt_encoder_free(e);
    mt_tokenizer_free(t);
    mt_vocabulary_free(vocabulary);
}

/* ---- kernels, and the steps of sampling ---------------------------------------------------------------- */

// clang-format off
#define CALLS(CALL, RESULT)                                                                                       \
    CALL(mt_layernorm_fwd_cpu, F(out), F(mean), F(rstd), F(x), F(gamma), F(beta), N(N), N(C), S(eps))             \
    CALL(mt_layernorm_bwd_cpu, F(dx), F(dgamma), F(dbeta), F(dout), F(x), F(gamma), F(mean), F(rstd), N(N), N(C)) \
    CALL(mt_embedding_fwd_cpu, F(out), I32(id), F(wte), F(wpe), N(B), N(T), N(V), N(C))                           \
    CALL(mt_embedding_bwd_cpu, F(dwte), F(dwpe), F(dout), I32(id), N(B), N(T), N(C))                              \
    CALL(mt_classifier_fwd_cpu, F(loss), F(probs), F(x), F(w), I32(target), N(N), N(C), N(V))                     \
    CALL(mt_classifier_bwd_cpu, F(dx), F(dw), F(probs), F(dloss), F(x), F(w), I32(target), N(N), N(C), N(V))      \
    CALL(mt_attention_plain_fwd_cpu, F(out), F(saved), F(qkv), N(B), N(T), N(C), N(H))                            \
    CALL(mt_attention_plain_bwd_cpu, F(dqkv), F(dout), F(qkv), F(out), F(saved), N(B), N(T), N(C), N(H))          \
    CALL(mt_attention_cached_cpu, F(out), F(cache), F(qkv), N(place), N(C), N(H))                                 \
    CALL(mt_sample_weights_cpu, F(weight), F(logit), N(V), (double)S(temperature))                                \
    RESULT(mt_most_likely_cpu, I32(token)[0], F(logits), N(V))                                                    \
    RESULT(mt_sample_kept_cpu, I64(kept)[0], F(weight), N(V), N(top_k), (double)S(top_p))                         \
    RESULT(mt_sample_drawn_cpu, I64(rank)[0], F(weight), N(kept), (double)S(part))
CALLS(MG_THUNK, MG_RESULT)
// clang-format on

static void attention_text(const mg_value *v)
{
    for (int64_t t = 0, C = N(C); t < N(T); t++)
        mt_attention_cached_cpu(F(out) + t * C, F(cache), F(qkv) + t * 3 * C, t, C, N(H));
}

static void sample(const mg_value *v)
{
    mt_sampling how = { (double)S(temperature), N(top_k), (double)S(top_p) };
    mt_rng rng = mt_rng_new((uint64_t)N(seed), MT_STREAM_SAMPLE);
    I32(token)[0] = mt_sample(F(logits), N(V), &how, &rng);
}

static void program_text(const mg_value *v)
{
    int64_t V = N(vocabulary), rows = ARRAY(logits)->count / V;
    mt_program_text(F(logits), &(mt_text_task){ .text = I32(text),
                                                .count = ARRAY(text)->count,
                                                .vocabulary = V,
                                                .asked = I32(asked),
                                                .rows = rows,
                                                .context = ARRAY(asked)->count / rows,
                                                .seed = (uint64_t)N(seed) });
}

// clang-format off
const mg_function mg_calls_08[] = {
    CALLS(MG_ENTRY, MG_ENTRY)
    { "mt_piece_end, over a text", pieces },
    { "mt_byte_char", byte_char },
    { "mt_bpe_merge", merge },
    { "mt_word_slot, again and again", words },
    { "mt_bpe_decode", decode },
    { "mt_encode", encode },
    { "mt_layernorm_bwd_cpu for dx", mt_layernorm_bwd_cpu_ },
    { "mt_layernorm_bwd_cpu for dgamma", mt_layernorm_bwd_cpu_ },
    { "mt_layernorm_bwd_cpu for dbeta", mt_layernorm_bwd_cpu_ },
    { "mt_attention_cached_cpu, token by token", attention_text },
    { "mt_sample", sample },
    { "mt_gpt2_block_forward, and backward", mg_call_gpt2_block },
    { "mt_gpt2_forward, _logits, _loss, and backward", mg_call_gpt2_model },
    { "mt_train_step", mg_call_train_step },
    { "mt_train_batch", mg_call_train_batch },
    { "mt_program_text", program_text },
    { NULL, NULL },
};
