/* cost.c -- memory, arithmetic and messages of a rank in a training step, counted from the ops of models/gpt2.c and
 * parallel/parts.c; see plan/cost.h.
 *
 * C is the model's width, V its vocabulary, L the layers of the stage. "A token" is one of a micro-batch. */
#include "plan/cost.h"

#include <stdlib.h>

#include "fused/kernels_fused.h"

enum { F32 = 4 };

/* A stage's rank, and what follows from its strategy. */
typedef struct rank {
    mt_plan_model model; /* with its rows */
    mt_plan_strategy s;
    int64_t stage, layers;
    bool first, last; /* stage: with the embedding, with the head */
    int64_t tokens;   /* of a micro-batch */
    int64_t size;     /* bytes of a number that is kept of products' operands and results */
    int64_t rows;     /* of the token table on this rank */
    int64_t classes;  /* those of them that are tokens */
} rank;

static rank rank_of(const mt_plan_model *model, const mt_plan_strategy *s, int64_t stage)
{
    const char *refused = mt_plan_refuses(model, s);
    MT_CHECK(!refused && stage >= 0 && stage < s->pp, "plan: %s", refused ? refused : "there is no such stage");
    rank r = {
        .model = mt_plan_filled(model), .s = *s, .stage = stage, .first = stage == 0, .last = stage == s->pp - 1
    };
    r.layers = mt_plan_layers(&r.model, s->pp, stage);
    r.tokens = s->samples * s->time;
    r.size = mt_dtype_size(s->dtype);
    r.rows = mt_ceil_div(r.model.rows, s->tp);
    r.classes = mt_min(r.rows, r.model.vocabulary);
    return r;
}

/* ---- what there is ------------------------------------------------------------------------------------------- */

/* Weights of a layer's four matrices on this rank. */
static int64_t layer_matrices(const rank *r)
{
    int64_t C = r->model.width, weights = 0;
    /* TODO 15.1: Queries, keys and values; attention's projection; the two of the MLP. Each is divided by tp. */
    MT_TODO("15.1"); /* delete this line when yours stands here */
    return weights;
}

/* Parameters of a layer on this rank. */
static int64_t layer_params(const rank *r)
{
    int64_t C = r->model.width, params = layer_matrices(r);
    /* TODO 15.1: Biases and two layernorms, too.
     * Hint: a bias is divided with the columns of its matrix. Those of the two products that end in a sum over the
     * ranks are added after it, and are whole on every rank, as are layernorms (parallel/parts.c). */
    MT_TODO("15.1"); /* delete this line when yours stands here */
    return params;
}

/* Parameters of this rank. */
static int64_t params_of(const rank *r)
{
    int64_t C = r->model.width, params = r->layers * layer_params(r);
    /* TODO 15.1: The ends: positions, the last layernorm, and the token table, which both ends read.
     * Hint: a stage that is both has one table. */
    MT_TODO("15.1"); /* delete this line when yours stands here */
    return params;
}

/* Bytes that forward keeps for each token of a layer, its input included, its result not: that is the next one's
 * input. */
static int64_t layer_kept(const rank *r, mt_recompute recompute)
{
    int64_t C = r->model.width, tp = r->s.tp;
    int64_t statistics = F32 * (r->model.heads / tp + 4); /* attention's log-sum-exp; mean and rstd of two layernorms */
    /* TODO 15.1: What backward will read.
     * Hint: the layer's input, the middle of the residual stream, the results of both layernorms; then qkv, attention's
     * result, fc and GELU, which are divided among the ranks. The first two, which layernorms read, are f32; each other
     * number takes r->size bytes. Nobody reads the results of the two projections once they are added to the stream.
     * Selective: the results of layernorms and GELU are computed again; but with tp, products read copies of the
     * layernorms' results (mt_tp_copy), and a copy is not computed again. Block: all but the input. */
    MT_TODO("15.1"); /* delete this line when yours stands here */
}

/* ---- state among the replicas -------------------------------------------------------------------------------- */

/* A bucket of gradients, at most: it is closed by the parameter with which it has MT_PLAN_BUCKET bytes. */
static int64_t bucket_of(const rank *r, int64_t params)
{
    int64_t C = r->model.width, table = r->first || r->last ? r->rows * C : 0;
    return mt_min(F32 * params, MT_PLAN_BUCKET + F32 * mt_max(table, 4 * C * C / r->s.tp));
}

