/* draw_08.c -- the pictures of lab 08: merges, attention, the cache, sampling, and the size of the residual stream. */
#include <stdlib.h>

#include "autograd/tape.h"
#include "bench/draw.h"
#include "core/scope.h"
#include "models/gpt2.h"
#include "models/gpt2_ops.h"
#include "models/kernels_gpt2.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

/* ---- byte-pair encoding ----------------------------------------------------------------------------------------- */

enum { MERGES = 7, WORDS = 4, LETTER = 21 };

static const struct {
    const char *word;
    int times;
} text[WORDS] = { { "low", 5 }, { "lowest", 2 }, { "newer", 6 }, { "wider", 3 } };

static mt_vocabulary *learn(void)
{
    char all[400] = "";
    for (int w = 0; w < WORDS; w++)
        for (int i = 0; i < text[w].times; i++)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s\n", text[w].word);
    return mt_vocabulary_train((const uint8_t *)all, (int64_t)strlen(all), MT_BYTES + MERGES + 1);
}

/* The symbols of a word; the new one is green. */
static void word(double x, double y, const char *letters, const mt_vocabulary *v, const mt_merges *merges,
                 int32_t newest)
{
    int32_t symbol[16];
    int64_t n = (int64_t)strlen(letters);
    for (int64_t i = 0; i < n; i++)
        symbol[i] = (uint8_t)letters[i];
    n = mt_bpe_merge(symbol, n, merges);
    for (int64_t i = 0; i < n; i++) {
        int32_t id = mt_symbol_id(v, symbol[i]);
        int64_t begin = v->token.start[id], size = v->token.start[id + 1] - begin;
        double wide = LETTER * (double)size;
        draw_box(symbol[i] == newest ? 'c' : 'a',
                 symbol[i] < MT_BYTES  ? 0
                 : symbol[i] == newest ? 1
                                       : 0.5,
                 x, y, wide, 22, "%.*s", (int)size, (const char *)v->token.bytes + begin);
        x += wide;
    }
}

static void merges(void)
{
    mt_vocabulary *learned = learn(), *v = mt_vocabulary_new();
    for (int w = 0; w < WORDS; w++)
        draw_text('t', 250 + w * 158, 28, "%s, %d times", text[w].word, text[w].times);
    for (int k = 0; k <= MERGES; k++) {
        double y = 40 + k * 30;
        int32_t id = MT_BYTES - 1 + k;
        if (k > 0) {
            const int32_t *part = learned->parts[id];
            const mt_strings *s = &learned->token;
            draw_text('s', 14, y + 15, "rank %d:", k - 1);
            draw_text('c', 74, y + 15, "%.*s + %.*s", (int)(s->start[part[0] + 1] - s->start[part[0]]),
                      (const char *)s->bytes + s->start[part[0]], (int)(s->start[part[1] + 1] - s->start[part[1]]),
                      (const char *)s->bytes + s->start[part[1]]);
            mt_vocabulary_merge(v, part[0], part[1]);
        } else
            draw_text('s', 14, y + 15, "bytes");
        mt_merges table = mt_merges_new(v);
        for (int w = 0; w < WORDS; w++)
            word(250 + w * 158, y, text[w].word, v, &table, k > 0 ? id : -1);
        free((void *)table.slot);
    }
    mt_vocabulary_free(learned);
    mt_vocabulary_free(v);
}

/* ---- attention -------------------------------------------------------------------------------------------------- */

enum { T = 8, HEADS = 2, COLUMNS = 8 }; /* D = 4 */

static void random_qkv(float *qkv)
{
    mt_rng rng = mt_rng_new(8, MT_STREAM_TEST);
    for (int i = 0; i < T * 3 * COLUMNS; i++)
        qkv[i] = 1.5f * mt_rng_normal(&rng);
}

static void row_of_qkv(double x, double y)
{
    enum { WIDE = 22, D = COLUMNS / HEADS };
    static const char *const part[] = { "query", "key", "value" };
    for (int i = 0; i < 3 * COLUMNS; i++)
        draw_box("ab"[i / D % HEADS], 0.4 + 0.3 * (i / COLUMNS), x + i * WIDE, y, WIDE, 24, "%d", i / D % HEADS);
    for (int i = 0; i < 3; i++)
        draw_text('m', x + (i + 0.5) * COLUMNS * WIDE, y - 7, "%s of each head", part[i]);
    draw_text('e', x - 10, y + 16, "a row of qkv [3C], C = %d:", COLUMNS);
}

