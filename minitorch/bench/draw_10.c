/* draw_10.c -- the pictures of lab 10: live memory during steps of a small GPT-2, choices under a budget, a pool,
 * and what a device and its bus do when. */
#include "bench/draw.h"
#include "core/scope.h"
#include "memory/accumulate.h"
#include "memory/choose.h"
#include "memory/offload.h"
#include "memory/pool.h"
#include "memory/segment.h"
#include "models/gpt2.h"

/* ---- live memory ------------------------------------------------------------------------------------------------ */

enum { EVENTS = 1 << 14, BATCH = 8, TIME = 32, VOCABULARY = 64 };

typedef struct record {
    int64_t before, live[EVENTS], most; /* bytes, above those before the step */
    int count, forward;                 /* allocations and frees in all, and until the first forward had ended */
} record;

static record of;

static void note(void *user, mt_device device, const void *data, int64_t bytes)
{
    (void)user, (void)device, (void)data;
    MT_CHECK(of.count < EVENTS, "more than %d allocations", EVENTS);
    of.live[of.count] = (of.count ? of.live[of.count - 1] : 0) + bytes;
    of.most = mt_max(of.most, of.live[of.count]);
    of.count++;
}

static bool next(void *source, mt_batch *batch)
{
    const int64_t *samples = source;
    mt_tensor *ids = mt_zeros(MT_SHAPE(*samples, TIME), MT_I32, MT_CPU);
    for (int64_t i = 0; i < mt_numel(ids); i++)
        ((int32_t *)mt_data(ids))[i] = (int32_t)(i * 37 % VOCABULARY);
    *batch = (mt_batch){ .x = ids, .y = ids, .count = *samples };
    return true;
}

static mt_tensor *loss(mt_module *model, mt_tensor *x, mt_tensor *y)
{
    mt_tensor *result = mt_gpt2_loss(model, x, y);
    of.forward = of.forward ? of.forward : of.count;
    return result;
}

/* Gradients of a batch in `micro` parts; those of a first one are there already. */
static void gradients(mt_tensor *(*run)(mt_module *module, mt_tensor *x), int64_t micro)
{
    mt_gpt2_config config = { .vocabulary = VOCABULARY, .block = TIME, .layers = 6, .heads = 4, .width = 64 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&config, &rng), *blocks = model->child[MT_GPT2_H];
    int64_t samples = BATCH / micro;
    mt_training training = { .model = model, .loss = loss, .next = next, .source = &samples, .micro = micro };
    mt_step_result sum = { 0 };
    mt_train_accumulate(&sum, &training);
    for (int i = 0; i < blocks->children; i++)
        blocks->child[i]->run = run;
    of = (record){ 0 };
    mt_alloc_observe(note, NULL);
    mt_train_accumulate(&sum, &training);
    mt_alloc_observe(NULL, NULL);
    mt_module_free(model);
}

static void profile(double left, const char *title, mt_tensor *(*run)(mt_module *module, mt_tensor *x), int64_t micro)
{
    enum { WIDE = 180, BOTTOM = 250, MOST = 196, POINTS = 2 * EVENTS };
    static double x[POINTS], y[POINTS], scale;
    gradients(run, micro);
    scale = scale > 0 ? scale : (double)MOST / (double)of.most; /* the first keeps all, and is the highest */
    for (int i = 0; i < of.count; i++) {
        x[i] = left + (double)i / of.count * WIDE;
        y[i] = BOTTOM - scale * (double)of.live[i];
    }
    double end = left + (double)of.forward / of.count * WIDE;
    draw_line('d', end, BOTTOM, end, BOTTOM - MOST);
    draw_curve('a', x, y, of.count);
    draw_line('l', left, BOTTOM, left + WIDE, BOTTOM);
    draw_text('t', left, 26, "%s", title);
    draw_text('s', left, 44, "peak %.2f MB", (double)of.most * 1e-6);
}

