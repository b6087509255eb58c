/* cost.h -- what a training step of a GPT costs, before anything is allocated: memory, arithmetic and messages of a
 * rank, for any division of the model and of the batch among ranks. Integers, of which nothing is fitted or measured:
 * they follow from what the ops of models/gpt2.c keep (labs 08 to 11) and what the units of labs 13 and 14 send.
 *
 *     const mt_plan_strategy two = { .dp = 1, .pp = 2, .tp = 1, .samples = 4, .time = 1024, .micro = 8 };
 *     for (int64_t stage = 0; stage < two.pp; stage++) {
 *         mt_plan_cost cost = mt_plan_cost_of(&model, &two, stage);
 *         ... cost.peak, cost.forward, cost.pipe ...
 *     }
 *
 * Unit: solutions/15-scale/cost.c. For one device, with the names of train_gpt2's options: plan/gpt2_cost.h. */
#pragma once

#include "core/dtype.h"
#include "memory/choose.h"
#include "memory/segment.h"

MT_C_BEGIN

typedef struct mt_plan_model {
    int64_t vocabulary; /* tokens */
    int64_t rows;       /* of the token table: vocabulary and padding; 0: a multiple of 64 */
    int64_t block;      /* positions */
    int64_t layers, heads, width;
} mt_plan_model;

/* dp replicas of the model; each is divided into pp stages of neighbouring layers (1F1B, parallel/pipe.h), and the
 * matrices of a stage among tp ranks (parallel/tensor_parallel.h). */
typedef struct mt_plan_strategy {
    int64_t dp, pp, tp;     /* tp divides the heads */
    int64_t samples, time;  /* of a micro-batch of one replica: its tokens */
    int64_t micro;          /* micro-batches of a step */
    int64_t zero;           /* 0, or the stage of dist/zero.h among the dp ranks */
    mt_recompute recompute; /* of every layer */
    mt_dtype dtype;         /* of products, and of what is kept of them: f32, bf16 or f16 (amp/autocast.h) */
    bool sequence;          /* the tp ranks divide tokens outside the products (parallel/sequence_parallel.h) */
} mt_plan_strategy;

enum { MT_PLAN_BUCKET = 1 << 20 }; /* bytes of a bucket of gradients (dist/ddp.h), at least */

/* One step of one rank of a stage: tensor rank 0, which has the most rows of the token table. A part that ranks cannot
 * have equally is rounded up. Gradients, moments and messages are f32 whatever dtype is. */
typedef struct mt_plan_cost {
    int64_t params; /* parameters of this stage and tensor rank, whatever ZeRO does */

    /* bytes in memory */
    int64_t parameters;  /* f32; with a dtype of 16 bits these are the master weights */
    int64_t copies;      /* of weights, in 16 bits; 0 with f32 */
    int64_t gradients;   /* kept from one micro-batch to the next, or to the update */
    int64_t optimizer;   /* AdamW's two moments */
    int64_t activations; /* what forward keeps, of all micro-batches that are live at once */
    int64_t buffers;     /* of messages */
    int64_t peak;        /* the most at once, with what only lives inside forward or backward */

    /* FLOPs */
    int64_t forward, backward;
    int64_t again;     /* to compute again what forward did not keep */
    int64_t attention; /* the part of forward and backward that grows with T^2 */

    /* bytes that the rank sends */
    int64_t data;         /* gradients, parameters: among the dp ranks */
    int64_t pipe;         /* activations, their gradients, the tied table: to other stages */
    int64_t tensor;       /* among the tp ranks */
    int64_t tensor_calls; /* the collectives of these */
} mt_plan_cost;

/* mt_plan_cost_of -- all of it, of a rank of `stage`, 0 <= stage < pp. Here and below, a strategy that mt_plan_refuses
 * aborts.
 * Memory with Adam in f32, in bytes a parameter, for dp = N and one micro-batch: 16 without ZeRO, then 8 + 8 / N,
 * 4 + 12 / N, 16 / N. */
mt_plan_cost mt_plan_cost_of(const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage);

/* mt_plan_params -- the parameters of the rank.   Lab 15.1 */
int64_t mt_plan_params(const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage);

/* mt_plan_kept -- bytes that forward keeps for each token of a layer, its input included, its result not. Lab 15.1 */
int64_t mt_plan_kept(const mt_plan_model *model, const mt_plan_strategy *strategy);

/* mt_plan_state -- params, parameters, copies, gradients, optimizer, buffers.   Lab 15.2 */
void mt_plan_state(mt_plan_cost *cost, const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage);

/* mt_plan_flops -- forward, backward, again, attention.   Lab 15.4 */
void mt_plan_flops(mt_plan_cost *cost, const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage);

/* mt_plan_wire -- data, pipe, tensor, tensor_calls.   Lab 15.5 */
void mt_plan_wire(mt_plan_cost *cost, const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage);

/* mt_plan_chain -- a stage as a chain of blocks for memory/choose.h, of one micro-batch: blocks [layers of the stage +
 * 2]: what is there all the time; each layer, with an option for each kind of recomputation; the head, or nothing.
 * FLOPs are those of a step.   Lab 15.3 */
void mt_plan_chain(mt_memory_block *blocks, const mt_plan_model *model, const mt_plan_strategy *strategy,
                   int64_t stage);

/* ---- given: plan/strategies.c -------------------------------------------------------------------------------- */

/* mt_plan_layers -- how many layers a stage has: as mt_pipe_partition divides them for parallel/parts.c, where the head
 * counts with the last layer. */
int64_t mt_plan_layers(const mt_plan_model *model, int64_t pp, int64_t stage);

/* With tokens divided among the tensor ranks a rank has less: mt_plan_spared -- of `bytes` outside the products.
 * mt_plan_layer_spared -- of what forward keeps of a layer, in bytes a token; *forward, *backward: of what these take
 * at most beside it. Without `sequence` 0. */
int64_t mt_plan_spared(const mt_plan_strategy *strategy, int64_t bytes);
int64_t mt_plan_layer_spared(int64_t *forward, int64_t *backward, const mt_plan_strategy *strategy, int64_t width,
                             mt_recompute recompute);

/* mt_plan_filled -- the model with its rows. */
mt_plan_model mt_plan_filled(const mt_plan_model *model);

/* mt_plan_refuses -- NULL, or why there is no such strategy for the model. */
const char *mt_plan_refuses(const mt_plan_model *model, const mt_plan_strategy *strategy);

MT_C_END
