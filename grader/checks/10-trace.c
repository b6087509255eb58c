/* 10-trace.c -- steps of GPT-2 124M as a script of allocations and frees: how much memory a pool reserves for them,
 * beside what is used, and when it asks the system. A step allocates what a block of the model keeps for backward, what
 * it needs for a moment, and a gradient for each parameter.
 *
 * Any choice of blocks may pass: judged are only overlap, the bytes given by the system, and its calls. */
#include "checks/10-pool.h"

#include <stdlib.h>

enum { LAYERS = 12, C = 768, HEADS = 12, B = 4, VOCABULARY = 50304, POSITIONS = 1024, CHUNK = 128, BLOCK_PARAMS = 12 };

/* What is live: the events that allocated it. */
typedef struct step {
    pool_script *s;
    int64_t grad[LAYERS * BLOCK_PARAMS + 4];
    int grads;
} step;

static int64_t alloc(step *st, int64_t floats)
{
    return mg_pool_add(st->s, MG_POOL_ALLOC, 4 * floats);
}

static void release(step *st, int64_t event)
{
    mg_pool_add(st->s, MG_POOL_FREE, event);
}

static void grad(step *st, int64_t floats)
{
    st->grad[st->grads++] = alloc(st, floats);
}

static void grads_of(step *st, int64_t rows, int64_t cols)
{
    grad(st, rows * cols);
    grad(st, rows);
}

/* What a block keeps: normalised input with mean and deviation, q, k and v, heads with their sums, output. */
typedef struct kept {
    int64_t norm1[3], qkv, heads, sums, x1, norm2[3], fc, gelu, x2;
} kept;

static void normalise(step *st, int64_t n[3], int64_t N)
{
    n[0] = alloc(st, N * C), n[1] = alloc(st, N), n[2] = alloc(st, N);
}

static void forget(step *st, const int64_t n[3])
{
    for (int i = 0; i < 3; i++)
        release(st, n[i]);
}

static void forward(step *st, kept *k, int64_t N)
{
    int64_t product;
    normalise(st, k->norm1, N);
    k->qkv = alloc(st, 3 * N * C);
    k->heads = alloc(st, N * C), k->sums = alloc(st, N * HEADS);
    product = alloc(st, N * C);
    k->x1 = alloc(st, N * C);
    release(st, product);
    normalise(st, k->norm2, N);
    k->fc = alloc(st, 4 * N * C);
    k->gelu = alloc(st, 4 * N * C);
    product = alloc(st, N * C);
    k->x2 = alloc(st, N * C);
    release(st, product);
}

/* The gradient of its output is replaced by that of its input. */
static int64_t backward(step *st, const kept *k, int64_t dout, int64_t N)
{
    int64_t wide = alloc(st, 4 * N * C), wider, dx, dmiddle;
    grads_of(st, C, 4 * C);
    release(st, k->x2);
    wider = alloc(st, 4 * N * C);
    release(st, wide), release(st, k->gelu), release(st, k->fc);
    grads_of(st, 4 * C, C);
    dx = alloc(st, N * C);
    release(st, wider);
    dmiddle = alloc(st, N * C);
    grads_of(st, C, 1);
    release(st, dx), release(st, dout), forget(st, k->norm2), release(st, k->x1);
    wide = alloc(st, N * C);
    grads_of(st, C, C);
    wider = alloc(st, 3 * N * C);
    release(st, wide), release(st, k->heads), release(st, k->sums);
    grads_of(st, 3 * C, C);
    dx = alloc(st, N * C);
    release(st, wider), release(st, k->qkv);
    dout = alloc(st, N * C);
    grads_of(st, C, 1);
    release(st, dx), release(st, dmiddle), forget(st, k->norm1);
    return dout;
}

/* Parameters and the two states of AdamW stay. */
static void lasting(pool_script *s)
{
    static const int64_t block[] = { 3 * C * C, C * C, 4 * C * C, 4 * C * C, 4 * C, 3 * C, C, C, C, C, C, C };
    step st = { .s = s };
    for (int copy = 0; copy < 3; copy++) {
        alloc(&st, (int64_t)VOCABULARY * C);
        alloc(&st, POSITIONS * C);
        for (int i = 0; i < LAYERS * MT_COUNT(block); i++)
            alloc(&st, block[i % MT_COUNT(block)]);
    }
}