static void recomputation(void)
{
    profile(24, "everything is kept", NULL, 1);
    profile(232, "selective", mt_selective_forward, 1);
    profile(440, "blocks", mt_segment_forward, 1);
    profile(648, "four micro-batches", NULL, 4);
    draw_text(
        's', 24, 274,
        "Bytes above parameters and gradients, after each allocation and each free; dashed: the (first) forward ends.");
}

/* ---- choices ---------------------------------------------------------------------------------------------------- */

static void choices(void)
{
    enum { BLOCKS = 12, ROWS = 7, WIDE = 42, HIGH = 24 };
    static const char *const name[] = { "none", "select.", "block" };
    mt_memory_block blocks[BLOCKS];
    int option[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) /* MB; recomputation as that of a block of GPT-2, which keeps 16 tensors */
        blocks[i] = (mt_memory_block){ .options = 3, .option = { { 16, 4, 0 }, { 10, 7, 1 }, { 1, 19, 24 } } };
    int64_t least = mt_memory_least(blocks, BLOCKS), most = 16 * BLOCKS + 4;
    draw_text('t', 14, 26, "budget");
    draw_text('t', 130, 26, "what backward computes again of blocks 0 to %d", BLOCKS - 1);
    draw_text('t', 660, 26, "peak");
    draw_text('t', 740, 26, "forward again");
    for (int row = 0; row < ROWS; row++) {
        mt_memory_choice choice;
        double y = 42 + row * (HIGH + 6);
        int64_t budget = most - (most - least) * row / (ROWS - 1);
        mt_status status = mt_memory_choose(&choice, option, blocks, BLOCKS, budget);
        MT_CHECK(status == MT_OK, "%s", mt_last_error());
        draw_text('s', 14, y + 16, "%d MB", (int)budget);
        for (int i = 0; i < BLOCKS; i++)
            draw_box("gca"[option[i]], option[i] ? 0.9 : 0.2, 130 + i * WIDE, y, WIDE, HIGH, "%s", name[option[i]]);
        draw_text('s', 660, y + 16, "%d MB", (int)choice.peak);
        draw_text('s', 740, y + 16, "%.0f %%", 100.0 * (double)choice.flops / (24 * BLOCKS));
    }
}

/* ---- the pool --------------------------------------------------------------------------------------------------- */

/* Where the next segment is drawn. */
typedef struct place {
    double x, y;
} place;

static void put_segment(void *user, const mt_pool_segment *segment)
{
    enum { WIDE = 17 }; /* of a MiB */
    place *at = user;
    for (const mt_pool_block *b = segment->first; b; b = b->right) {
        double mib = (double)b->bytes / MT_MIB;
        draw_box(b->used ? 'a' : 'g', b->used ? 0.8 : 0.15, at->x, at->y, mib * WIDE, 26, mib >= 2 ? "%.3g" : "", mib);
        at->x += mib * WIDE;
    }
    at->x += 10;
}

static void pool(void)
{
    static const struct {
        const char *words;
        int block; /* which is allocated, or freed */
        double mib;
    } act[] = { { "a = 6 MiB: a new segment, split", 0, 6 },
                { "b = 5 MiB", 1, 5 },
                { "c = 4 MiB", 2, 4 },
                { "b is freed", 1, 0 },
                { "d = 3 MiB: the smallest free block", 3, 3 },
                { "a is freed", 0, 0 },
                { "d is freed: merged with its neighbours", 3, 0 },
                { "e = 8 MiB", 4, 8 },
                { "f = 10 MiB: no free block suits", 5, 10 } };
    void *data[6] = { 0 };
    int64_t bytes[6] = { 0 };
    mt_pool *p = mt_pool_open(mt_allocator_of(MT_CPU));
    for (int i = 0; i < MT_COUNT(act); i++) {
        int b = act[i].block;
        place at = { 300, 20 + i * 36 };
        if (act[i].mib > 0) {
            bytes[b] = (int64_t)(act[i].mib * MT_MIB);
            data[b] = mt_pool_alloc(p, bytes[b]);
        } else
            mt_pool_free(p, data[b], bytes[b]), data[b] = NULL;
        draw_text('s', 14, at.y + 17, "%s", act[i].words);
        mt_pool_visit(p, put_segment, &at);
    }
    for (int b = 0; b < 6; b++)
        if (data[b])
            mt_pool_free(p, data[b], bytes[b]);
    mt_pool_close(p);
}