static void fill_state(mt_plan_cost *cost, const rank *r)
{
    int64_t n = params_of(r), part = mt_ceil_div(n, r->s.dp), C = r->model.width;
    cost->params = n;
    cost->copies = r->size == F32 ? 0
                                  : r->size * (r->layers * layer_matrices(r) +
                                               (r->first || r->last ? r->rows * C : 0)); /* what products read */
    /* TODO 15.2: Each stage of ZeRO divides one thing more among the replicas: moments, gradients, parameters.
     * Hint: from stage 2 on a rank keeps the gradients of its part; but with several micro-batches all gradients are
     * whole until the last one, beside it. */
    MT_TODO("15.2"); /* delete this line when yours stands here */
}

/* The largest number of micro-batches whose activations a stage keeps at the same time in 1F1B. */
static int64_t live_of(const rank *r)
{
    int64_t live = 1;
    /* TODO 15.2: Those that the stages behind are still working on, and its own (lab 14). */
    MT_TODO("15.2"); /* delete this line when yours stands here */
    return live;
}

static void fill_buffers(mt_plan_cost *cost, const rank *r)
{
    int64_t stream = F32 * r->tokens * r->model.width, live = live_of(r);
    /* TODO 15.2: Messages that are on their way.
     * Hint: with ZeRO one bucket of gradients, and in stage 3 two open ones of parameters. In a pipeline (lab 14), in
     * f32 and of one micro-batch each: to a next stage the results of all live micro-batches and one gradient that
     * arrives; to a stage before, one input that arrives and one gradient that leaves. */
    MT_TODO("15.2"); /* delete this line when yours stands here */
    cost->buffers -= ((r->last ? 0 : live + 1) + (r->first ? 0 : 2)) * mt_plan_spared(&r->s, stream);
}

/* ---- the peak: a chain of blocks (memory/choose.h) ----------------------------------------------------------- */

/* Bytes for each token that a layer's backward has at most, beside those that are kept. */
static int64_t backward_work(const rank *r, mt_recompute recompute)
{
    int64_t C = r->model.width, inner = 4 * C / r->s.tp; /* numbers of fc, and of GELU */
    /* TODO 15.3: The moment when the MLP's backward computes the gradient of GELU's argument.
     * Hint: f32 are the gradients of both addends of the residual stream, of GELU's result and of its argument, and the
     * argument, which is widened if 16 bits of it were kept. What was kept of the argument and of the result is freed
     * by then. With selective recomputation nothing was kept of the result. A block has, beside that, the gradients of
     * its input and result and the result, and all that a layer keeps; its input is kept anyway, and not once more. */
    MT_TODO("15.3"); /* delete this line when yours stands here */
}

/* Bytes for each token that a layer's forward has at most, beside those that are kept; of a block that is computed
 * again, the forward in backward. */
static int64_t forward_work(const rank *r, mt_recompute recompute)
{
    bool half = r->size < F32;
    int64_t C = r->model.width, inner = 4 * C / r->s.tp;
    int64_t all = layer_kept(r, MT_RECOMPUTE_NONE), kept = layer_kept(r, recompute);
    /* TODO 15.3: The moment when the MLP's second projection has computed its result.
     * Hint: the results of both projections are not kept. With tp there are also the sums over the ranks and the copies
     * that go to them (parallel/tensor_parallel.h), in f32: of the second projection its part and their sum, beside the
     * result with the bias, and of both layernorms a second array. With 16 bits the f32 results of both layernorms, of
     * fc and of GELU are not kept either, but of the two second arrays the first has gone with attention; and products
     * have read copies of layernorms and GELU even if these are not kept for backward. A block is computed again beside
     * the gradients of its input and result, and with all that a layer keeps. */
    MT_TODO("15.3"); /* delete this line when yours stands here */
}

/* FLOPs to compute a layer once more, for each token. */
static int64_t layer_again(const rank *r, mt_recompute recompute)
{
    enum { LAYERNORM = 8, GELU = 20 }; /* for each number */
    int64_t C = r->model.width, tp = r->s.tp, norms = LAYERNORM * 2 * C, gelu = GELU * 4 * C / tp;
    if (recompute == MT_RECOMPUTE_NONE)
        return 0;
    if (recompute == MT_RECOMPUTE_SELECTIVE)
        return (tp > 1 ? 0 : norms) + gelu; /* copies for tensor ranks are kept (layer_kept) */
    return norms + gelu + 2 * layer_matrices(r) + 2 * (r->s.time + 1) * C / tp;
}

/* Whether the gradients of all parameters exist all the time: in one block (mt_flat_gradients), or those of earlier
 * micro-batches. */
