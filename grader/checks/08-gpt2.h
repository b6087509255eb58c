/* 08-gpt2.h -- the checks of lab 08: structs of their rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "checks/08-attention.h"
#include "checks/fill.h"
#include "checks/oracle.h"

/* ---- the tokenizer: 08-tokenizer.c; byte characters, words, decoding: 08-words.c ---------------- */

/* What texts are made of. */
enum {
    MG_TEXT_WORDS = 1,    /* letters, blanks */
    MG_TEXT_ENDINGS = 2,  /* 's 't 're and what only looks like them */
    MG_TEXT_SIGNS = 4,    /* numbers, punctuation */
    MG_TEXT_WHITE = 8,    /* tabs, new lines, runs of blanks */
    MG_TEXT_SCRIPTS = 16, /* other alphabets, digits and blanks, emoji, marks */
    MG_TEXT_BROKEN = 32,  /* bytes that are not UTF-8 */
};

typedef struct text_case {
    mg_case head;
    unsigned parts;  /* MG_TEXT_... */
    int64_t letters; /* of merges: how many different bytes; 0: no merges at all */
    int64_t most;    /* bytes of a text, or symbols */
} text_case;

void mg_08_pieces(mg_run *run, const void *one_case);
void mg_08_bytes(mg_run *run, const void *one_case);
void mg_08_merge(mg_run *run, const void *one_case);
void mg_08_decode(mg_run *run, const void *one_case);
void mg_08_encode(mg_run *run, const void *one_case);

enum { MG_WORDS_ANY, MG_WORDS_CROWDED, MG_WORDS_ALIKE };

typedef struct words_case {
    mg_case head;
    int64_t kind; /* MG_WORDS_... */
} words_case;

void mg_08_words(mg_run *run, const void *one_case);

/* ---- layernorm, embedding, classifier: 08-model.c ------------------------------------------------- */

/* Which gradients a backward is asked for; the others are NULL. */
enum { MG_DX = 1, MG_DGAMMA = 2, MG_DBETA = 4, MG_DW = 2, MG_DWTE = 1, MG_DWPE = 2 };

typedef struct norm_case {
    mg_case head;
    int64_t N, C;  /* -1: random */
    mg_dist dist;  /* of x */
    bool constant; /* each row repeats one number */
    bool in_place; /* forward: out is x */
    bool overflow; /* forward: in one more call the squares of a row exceed f32 */
    bool tiny;     /* forward: one more call with small numbers and a small eps */
    int wanted;    /* backward */
    bool held;     /* backward: gradients hold something already */
} norm_case;

void mg_08_layernorm_fwd(mg_run *run, const void *one_case);
void mg_08_layernorm_bwd(mg_run *run, const void *one_case);

typedef struct embedding_case {
    mg_case head;
    int64_t B, T, V; /* -1: random */
    int wanted;
    bool held;
} embedding_case;

void mg_08_embedding_fwd(mg_run *run, const void *one_case);
void mg_08_embedding_bwd(mg_run *run, const void *one_case);

typedef struct classifier_case {
    mg_case head;
    int64_t N, C, V; /* -1: random */
    double spread;   /* standard deviation of x and of w: the logits have its square times sqrt(C) */
    bool refused;    /* forward: targets out of range, too */
    int wanted;
    bool held;
} classifier_case;

void mg_08_classifier_fwd(mg_run *run, const void *one_case);
void mg_08_classifier_bwd(mg_run *run, const void *one_case);

/* ---- what must abort, and a NaN: 08-edges.c --------------------------------------------------------- */

void mg_08_norm_refused(mg_run *run);
void mg_08_embedding_refused(mg_run *run);
void mg_08_classifier_refused(mg_run *run);
void mg_08_classifier_nan(mg_run *run);

/* ---- block, model: 08-block.c; training step: 08-step.c ---------------------------------------------- */

enum { MG_NO_ATTENTION = 1, MG_NO_MLP = 2 }; /* weights and biases of these c_proj are 0 */
enum { MG_JUDGE_DX = 2, MG_JUDGE_DPARAMS = 4 };
enum { MG_JUDGE_HIDDEN = 1, MG_JUDGE_LOGITS = 2, MG_JUDGE_LOSS = 4, MG_JUDGE_DWTE = 8, MG_JUDGE_DREST = 16 };
enum {
    MG_JUDGE_PARAMS = 1,
    MG_JUDGE_LOSSES = 2,
    MG_JUDGE_SAMPLES = 4,
    MG_JUDGE_MORE = 8,
    MG_JUDGE_KEPT = 16,
    MG_JUDGE_RATE = 32
};

typedef struct block_case {
    mg_case head;
    int zero;       /* MG_NO_... */
    int judged;     /* MG_JUDGE_OUT, _DX, _DPARAMS */
    int64_t tokens; /* 0: a few */
} block_case;

typedef struct model_case {
    mg_case head;
    int64_t layers;
    int zero, judged;
} model_case;

typedef struct step_case {
    mg_case head;
    int64_t steps;
    int judged;
    double clip;     /* 0: no limit */
    int64_t warmup;  /* steps of the schedule */
    int64_t missing; /* the last steps have no batch */
    bool overflow;   /* a gradient that is not finite */
    int64_t micro;   /* micro-batches of the last call's steps; 0: 1 */
} step_case;

void mg_08_block(mg_run *run, const void *one_case);
void mg_08_model(mg_run *run, const void *one_case);
void mg_08_step(mg_run *run, const void *one_case);
void mg_08_batch(mg_run *run, const void *one_case);

/* ---- the student's own program: 08-program.c ------------------------------------------------------- */

void mg_08_program(mg_run *run, const void *one_case); /* an mg_case */

/* ---- sampling: 08-sample.c ------------------------------------------------------------------------- */

typedef enum sample_kind {
    MG_SAMPLE_ANY,
    MG_SAMPLE_EQUAL, /* few different logits */
    MG_SAMPLE_LARGE, /* logits of thousands */
    MG_SAMPLE_TOP_K, /* only top-k cuts off, only top-p; or both: any */
    MG_SAMPLE_TOP_P,
    MG_SAMPLE_LONG, /* as many tokens as GPT-2 has */
} sample_kind;

typedef struct sample_case {
    mg_case head;
    sample_kind kind;
} sample_case;

void mg_08_most_likely(mg_run *run, const void *one_case);
void mg_08_sample_weights(mg_run *run, const void *one_case);
void mg_08_sample_kept(mg_run *run, const void *one_case);
void mg_08_sample_drawn(mg_run *run, const void *one_case);
void mg_08_sample(mg_run *run, const void *one_case);