/* ---- offload ---------------------------------------------------------------------------------------------------- */

/* A device and its bus, drawn while they run; the unit of time is the forward pass of a segment. */
typedef struct timeline {
    mt_bus bus;
    const char *host; /* one byte a segment */
    double now, free, copy, done[64], y;
} timeline;

static void draw_time(char color, double shade, double begin, double end, double y, int64_t segment)
{
    enum { UNIT = 34, HIGH = 24 };
    draw_box(color, shade, 92 + UNIT * begin, y, UNIT * (end - begin), HIGH, "%d", (int)segment);
}

static void line_copy(mt_bus *bus, void *to, const void *from, int64_t bytes, bool out)
{
    timeline *t = (timeline *)bus;
    double begin = fmax(t->now, t->free);
    (void)bytes;
    t->free = begin + t->copy;
    draw_time(out ? 'b' : 'c', 0.8, begin, t->free, t->y + 30, (out ? (const char *)to : (const char *)from) - t->host);
}

static void line_mark(mt_bus *bus, int64_t mark)
{
    ((timeline *)bus)->done[mark] = ((timeline *)bus)->free;
}

static void line_wait(mt_bus *bus, int64_t mark)
{
    ((timeline *)bus)->now = fmax(((timeline *)bus)->now, ((timeline *)bus)->done[mark]);
}

static void schedule(double y, double copy)
{
    enum { SEGMENTS = 6 };
    static const mt_bus_kind kind = { .copy = line_copy, .mark = line_mark, .wait = line_wait };
    char host[SEGMENTS];
    mt_offload_part part[SEGMENTS] = { 0 };
    timeline t = { .bus = { .kind = &kind }, .host = host, .copy = copy, .y = y };
    mt_offload o = { .bus = &t.bus, .part = part, .parts = SEGMENTS };
    mt_storage *memory[SEGMENTS];
    draw_text('t', 14, y - 8, "a copy takes %.1f of a segment's forward pass", copy);
    draw_text('s', 14, y + 16, "computes");
    draw_text('s', 14, y + 46, "bus");
    for (int64_t s = 0; s < SEGMENTS; s++) {
        memory[s] = mt_storage_new(1, MT_CPU);
        part[s] = (mt_offload_part){ .chosen = s < SEGMENTS - 1, .storage = &memory[s], .count = 1, .host = host + s };
        draw_time('a', 0.4, t.now, t.now + 1, y, s);
        t.now += 1;
        mt_offload_leave(&o, s);
    }
    for (int64_t s = SEGMENTS - 1; s >= 0; s--) {
        mt_offload_arrive(&o, s);
        draw_time('a', 0.9, t.now, t.now + 2, y, s);
        t.now += 2;
        mt_storage_release(memory[s]);
    }
}

static void offload(void)
{
    schedule(36, 0.8);
    schedule(136, 1.6);
    draw_text('s', 14, 212,
              "Light: forward, dark: backward. Orange: to the host, green: back. A gap is a wait for the bus.");
}

int main(int argc, char **argv)
{
    static const draw_picture pictures[] = {
        { "recomputation.svg", 288,
          "Live memory during a step: everything kept, selective recomputation, blocks, four micro-batches",
          recomputation },
        { "choices.svg", 262, "Which of twelve blocks are computed again under seven budgets of bytes", choices },
        { "pool.svg", 352, "Segments and blocks of the caching allocator after each of nine calls", pool },
        { "offload.svg", 226,
          "Forward and backward of six segments and the copies of five, on a fast bus and a slow one", offload },
        { 0 },
    };
    return draw_all(argc, argv, pictures);
}
