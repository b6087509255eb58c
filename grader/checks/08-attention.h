/* 08-attention.h -- the checks of attention: of lab 08's plain kernels and of lab 11's tiled ones, which differ in what
 * they save, and of lab 08's with a cache. */
#pragma once

#include "checks/answer.h"
#include "checks/oracle_attention.h"

enum { MG_TOKENS_NONE, MG_TOKENS_ONE, MG_TOKENS_FEW, MG_TOKENS_SHORT, MG_TOKENS_LONG };
enum {
    MG_SCORES_ANY,
    MG_SCORES_LARGE,
    MG_SCORES_FAR, /* as large; of every second head all are far below 0 */
    MG_SCORES_GROWING,
    MG_SCORES_SLOWLY,
    MG_SCORES_SHRINKING,
    MG_SCORES_EQUAL /* all keys of a head are the same */
};
enum { MG_JUDGE_OUT = 1, MG_JUDGE_PROBS = 2, MG_JUDGE_LSE = 2, MG_JUDGE_CACHE = 2, MG_JUDGE_BOTH = 3 };
enum { MG_JUDGE_DQ = 1, MG_JUDGE_DK = 2, MG_JUDGE_DV = 4, MG_JUDGE_ALL = 7 };

typedef struct attention_case {
    mg_case head;
    int64_t tokens; /* MG_TOKENS_...: how many */
    int64_t scores; /* MG_SCORES_...: how large, and how they run along the keys */
    int judged;    /* MG_JUDGE_...: outputs, or thirds of one, that this row looks at; the others must be finite only */
    bool heads;    /* never one head alone */
    bool wide;     /* heads of 129 columns or more */
    bool held;     /* backward: gradients hold something already */
    bool cuda;     /* on the device, with the arguments of `tiled` */
    bool tiled;    /* lab 11's kernels: saved [B,H,T] has the log-sum-exp; else lab 08's: the probabilities [B,H,T,T] */
    bool packed;   /* of lab 11's the packed ones, which are tiled too */
    bool bf16;     /* of lab 11's the one with qkv of 16 bits, which is packed too on the CPU; forward only */
    bool backward; /* of rows that have both (lab 11) */
} attention_case;

typedef struct attention_race {
    mg_case head;
    bool backward;
    int64_t T;
    const char *bar;
    bool tiled, packed, bf16;
} attention_race;

void mg_08_attention(mg_run *run, const void *one_case);
void mg_08_attention_backward(mg_run *run, const void *one_case);
void mg_08_attention_race(mg_run *run, const void *one_case); /* an attention_race */
void mg_08_cached(mg_run *run, const void *one_case);
void mg_08_cached_text(mg_run *run, const void *one_case);

/* mg_08_describe_forward, _backward -- one call of shape a: its function, arguments and answers: out and saved; dqkv.
 * Forward returns qkv as it is sent, f32 or bf16, which may be changed before the call. */
void *mg_08_describe_forward(mg_run *run, const attention_case *c, mg_attention a, mg_answer answer[2]);
mg_answer mg_08_describe_backward(mg_run *run, const attention_case *c, mg_attention a);

/* mg_08_describe -- either; returns how many answers there are. */
static inline int mg_08_describe(mg_run *run, const attention_case *c, mg_attention a, mg_answer answer[2],
                                 bool backward)
{
    if (backward)
        answer[0] = mg_08_describe_backward(run, c, a);
    else
        mg_08_describe_forward(run, c, a, answer);
    return backward ? 1 : 2;
}

/* mg_08_function -- the name of a rung's function. */
static inline const char *mg_08_function(bool tiled, bool packed, bool bf16, bool cuda, bool backward)
{
    static const char *const names[6][2] = { { "mt_attention_plain_fwd_cpu", "mt_attention_plain_bwd_cpu" },
                                             { "mt_attention_tiled_fwd_cpu", "mt_attention_tiled_bwd_cpu" },
                                             { "mt_attention_packed_fwd_cpu", "mt_attention_packed_bwd_cpu" },
                                             { "mt_attention_bf16_fwd_cpu", NULL },
                                             { "mt_attention_fwd_cuda", "mt_attention_bwd_cuda" },
                                             { "mt_attention_bf16_fwd_cuda", NULL } };
    return names[cuda ? 4 + bf16 : tiled + packed + bf16][backward];
}

/* What the kernels share (attention.c):
 * mg_attention_rounded -- qkv becomes what bf16 has of it, and is sent so, as "qkv" [B,T,3C]; returns what is sent.
 * mg_attention_floats -- memory for qkv in f32, for the oracle, until the next call of it.
 * mg_attention_more -- the calls of fixed sizes that a row makes after those of drawn ones.
 * mg_attention_nan -- texts with a key that is NaN, forward. */
uint16_t *mg_attention_rounded(mg_run *run, float *qkv, const mg_attention *a);
float *mg_attention_floats(const mg_attention *a);
void mg_attention_more(mg_run *run, const attention_case *c, bool backward);
void mg_attention_nan(mg_run *run, const void *one_case);

/* mg_08_heads_refused, mg_08_cached_refused -- a kernel on the CPU, and the one with a cache, abort where they must;
 * the latter for a row of many heads. 08-edges.c. */
void mg_08_heads_refused(mg_run *run, const attention_case *c, bool backward);
void mg_08_cached_refused(mg_run *run, const attention_case *c);

/* mg_08_one_token_held -- backward of one token, into gradients that hold something. 08-edges.c */
void mg_08_one_token_held(mg_run *run, const attention_case *c);

/* mg_08_drop -- only the answers of the bits of `judged` are compared. */
static inline void mg_08_drop(mg_answer *answer, int count, int judged)
{
    for (int k = 0; k < count; k++)
        if (!(judged >> k & 1))
            mg_answer_drop(&answer[k]);
}

/* mg_08_send_shape -- the last four arguments. */
static inline void mg_08_send_shape(mg_run *run, const mg_attention *a)
{
    mg_i64(run, "B", a->B);
    mg_i64(run, "T", a->T);
    mg_i64(run, "C", a->C);
    mg_i64(run, "H", a->H);
}