static bool has_gradients(const rank *r)
{
    bool alone = r->s.dp * r->s.pp * r->s.tp == 1;
    return r->s.micro > 1 || (!alone && r->s.zero < 2);
}

/* What the head keeps, and needs: the first block of backward. */
static mt_memory_option head_of(const rank *r)
{
    int64_t tokens = r->tokens, size = r->size, C = r->model.width, V = r->classes, table = F32 * r->rows * C;
    bool always = has_gradients(r);
    /* TODO 15.3: The head's arrays, and the gradient of the table.
     * Hint: kept are the last layernorm's input and result, mean and rstd, and the probabilities, all in f32; backward
     * makes the gradients of the layernorm's result and of the table. Products of 16 bits read copies of the result and
     * of the probabilities' gradients. Where the op takes chunks (mt_classifier_chunks; not with tp), forward makes
     * both gradients, with MT_CLASSIFIER_ROWS rows of logits, and keeps them in place of the probabilities. */
    MT_TODO("15.3"); /* delete this line when yours stands here */
}

static void fill_chain(mt_memory_block *blocks, const rank *r, const mt_plan_cost *cost)
{
    int64_t layer = F32 * layer_params(r), table = r->last ? F32 * r->rows * r->model.width : 0;
    bool always = has_gradients(r);
    /* A bucket of gradients is sent once all of them are made, when activations have gone; the last one, alone. */
    int64_t bucket = r->s.zero ? bucket_of(r, cost->params) : 0;
    int64_t there = cost->parameters + cost->copies + cost->optimizer + cost->buffers - bucket;
    there += always || r->s.zero >= 2 ? cost->gradients : 0;
    blocks[0] = (mt_memory_block){ .option = { { there, bucket * (always ? 1 : 2), 0 } }, .options = 1 };
    for (int64_t l = 0; l < r->layers; l++) {
        /* Gradients that exist before this layer's are made; with ZeRO, buckets of other layers have left. */
        int64_t behind = (r->layers - 1 - l) * layer;
        int64_t later = always ? 0 : table + (r->s.zero >= 2 ? 0 : behind);
        int64_t gradients = (always ? 0 : later + layer) + mt_min(bucket, behind);
        blocks[1 + l] = (mt_memory_block){ .options = MT_RECOMPUTES };
        for (int k = 0; k < MT_RECOMPUTES; k++) {
            int64_t forward, backward,
                kept = mt_plan_layer_spared(&forward, &backward, &r->s, r->model.width, (mt_recompute)k);
            blocks[1 + l].option[k] = (mt_memory_option){
                r->tokens * (layer_kept(r, (mt_recompute)k) - kept),
                mt_max(r->tokens * (forward_work(r, (mt_recompute)k) - forward) + (k == MT_RECOMPUTE_BLOCK ? later : 0),
                       r->tokens * (backward_work(r, (mt_recompute)k) - backward) + gradients),
                r->s.micro * r->tokens * layer_again(r, (mt_recompute)k)
            };
        }
    }
    mt_memory_option head = r->last ? head_of(r) : (mt_memory_option){ 0 };
    head.kept -= r->last ? r->tokens * mt_plan_spared(&r->s, F32 * (r->model.width + 2)) : 0;
    blocks[1 + r->layers] = (mt_memory_block){ .option = { head }, .options = 1 };
}

/* Activations and peak: the chain with the same recomputation in each layer. */
static void walk(mt_plan_cost *cost, const rank *r)
{
    mt_memory_block *blocks = malloc((size_t)(r->layers + 2) * sizeof *blocks);
    MT_CHECK(blocks, "out of memory");
    fill_chain(blocks, r, cost);
    int64_t kept = 0;
    for (int64_t i = 0; i < r->layers + 2; i++) {
        const mt_memory_option *o = &blocks[i].option[blocks[i].options > 1 ? (int)r->s.recompute : 0];
        kept += o->kept;
        cost->peak = mt_max(cost->peak, kept + o->work);
    }
    kept -= blocks[0].option[0].kept;
    /* TODO 15.3: All live micro-batches keep their activations; one of them is in backward. */
    MT_TODO("15.3"); /* delete this line when yours stands here */
    free(blocks);
}

/* ---- arithmetic ---------------------------------------------------------------------------------------------- */

static void fill_flops(mt_plan_cost *cost, const rank *r)
{
    int64_t all = r->s.micro * r->tokens, C = r->model.width, T = r->s.time;
    /* TODO 15.4: Products with weights, and attention's two, of T (T + 1) / 2 pairs each.
     * Hint: a weight costs two FLOPs a token forward, and twice that backward; so do attention's products, whose width
     * is C / tp on this rank. The head has products with its classes. What attention's backward computes again of its
     * forward is not part of this. */
    MT_TODO("15.4"); /* delete this line when yours stands here */
    cost->again = r->layers * all * layer_again(r, r->s.recompute);
}

