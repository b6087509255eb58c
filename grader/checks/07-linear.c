/* 07-linear.c -- how the checks of the linear layer run. Rows: 07-matmul.c. */
#include "checks/07-matmul.h"
#include "checks/answer.h"
#include "checks/oracle.h"

#include <stdlib.h>

/* Part, N, I, O. Many outputs: more than 1,024 blocks, of 256 elements or of 32 columns. In the last, arrays are not
 * aligned for float4: all, then one after the other. */
static const struct {
    const char *part;
    int64_t size[3];
    bool off; /* arrays are not aligned */
} layers[] = { { NULL, { 33, 17, 31 } },
               { NULL, { 64, 33, 10 } },
               { NULL, { 7, 65, 257 } },
               { NULL, { 301, 5, 33 } },
               { "one element", { 1, 1, 1 } },
               { "no rows", { 0, 3, 5 } },
               { "no inputs", { 5, 0, 3 } },
               { "no outputs", { 4, 3, 0 } },
               { "many rows", { 4099, 2, 3 } },
               { "many outputs", { 8, 2, 32771 } },
               { "more rows than a grid has blocks in y", { 65539, 1, 2 } },
               { "arrays that are not aligned", { 36, 8, 64 }, true } };
enum { LAYERS = MT_COUNT(layers) };

static const int64_t *layer(mg_run *run, int t)
{
    mg_unaligned(run, t < LAYERS && layers[t].off);
    if (t >= LAYERS)
        mg_unaligned_one(run, t - LAYERS);
    mg_part(run, t < LAYERS ? layers[t].part : "one array that is not aligned", NULL);
    return layers[mt_min(t, LAYERS - 1)].size;
}

static bool forward(mg_run *run, const int64_t s[3], bool bias)
{
    mg_begin(run, "mt_linear_fwd_cuda");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(s[0], s[2]));
    double *x = mg_lift(mg_input(run, "x", MT_SHAPE(s[0], s[1]), (mg_dist)NORMAL(0, 1)), s[0] * s[1]);
    double *w = mg_lift(mg_input(run, "w", MT_SHAPE(s[1], s[2]), (mg_dist)NORMAL(0, 1)), s[1] * s[2]), *b = NULL;
    if (bias)
        b = mg_lift(mg_input(run, "b", MT_SHAPE(s[2]), (mg_dist)NORMAL(0, 1)), s[2]);
    else
        mg_null(run, "b");
    mg_i64(run, "N", s[0]);
    mg_i64(run, "I", s[1]);
    mg_i64(run, "O", s[2]);
    mg_oracle_linear(out.v, out.e, x, NULL, w, b, s[0], s[1], s[2]);
    free(x);
    free(w);
    free(b);
    return mg_call_and_judge(run, &out, 1);
}

void mg_07_linear_fwd(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < LAYERS + 8; t++)
        if (!forward(run, layer(run, t), true) || !forward(run, layer(run, t), false))
            return;
}

enum { DX = 1, DW = 2, DB = 4, ALL = 7, ADDED = 8 };

/* An expected output, or NULL. */
static void gradient(mg_run *run, mg_answer *answers, int *count, const char *name, mt_shape shape, bool wanted)
{
    if (wanted)
        answers[(*count)++] = mg_accumulated(run, name, shape, true);
    else
        mg_null(run, name);
}

/* The gradients in `wanted`, the others NULL; those in `judged` are compared. ADDED: the others are only added to. */
static bool backward(mg_run *run, const int64_t s[3], int wanted, int judged)
{
    mg_answer answers[3], *a = answers;
    double before[3]; /* the first numbers */
    int count = 0;
    mg_begin(run, "mt_linear_bwd_cuda");
    gradient(run, answers, &count, "dx", MT_SHAPE(s[0], s[1]), wanted & DX);
    gradient(run, answers, &count, "dw", MT_SHAPE(s[1], s[2]), wanted & DW);
    gradient(run, answers, &count, "db", MT_SHAPE(s[2]), wanted & DB);
    for (int k = 0; k < count; k++)
        before[k] = answers[k].n ? answers[k].v[0] : 0;
    double *dout = mg_lift(mg_input(run, "dout", MT_SHAPE(s[0], s[2]), (mg_dist)NORMAL(0, 1)), s[0] * s[2]);
    double *x = mg_lift(mg_input(run, "x", MT_SHAPE(s[0], s[1]), (mg_dist)NORMAL(0, 1)), s[0] * s[1]);
    double *w = mg_lift(mg_input(run, "w", MT_SHAPE(s[1], s[2]), (mg_dist)NORMAL(0, 1)), s[1] * s[2]);
    mg_i64(run, "N", s[0]);
    mg_i64(run, "I", s[1]);
    mg_i64(run, "O", s[2]);
    if (wanted & DX)
        mg_oracle_linear_dx_add(a->v, a->e, dout, NULL, w, s[0], s[1], s[2]), a++;
    if (wanted & DW)
        mg_oracle_linear_dw_add(a->v, a->e, dout, NULL, x, NULL, s[0], s[1], s[2]), a++;
    if (wanted & DB)
        mg_oracle_linear_db_add(a->v, a->e, dout, NULL, s[0], s[2]);
    for (int i = 0, k = 0; i < 3; i++) {
        if (wanted & ~judged & 1 << i)
            mg_answer_drop(&answers[k]);
        k += wanted >> i & 1;
    }
    free(dout);
    free(x);
    free(w);
    bool good = mg_call_and_judge(run, answers, count);
    for (int k = 0; k < count && good && judged & ADDED; k++)
        if (!mg_wrong(run, answers[k].name, 0, before[k], 0))
            return mg_fail(run, "%s[0] is %g as before the call: nothing was added", answers[k].name, before[k]);
    return good;
}

void mg_07_linear_dx_dw(mg_run *run, const void *one_case)
{
    (void)one_case;
    bool good = true;
    for (int t = 0; t < LAYERS + 10 && good; t++)
        good = backward(run, layer(run, t), DX | DW, DX | DW);
    mg_unaligned(run, false);
    mg_part(run, "one gradient", "dx and dw may each be NULL");
    (void)(good && backward(run, layers[0].size, DX, DX) && backward(run, layers[0].size, DW, DW));
}

/* Every subset with db: all are added to. The row above says whether dx and dw are right. */
static void backward_subsets(mg_run *run)
{
    static const int64_t size[] = { 9, 5, 33 };
    bool good = true;
    mg_unaligned(run, false);
    mg_part(run, "some gradients", "each of dx, dw and db may be NULL, in every combination");
    for (int wanted = DB; wanted <= ALL && good; wanted++)
        good = backward(run, size, wanted, DB | ADDED);
}

void mg_07_linear_db(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < LAYERS + 8; t++) /* one after the other: db, dout, x, w */
        if (!backward(run, layer(run, t), DB, DB))
            return;
    backward_subsets(run);
}