static void training_step(pool_script *s, int64_t T)
{
    step st = { .s = s };
    kept k[LAYERS];
    int64_t N = B * T, last[3], x = alloc(&st, N * C);
    for (int l = 0; l < LAYERS; l++)
        forward(&st, &k[l], N);
    normalise(&st, last, N);
    int64_t dnorm = alloc(&st, N * C), loss = alloc(&st, N), logits = alloc(&st, (int64_t)CHUNK * VOCABULARY);
    grad(&st, (int64_t)VOCABULARY * C);
    release(&st, logits), release(&st, loss);
    int64_t dx = alloc(&st, N * C);
    grads_of(&st, C, 1);
    release(&st, dnorm), forget(&st, last);
    for (int l = LAYERS - 1; l >= 0; l--)
        dx = backward(&st, &k[l], dx, N);
    grad(&st, POSITIONS * C);
    release(&st, dx), release(&st, x);
    for (int i = 0; i < st.grads; i++)
        release(&st, st.grad[i]);
}

/* ---- judging ----------------------------------------------------------------------------------------------- */

/* A block in use. */
typedef struct used {
    int64_t piece, from, to, event;
} used;

/* Whether the block of event i overlaps none. Appends it. */
static bool place(mg_run *run, const pool_script *s, used *u, int64_t *count, int64_t i)
{
    const int64_t *piece = mg_result(run, "piece"), *offset = mg_result(run, "offset");
    used new = { piece[i], offset[i], offset[i] + s->event[i][1], i };
    if (new.piece < 0)
        return mg_fail(run, "event %lld: %lld bytes: got NULL or an address outside of all segments", (long long)i,
                       (long long)s->event[i][1]);
    for (int64_t k = 0; k < *count; k++)
        if (u[k].piece == new.piece && u[k].from < new.to &&new.from < u[k].to)
            return mg_fail(run, "event %lld: bytes %lld to %lld of segment %lld overlap the block of event %lld",
                           (long long)i, (long long)new.from, (long long)new.to, (long long)new.piece,
                           (long long)u[k].event);
    u[(*count)++] = new;
    return true;
}

static void forget_block(used *u, int64_t *count, int64_t event)
{
    int64_t k = 0;
    while (u[k].event != event)
        k++;
    u[k] = u[--*count];
}

/* The most bytes in use, and the most that the system gave, whatever was when. */
static bool follow(mg_run *run, const pool_script *s, int64_t *peak_used, int64_t *peak_given)
{
    const int64_t *given = mg_result(run, "given");
    used *u = malloc(sizeof *u * (size_t)s->n);
    int64_t count = 0, bytes = 0;
    bool good = u != NULL;
    for (int64_t i = 0; i < s->n && good; i++) {
        bool fresh = s->event[i][0] == MG_POOL_ALLOC;
        bytes += fresh ? s->event[i][1] : -s->event[s->event[i][1]][1];
        if (fresh)
            good = place(run, s, u, &count, i);
        else
            forget_block(u, &count, s->event[i][1]);
        *peak_used = mt_max(*peak_used, bytes);
        *peak_given = mt_max(*peak_given, given[i]);
        if (good && given[i] < bytes) {
            mg_fail(run, "event %lld: %lld bytes are in use, but the system gave only %lld", (long long)i,
                    (long long)bytes, (long long)given[i]);
            good = false;
        }
    }
    free(u);
    return good;
}

static void judge(mg_run *run, const char *bar, const pool_script *s, int64_t warm)
{
    const int64_t *calls = mg_result(run, "calls");
    int64_t most = 0, given = 0;
    if (!follow(run, s, &most, &given))
        return;
    if (bar) {
        double ratio = (double)given / (double)most;
        mg_note(run, "%.3f bytes reserved at most for each byte used at most (bar %.2f .. %.2f)", ratio,
                mg_bar(run, bar, "low"), mg_bar(run, bar, "full"));
        mg_credit(run, bar, ratio);
    } else if (calls[s->n - 1] != calls[warm - 1]) {
        mg_fail(run, "the system was asked %lld times in the first two steps, and %lld times in the four after them",
                (long long)calls[warm - 1], (long long)(calls[s->n - 1] - calls[warm - 1]));
    }
}

void mg_10_trace(mg_run *run, const void *one_case)
{
    enum { WARM = 2, STEPS = 6 };
    static const int64_t varying[] = { 128, 64, 160, 96, 224, 112, 256, 176, 80, 208, 144, 240 };
    const char *bar = ((const trace_case *)one_case)->bar;
    pool_script s = { .memory = (int64_t)1 << 50 };
    int64_t warm = 0;
    lasting(&s);
    for (int i = 0; i < (bar ? MT_COUNT(varying) : STEPS); i++) {
        training_step(&s, bar ? varying[i] : 256);
        warm = i < WARM ? s.n : warm;
    }
    if (mg_pool_call(run, &s))
        judge(run, bar, &s, warm);
    free(s.event);
}