static void attention(void)
{
    enum { CELL = 34 };
    float qkv[T * 3 * COLUMNS], out[T * COLUMNS], saved[HEADS * T * T];
    random_qkv(qkv);
    mt_attention_plain_fwd_cpu(out, saved, qkv, 1, T, COLUMNS, HEADS);
    row_of_qkv(196, 36);
    for (int head = 0; head < HEADS; head++) {
        double x = 110 + head * 400, y = 112;
        draw_text('t', x, y - 22, "head %d: probabilities", head);
        draw_text('e', x - 8, y + T * CELL + 16, "key");
        for (int i = 0; i < T; i++) {
            draw_text('e', x - 8, y + i * CELL + 21, "query %d", i);
            draw_text('m', x + (i + 0.5) * CELL, y + T * CELL + 16, "%d", i);
            for (int j = 0; j < T; j++) {
                float p = saved[(head * T + i) * T + j];
                draw_box(j > i ? 'g' : "ab"[head], j > i ? 0.5 : p, x + j * CELL, y + i * CELL, CELL, CELL,
                         j > i ? "" : "%.2f", p);
            }
        }
    }
}

static void cache(void)
{
    enum { CELL = 15, SHOWN = 6 };
    float qkv[T * 3 * COLUMNS], out[T * COLUMNS], saved[HEADS * T * T], row[COLUMNS], store[T * 2 * COLUMNS];
    int64_t without = 0;
    random_qkv(qkv);
    mt_attention_plain_fwd_cpu(out, saved, qkv, 1, T, COLUMNS, HEADS);
    draw_text('s', 12, 40, "without");
    draw_text('s', 12, 160, "with a cache");
    for (int place = 0; place < SHOWN; place++) {
        double x = 110 + place * 124;
        mt_attention_cached_cpu(row, store, qkv + place * 3 * COLUMNS, place, COLUMNS, HEADS);
        for (int i = 0; i < COLUMNS; i++)
            MT_CHECK(fabsf(row[i] - out[place * COLUMNS + i]) < 1e-4f, "token %d has another row with a cache", place);
        draw_text('t', x, 22, "token %d", place);
        for (int i = 0; i <= place; i++)
            for (int j = 0; j <= i; j++) {
                draw_box(i < place ? 'd' : 'c', 1, x + j * CELL, 30 + i * CELL, CELL, CELL, "%s", "");
                if (i == place)
                    draw_box('c', 1, x + j * CELL, 150, CELL, CELL, "%s", "");
                without += 1;
            }
        for (int j = 0; j <= place; j++)
            draw_box('a', j < place ? 0.7 : 0.2, x + j * CELL, 150 + CELL + 4, CELL, CELL, "%s", "");
        draw_text('s', x, 134, "%lld score%s", (long long)without, without > 1 ? "s" : "");
        draw_text('s', x, 204, "%d score%s", (place + 1) * (place + 2) / 2, place ? "s" : "");
    }
    draw_text('s', 12, 232,
              "Green: scores of the new token. Red: scores that were computed before. Blue: keys and values in the "
              "cache, the "
              "new one lighter.");
}

/* ---- sampling --------------------------------------------------------------------------------------------------- */

static void choice(double x, double y, const char *title, double temperature, int64_t top_k, double top_p)
{
    enum { V = 14, WIDE = 17, HIGH = 90 };
    static const float logit[V] = { 4.2f, 3.9f, 3.1f, 2.8f, 2.2f,  2.1f,  1.6f,
                                    1.2f, 0.9f, 0.5f, 0.1f, -0.4f, -0.9f, -1.7f };
    float weight[V], sum = 0;
    mt_sample_weights_cpu(weight, logit, V, temperature);
    int64_t kept = mt_sample_kept_cpu(weight, V, top_k, top_p);
    for (int64_t i = 0; i < kept; i++)
        sum += weight[i];
    draw_text('t', x, y, "%s", title);
    for (int64_t i = 0; i < V; i++) {
        double high = i < kept ? 1.6 * HIGH * weight[i] / sum : 0;
        draw_box('c', 1, x + (double)i * WIDE, y + 18 + HIGH - high, WIDE - 3, high, "%s", "");
        draw_text('m', x + (double)i * WIDE + 7, y + 32 + HIGH, "%lld", (long long)i);
    }
    draw_line('l', x - 2, y + 18 + HIGH, x + V * WIDE, y + 18 + HIGH);
    draw_text('e', x + V * WIDE - 3, y + 26, "%lld kept, the first: %.2f", (long long)kept, weight[0] / sum);
}