/* ---- messages ------------------------------------------------------------------------------------------------ */

/* Bytes that a rank sends in a ring of `ranks`, which takes an array of n numbers once round: a reduce-scatter, or an
 * all-gather; an all-reduce is both. */
static int64_t ring(int64_t n, int64_t ranks)
{
    int64_t bytes = 0;
    /* TODO 15.5: All parts but one (lab 13). */
    MT_TODO("15.5"); /* delete this line when yours stands here */
    return bytes;
}

static void fill_data(mt_plan_cost *cost, const rank *r)
{
    /* TODO 15.5: Gradients once a step; parameters when others have changed them, or when they are needed.
     * Hint: stages 1 and 2 send what an all-reduce does. In stage 3 each micro-batch opens all buckets for forward and
     * again for backward, at most. */
    MT_TODO("15.5"); /* delete this line when yours stands here */
}

static void fill_pipe(mt_plan_cost *cost, const rank *r)
{
    int64_t stream = F32 * r->s.micro * r->tokens * r->model.width;
    bool both = r->first && r->last;
    /* TODO 15.5: An activation of each micro-batch to the next stage, a gradient back to the one before; and, once
     * a step, the two ends exchange the gradient of the token table. */
    MT_TODO("15.5"); /* delete this line when yours stands here */
    cost->pipe -= ((r->last ? 0 : 1) + (r->first ? 0 : 1)) * mt_plan_spared(&r->s, stream);
}

static void fill_tensor(mt_plan_cost *cost, const rank *r)
{
    int64_t streams = 0, losses = 0, stream = r->tokens * r->model.width, tp = r->s.tp;
    if (tp == 1)
        return;
    /* TODO 15.5: All-reduces of the residual stream, for a micro-batch; and those of the loss: how many, and of
     * how many numbers in all.
     * Hint: two in each direction for a layer. What is computed again is sent again: which of the two kinds of
     * recomputation contains a sum over the ranks? The embedding ends in one, the head's backward too. The loss takes
     * the maximum of each token, then two sums of each token in one call. */
    MT_TODO("15.5"); /* delete this line when yours stands here */
    cost->tensor_calls = r->s.micro * (streams + losses);
    /* Tokens divided: two calls for each of the stream's, one for all gradients of what every rank has. */
    int64_t C = r->model.width, whole = r->layers * 6 * C + (r->first ? r->model.block * C : 0) + (r->last ? 2 * C : 0);
    cost->tensor_calls += r->s.sequence ? r->s.micro * streams + 1 : 0;
    cost->tensor += r->s.sequence ? 2 * ring(whole, tp) : 0;
}

/* ---- what others call ---------------------------------------------------------------------------------------- */

int64_t mt_plan_params(const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage)
{
    rank r = rank_of(model, strategy, stage);
    return params_of(&r);
}

int64_t mt_plan_kept(const mt_plan_model *model, const mt_plan_strategy *strategy)
{
    rank r = rank_of(model, strategy, 0);
    return layer_kept(&r, strategy->recompute);
}

void mt_plan_state(mt_plan_cost *cost, const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage)
{
    rank r = rank_of(model, strategy, stage);
    fill_state(cost, &r);
    fill_buffers(cost, &r);
}

void mt_plan_chain(mt_memory_block *blocks, const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage)
{
    rank r = rank_of(model, strategy, stage);
    mt_plan_cost cost = { 0 };
    mt_plan_state(&cost, model, strategy, stage);
    fill_chain(blocks, &r, &cost);
}

void mt_plan_flops(mt_plan_cost *cost, const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage)
{
    rank r = rank_of(model, strategy, stage);
    fill_flops(cost, &r);
}

void mt_plan_wire(mt_plan_cost *cost, const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage)
{
    rank r = rank_of(model, strategy, stage);
    fill_data(cost, &r);
    fill_pipe(cost, &r);
    fill_tensor(cost, &r);
}

mt_plan_cost mt_plan_cost_of(const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage)
{
    rank r = rank_of(model, strategy, stage);
    mt_plan_cost cost = { 0 };
    mt_plan_state(&cost, model, strategy, stage);
    walk(&cost, &r);
    mt_plan_flops(&cost, model, strategy, stage);
    mt_plan_wire(&cost, model, strategy, stage);
    return cost;
}
