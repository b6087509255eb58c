/* budgeted.h -- GPT-2 trained by the program train_gpt2 within a budget of FLOPs: as many steps as the budget allows,
 * counted by plan/gpt2_cost.h (what backward computes again counts too, evaluation does not). The score is the loss on
 * windows that are the same for all recipes.
 *
 *     mt_budgeted b = { .size = "toy", .data = mt_corpus_text(), .out = "build/run/capstone", .seed = 1,
 *                       .flops = 2e12, .windows = 960 };
 *     mt_budgeted_result r;
 *     mt_status status = mt_budgeted_recipe_read(&b, item, "entry.json: \"train\"");
 *     if (status == MT_OK)
 *         status = mt_budgeted_run(&r, &b); */
#pragma once

#include "plan/gpt2_cost.h"
#include "plan/keys.h"

MT_C_BEGIN

/* A recipe as an entry has it. What is left out, negative here, is train_gpt2's default. */
typedef struct mt_budgeted_recipe {
    int64_t optimizer, schedule, dtype, recompute; /* indices of choices */
    double lr, lr_min, gamma, clip, ema, weight_decay;
    int64_t batch, micro, warmup, period;
} mt_budgeted_recipe;

typedef struct mt_budgeted {
    const char *size;              /* toy, gpt2 */
    const char *data, *vocabulary; /* as train_gpt2's options; vocabulary NULL: a text, by its characters */
    const char *out;               /* folder of the run */
    int64_t seed;
    double flops;    /* the budget */
    int64_t windows; /* of the validation text, a multiple of MT_BUDGETED_BATCH */
    bool quiet;      /* train_gpt2's table goes to OUT/log */
    mt_budgeted_recipe recipe;
} mt_budgeted;

enum { MT_BUDGETED_BATCH = 4 };

typedef struct mt_budgeted_result {
    double loss;
    int64_t steps, step_flops; /* step_flops: of one step */
    int64_t tokens;            /* trained on */
    uint32_t weights;          /* CRC-32C of the file of parameters */
    char data[64];             /* mt_saving_sum of the data */
} mt_budgeted_result;

/* mt_budgeted_recipe_read -- b->recipe from JSON. MT_ERR_ARGUMENT as mt_keys_read. */
mt_status mt_budgeted_recipe_read(mt_budgeted *b, const cJSON *json, const char *where);

/* mt_budgeted_run -- train, and evaluate the last checkpoint. Interrupted or killed, it leaves no result; train_gpt2
 * ends with this process. Fails: MT_ERR_ARGUMENT: not one step is within the budget, a step needs more memory than the
 * machine has, the text has too few windows; as opening text and vocabulary does; train_gpt2 failed. */
mt_status mt_budgeted_run(mt_budgeted_result *out, const mt_budgeted *b);

MT_C_END