static void sampling(void)
{
    choice(24, 26, "temperature 1", 1, 0, 1);
    choice(306, 26, "temperature 0.5", 0.5, 0, 1);
    choice(588, 26, "temperature 2", 2, 0, 1);
    choice(24, 186, "top-k 4", 1, 4, 1);
    choice(306, 186, "top-p 0.8", 1, 0, 0.8);
    choice(588, 186, "temperature 2, top-p 0.8", 2, 0, 0.8);
}

/* ---- the residual stream ---------------------------------------------------------------------------------------- */

enum { LAYERS = 48 };

static double deviation(const mt_tensor *x)
{
    double sum = 0;
    for (int64_t i = 0; i < mt_numel(x); i++)
        sum += (double)mt_f32(x)[i] * mt_f32(x)[i];
    return sqrt(sum / (double)mt_numel(x));
}

/* The standard deviation of x after each block of a new model, whose c_proj weights are multiplied by `factor`. */
static void stream(char color, int64_t layers, bool divided, double y, double per_unit)
{
    mt_gpt2_config config = { .vocabulary = 256, .block = 16, .layers = layers, .heads = 4, .width = 128 };
    mt_rng rng = mt_rng_new(8, MT_STREAM_TEST);
    mt_module *model = mt_gpt2_new(&config, &rng), *blocks = model->child[MT_GPT2_H];
    double at_x[LAYERS + 1], at_y[LAYERS + 1];
    mt_scope_begin();
    mt_no_grad_begin();
    mt_tensor *ids = mt_empty(MT_SHAPE(1, 16), MT_I32, MT_CPU);
    for (int i = 0; i < 16; i++)
        ((int32_t *)mt_data(ids))[i] = i * 37 % 256;
    mt_tensor *x = mt_embedding(model->child[MT_GPT2_WTE]->param[0], model->child[MT_GPT2_WPE]->param[0], ids);
    for (int64_t l = 0; l <= layers; l++) {
        at_x[l] = 60 + 15 * (double)l, at_y[l] = y - per_unit * deviation(x);
        if (l == layers)
            break;
        mt_module *block = blocks->child[l], *part[] = { block->child[MT_GPT2_ATTN], block->child[MT_GPT2_MLP] };
        for (int p = 0; p < 2 && !divided; p++) {
            mt_tensor *w = part[p]->child[MT_GPT2_C_PROJ]->param[0];
            for (int64_t i = 0; i < mt_numel(w); i++)
                mt_f32(w)[i] *= sqrtf(2 * (float)layers);
        }
        x = mt_gpt2_block_forward(block, x);
    }
    draw_curve(color, at_x, at_y, layers + 1);
    draw_text('s', at_x[layers] - (layers == LAYERS ? 130 : 0), at_y[layers] + (divided ? -8 : 20), "%lld blocks: %.3f",
              (long long)layers, deviation(x));
    mt_no_grad_end();
    mt_scope_end();
    mt_module_free(model);
}

static void initial(void)
{
    enum { BOTTOM = 230, UNIT = 360 };
    draw_text('t', 60, 22, "standard deviation of the residual stream after each block, initial weights");
    for (int i = 0; i <= 5; i++) {
        draw_text('e', 52, BOTTOM - i * 0.1 * UNIT + 4, "%.1f", i * 0.1);
        draw_line('d', 60, BOTTOM - i * 0.1 * UNIT, 60 + 15 * LAYERS, BOTTOM - i * 0.1 * UNIT);
    }
    for (int l = 0; l <= LAYERS; l += 12)
        draw_text('m', 60 + 15 * l, BOTTOM + 18, l ? "block %d" : "embedding", l);
    stream('d', 12, false, BOTTOM, UNIT);
    stream('d', LAYERS, false, BOTTOM, UNIT);
    stream('a', 12, true, BOTTOM, UNIT);
    stream('a', LAYERS, true, BOTTOM, UNIT);
    draw_text('s', 60, 276, "Blue: weights of what is added to the stream divided by sqrt(2L). Red: not divided.");
}

int main(int argc, char **argv)
{
    static const draw_picture pictures[] = {
        { "merges.svg", 292, "Seven merges that are learned from a text, and four of its words after each of them",
          merges },
        { "attention.svg", 410,
          "A row of queries, keys and values; the probabilities of two heads, without those of later keys", attention },
        { "cache.svg", 246, "Scores that are computed for each of six new tokens, without a cache and with one",
          cache },
        { "sampling.svg", 330, "Probabilities of 14 tokens by temperature, top-k and top-p", sampling },
        { "initial.svg", 290,
          "Standard deviation of the residual stream over 12 and 48 blocks, with and without the division by sqrt(2L)",
          initial },
        { 0 },
    };
    return draw_all(argc, argv, pictures);
}
