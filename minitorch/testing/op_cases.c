/* op_cases.c -- the table of op_cases.h: each op as it is called, its oracle, its shapes. */
#include "testing/op_cases.h"
#include "core/scope.h"
#include "models/gpt2_ops.h"
#include "ops/ops.h"
#include "testing/op_oracles.h"

#include <stdio.h>

/* ---- calls --------------------------------------------------------------------------------------- */

#define RUN(name, call)                                                     \
    static mt_tensor *run_##name(mt_tensor *const *in, const mt_op_case *c) \
    {                                                                       \
        (void)c;                                                            \
        return call;                                                        \
    }

RUN(add, mt_add(in[0], in[1]))
RUN(residual, mt_residual(in[0], in[1]))
RUN(sub, mt_sub(in[0], in[1]))
RUN(mul, mt_mul(in[0], in[1]))
RUN(div, mt_div(in[0], in[1]))
RUN(scale, mt_scale(in[0], MT_CASE_FACTOR))
RUN(neg, mt_neg(in[0]))
RUN(exp, mt_exp(in[0]))
RUN(log, mt_log(in[0]))
RUN(sqrt, mt_sqrt(in[0]))
RUN(relu, mt_relu(in[0]))
RUN(sigmoid, mt_sigmoid(in[0]))
RUN(tanh, mt_tanh(in[0]))
RUN(gelu, mt_gelu(in[0]))
RUN(gelu_tanh, mt_gelu_tanh(in[0]))
RUN(sum, mt_sum(in[0]))
RUN(mean, mt_mean(in[0]))
RUN(sum_dim, mt_sum_dim(in[0], (int)c->arg[0]))
RUN(max_dim, mt_max_dim(in[0], (int)c->arg[0] - c->in[0].rank)) /* counted from the end */
RUN(reshape, mt_reshape(in[0], c->out))
RUN(permute, mt_permute(in[0], (int[]){ (int)c->arg[0], (int)c->arg[1], (int)c->arg[2], (int)c->arg[3] }))
RUN(transpose, mt_transpose(in[0], (int)c->arg[0], (int)c->arg[1] - c->in[0].rank))
RUN(slice, mt_slice(in[0], (int)c->arg[0], c->arg[1], c->arg[2], c->arg[3]))
RUN(broadcast_to, mt_broadcast_to(in[0], c->out))
RUN(contiguous, mt_contiguous(mt_reshape(in[0], c->out)))
RUN(concat, mt_concat(in, c->inputs, (int)c->arg[0]))
RUN(gather_rows, mt_gather_rows(in[0], in[1]))
RUN(matmul, mt_matmul(in[0], in[1]))
RUN(matmul_transposed, mt_matmul(in[0], mt_transpose(mt_contiguous(mt_transpose(in[1], -1, -2)), -1, -2)))
RUN(linear, mt_linear(in[0], in[1], c->inputs == 3 ? in[2] : NULL))
RUN(linear_gelu, mt_linear_gelu(in[0], in[1], c->inputs == 3 ? in[2] : NULL))
RUN(softmax, mt_softmax(in[0]))
RUN(layernorm, mt_layernorm(in[0], in[1], in[2], MT_CASE_EPS))
RUN(layernorm_of_one, mt_layernorm(in[0], in[1], in[2], MT_CASE_EPS))
RUN(cross_entropy, mt_cross_entropy(in[0], in[1]))
RUN(embedding, mt_embedding(in[0], in[1], in[2]))
RUN(attention, mt_attention(in[0], c->arg[0]))
RUN(classifier, mt_classifier(in[0], in[1], in[2], c->arg[0]))

static mt_tensor *run_dropout(mt_tensor *const *in, const mt_op_case *c)
{
    mt_rng rng = MT_CASE_RNG;
    return mt_dropout(in[0], (float)c->arg[0] / 8, &rng);
}

// clang-format off

#define SPEC(name, draw, low, high, oracle, grad_scale) \
    static const mt_op_spec op_##name = { #name, MT_DRAW_##draw, low, high, run_##name, mt_oracle_##oracle, \
        grad_scale };

/*   op               inputs                oracle        what of its gradient cancels, at most */
SPEC(add,               UNIFORM, -2, 2,      add,          0)
SPEC(residual,          UNIFORM, -2, 2,      add,          0)
SPEC(sub,               UNIFORM, -2, 2,      sub,          0)
SPEC(mul,               UNIFORM, -2, 2,      mul,          0)
SPEC(div,               UNIFORM, 0.5f, 2,    div,          0)
SPEC(scale,             UNIFORM, -2, 2,      scale,        0)
SPEC(neg,               UNIFORM, -2, 2,      neg,          0)
SPEC(exp,               UNIFORM, -2, 2,      exp,          0)
SPEC(log,               UNIFORM, 0.5f, 3,    log,          0)
SPEC(sqrt,              UNIFORM, 0.5f, 3,    sqrt,         0)
SPEC(relu,              CLEAR, -2, 2,        relu,         0)
SPEC(sigmoid,           UNIFORM, -4, 4,      sigmoid,      1) /* out (1 - out) */
SPEC(tanh,              UNIFORM, -3, 3,      tanh,         1) /* 1 - out^2 */
SPEC(gelu,              UNIFORM, -3, 3,      gelu,         2) /* Phi + x phi */
SPEC(gelu_tanh,         UNIFORM, -3, 3,      gelu_tanh,    4) /* the same; the slope of the inner function is up to 4 */
SPEC(sum,               UNIFORM, -2, 2,      sum,          0)
SPEC(mean,              UNIFORM, -2, 2,      mean,         0)
SPEC(sum_dim,           UNIFORM, -2, 2,      sum_dim,      0)
SPEC(max_dim,           APART, 0, 0,         max_dim,      0)
SPEC(reshape,           UNIFORM, -2, 2,      same_order,   0)
SPEC(permute,           UNIFORM, -2, 2,      permute,      0)
SPEC(slice,             UNIFORM, -2, 2,      slice,        0)
SPEC(broadcast_to,      UNIFORM, -2, 2,      broadcast,    0)
SPEC(contiguous,        UNIFORM, -2, 2,      same_order,   0)
SPEC(concat,            UNIFORM, -2, 2,      concat,       0)
SPEC(gather_rows,       UNIFORM, -2, 2,      gather,       0)
SPEC(matmul,            UNIFORM, -2, 2,      matmul,       0)
SPEC(matmul_transposed, UNIFORM, -2, 2,      matmul,       0)
SPEC(linear,            UNIFORM, -2, 2,      linear,       0)
SPEC(linear_gelu,       UNIFORM, -2, 2,      linear_gelu,  8) /* as gelu_tanh, times w */
SPEC(softmax,           UNIFORM, -2, 2,      softmax,      2) /* out dout - out sum(dout out) */
/* rstd (g - mean - xhat mean): rstd, gamma, xhat about 2 */
SPEC(layernorm,         UNIFORM, -2, 2,      layernorm,    16)
/* no variance: rstd is 1/sqrt(eps) = 316, gamma up to 2 */
SPEC(layernorm_of_one,  UNIFORM, -2, 2,      layernorm,    632)
/* that twice, and 1 for each addend */
SPEC(cross_entropy,     UNIFORM, -2, 2,      cross_entropy, 1) /* probability - 1 */
SPEC(embedding,         UNIFORM, -2, 2,      embedding,    0)
/* p (dp - delta) k / sqrt(D): dp and delta are sums of D v dout, D <= 256 */
SPEC(attention,         UNIFORM, -2, 2,      attention,    64)
SPEC(classifier,        UNIFORM, -2, 2,      classifier,   2) /* (probability - 1) w */
SPEC(dropout,           UNIFORM, -2, 2,      dropout,      0)

/* A transpose of two dimensions is the permutation that its arguments spell: arg[0], arg[1] are swapped, arg[2]
 * stays. */
static const mt_op_spec op_transpose = { "transpose", MT_DRAW_UNIFORM, -2, 2, run_transpose, mt_oracle_permute, 0 };

#define S(...)              { .rank = (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), .dim = { \
    __VA_ARGS__ } }
#define SCALAR              { .rank = 0 }
#define ONE(op, a, out)     { &op_##op, { a }, out, 1, 0, 0, { 0 } }
#define ONE_AT(op, a, out, ...) { &op_##op, { a }, out, 1, 0, 0, { __VA_ARGS__ } }
#define TWO(op, a, b, out)  { &op_##op, { a, b }, out, 2, 0, 0, { 0 } }

/* Broadcasting both ways; the last cases are large enough for threads, with the sums of gradients inside and
 * outside. */
#define BINARY(op)                                            \
    TWO(op, S(7), S(7), S(7)),                                \
    TWO(op, SCALAR, SCALAR, SCALAR),                          \
    TWO(op, S(0), S(1), S(0)),                                \
    TWO(op, S(31, 33), S(33), S(31, 33)),                     \
    TWO(op, S(33), S(31, 33), S(31, 33)),                     \
    TWO(op, S(31, 1), S(1, 33), S(31, 33)),                   \
    TWO(op, SCALAR, S(5, 13), S(5, 13)),                      \
    TWO(op, S(3, 1, 5), S(4, 1), S(3, 4, 5)),                 \
    TWO(op, S(2, 1, 3, 1, 2), S(5, 1, 7, 1), S(2, 5, 3, 7, 2)), \
    TWO(op, S(197, 211), S(197, 211), S(197, 211)),           \
    TWO(op, S(197, 211), S(211), S(197, 211)),                \
    TWO(op, S(197, 1), S(197, 211), S(197, 211))

#define UNARY(op)                              \
    ONE(op, S(1), S(1)),                       \
    ONE(op, SCALAR, SCALAR),                   \
    ONE(op, S(0, 3), S(0, 3)),                 \
    ONE(op, S(31, 33), S(31, 33)),             \
    ONE(op, S(2, 3, 5, 7), S(2, 3, 5, 7)),     \
    ONE(op, S(197, 211), S(197, 211))

#define ALONG(op)                                          \
    ONE_AT(op, S(7), SCALAR, 0),                           \
    ONE_AT(op, S(31, 33), S(33), 0),                       \
    ONE_AT(op, S(31, 33), S(31), 1),                       \
    ONE_AT(op, S(3, 5, 7), S(3, 7), 1),                    \
    ONE_AT(op, S(5, 1, 2), S(5, 2), 1),                    \
    ONE_AT(op, S(3, 0, 2), S(3, 0), 2),                    \
    ONE_AT(op, S(1, 257, 131), S(1, 131), 1),              \
    ONE_AT(op, S(197, 211), S(197), 1),                    \
    ONE_AT(op, S(2, 17, 1031), S(2, 1031), 1)

#define MATMUL(op)                                                     \
    TWO(op, S(1, 1), S(1, 1), S(1, 1)),                                \
    TWO(op, S(31, 33), S(33, 37), S(31, 37)),                          \
    TWO(op, S(1, 7), S(7, 5), S(1, 5)),                                \
    TWO(op, S(7, 1), S(1, 5), S(7, 5)),                                \
    TWO(op, S(5, 7), S(7, 1), S(5, 1)),                                \
    TWO(op, S(3, 0), S(0, 2), S(3, 2)),                                \
    TWO(op, S(0, 3), S(3, 2), S(0, 2)),                                \
    TWO(op, S(3, 5, 7), S(3, 7, 2), S(3, 5, 2)),                       \
    TWO(op, S(2, 3, 5, 7), S(2, 3, 7, 4), S(2, 3, 5, 4)),              \
    TWO(op, S(2, 3, 5, 7), S(7, 4), S(2, 3, 5, 4)),                    \
    TWO(op, S(4, 1, 3), S(3, 2), S(4, 1, 2)),                          \
    TWO(op, S(0, 2, 3), S(3, 2), S(0, 2, 2)),                          \
    TWO(op, S(2, 3, 0), S(2, 0, 5), S(2, 3, 5)),                       \
    TWO(op, S(67, 71), S(71, 73), S(67, 73))

#define ROWS(op)                               \
    ONE(op, S(1), S(1)),                       \
    ONE(op, S(7), S(7)),                       \
    ONE(op, S(5, 1), S(5, 1)),                 \
    ONE(op, S(0, 10), S(0, 10)),               \
    ONE(op, S(31, 33), S(31, 33)),             \
    ONE(op, S(2, 3, 17), S(2, 3, 17)),         \
    ONE(op, S(37, 1031), S(37, 1031))

#define LINEAR(x, w, b, out)        { &op_linear, { x, w, b }, out, 3, 0, 0, { 0 } }, { &op_linear, { x, w }, out, \
    2, 0, 0, { 0 } }
#define LINEAR_GELU(x, w, b, out)   { &op_linear_gelu, { x, w, b }, out, 3, 0, 0, { 0 } }, \
    { &op_linear_gelu, { x, w }, out, 2, 0, 0, { 0 } }
#define NORM(x, c)                  { &op_layernorm, { x, c, c }, x, 3, 0, 0, { 0 } }
#define GATHER(table, ids, V, out)  { &op_gather_rows, { table, ids }, out, 1, 1, V, { 0 } }
#define LOSS(logits, labels, C)     { &op_cross_entropy, { logits, labels }, SCALAR, 1, 1, C, { 0 } }
#define EMBED(wte, wpe, ids, V, out) { &op_embedding, { wte, wpe, ids }, out, 2, 1, V, { 0 } }
#define HEADS(x, H, out)            { &op_attention, { x }, out, 1, 0, 0, { H } }
#define CLASSES(x, w, target, V)    { &op_classifier, { x, w, target }, SCALAR, 2, 1, V, { V } }

const mt_op_case mt_op_cases[] = {
    BINARY(add), BINARY(sub), BINARY(mul), BINARY(div),
    TWO(residual, S(7), S(7), S(7)), TWO(residual, S(0, 3), S(0, 3), S(0, 3)), TWO(residual, S(2, 31, 33), S(2, 31, 33),
    S(2, 31, 33)), TWO(residual, S(211, 331), S(211, 331), S(211, 331)),
    UNARY(scale), UNARY(neg), UNARY(exp), UNARY(log), UNARY(sqrt),
    UNARY(relu), UNARY(sigmoid), UNARY(tanh), UNARY(gelu), UNARY(gelu_tanh),

    ONE(sum, S(1), SCALAR), ONE(sum, SCALAR, SCALAR), ONE(sum, S(0, 3), SCALAR), ONE(sum, S(31, 33), SCALAR),
    ONE(sum, S(211, 331), SCALAR),
    ONE(mean, S(1), SCALAR), ONE(mean, S(31, 33), SCALAR), ONE(mean, S(211, 331), SCALAR),
    ALONG(sum_dim), ONE_AT(sum_dim, S(4, 0, 3), S(4, 3), 1), ALONG(max_dim),

    ONE(reshape, S(31, 33), S(33, 31)), ONE(reshape, S(2, 3, 5), S(6, 5, 1)), ONE(reshape, S(1), SCALAR),
    ONE(reshape, S(0, 7), S(7, 0, 2)),
    ONE_AT(permute, S(2, 3, 5, 7), S(7, 3, 2, 5), 3, 1, 0, 2), ONE_AT(permute, S(13, 0), S(0, 13), 1, 0),
    ONE_AT(transpose, S(31, 33), S(33, 31), 1, 0), ONE_AT(transpose, S(2, 3, 5), S(3, 2, 5), 1, 0, 2),
    ONE_AT(slice, S(31, 33), S(10, 33), 0, 1, 31, 3), ONE_AT(slice, S(31, 33), S(31, 7), 1, 26, 33, 1),
    ONE_AT(slice, S(5, 7, 3), S(5, 2, 3), 1, 2, 7, 4), ONE_AT(slice, S(5, 3), S(0, 3), 0, 5, 5, 1),
    ONE(broadcast_to, S(33), S(31, 33)), ONE(broadcast_to, S(31, 1), S(31, 33)), ONE(broadcast_to, SCALAR, S(3, 5)),
    ONE(broadcast_to, S(2, 1, 3, 1), S(7, 2, 5, 3, 2)), ONE(broadcast_to, S(1), S(0)),
    ONE(broadcast_to, S(211), S(197, 211)),
    ONE(contiguous, S(31, 33), S(31, 33)), ONE(contiguous, S(0, 2), S(0, 2)), ONE(contiguous, S(197, 211), S(197, 211)),

    ONE_AT(concat, S(3, 5), S(3, 5), 0), TWO(concat, S(31, 3), S(2, 3), S(33, 3)),
    { &op_concat, { S(3, 1, 5), S(3, 4, 5), S(3, 0, 5) }, S(3, 5, 5), 3, 0, 0, { 1 } },
    { &op_concat, { S(31, 2), S(31, 33), S(31, 1) }, S(31, 36), 3, 0, 0, { 1 } },
    GATHER(S(7, 5), S(11), 7, S(11, 5)), GATHER(S(1, 1), S(3), 1, S(3, 1)), GATHER(S(31, 33), S(3, 13),
    31, S(3, 13, 33)),
    GATHER(S(5, 3), S(0), 5, S(0, 3)), GATHER(S(5, 0), S(4), 5, S(4, 0)), GATHER(S(5, 3), SCALAR, 5, S(3)),
    GATHER(S(13, 331), S(127), 13, S(127, 331)),

    MATMUL(matmul), MATMUL(matmul_transposed),
    LINEAR(S(31, 33), S(33, 7), S(7), S(31, 7)), LINEAR(S(2, 3, 5), S(5, 4), S(4), S(2, 3, 4)),
    LINEAR(S(13), S(13, 3), S(3), S(3)), LINEAR(S(0, 5), S(5, 2), S(2), S(0, 2)), LINEAR(S(3, 0), S(0, 2), S(2),
    S(3, 2)),
    LINEAR(S(1, 1), S(1, 1), S(1), S(1, 1)), LINEAR(S(67, 61), S(61, 71), S(71), S(67, 71)),
    ROWS(softmax),
    NORM(S(7), S(7)), { &op_layernorm_of_one, { S(5, 1), S(1), S(1) }, S(5, 1), 3, 0, 0, { 0 } }, NORM(S(0, 10),
    S(10)), NORM(S(31, 33), S(33)), NORM(S(2, 3, 17), S(17)),
    NORM(S(37, 331), S(331)),
    LINEAR_GELU(S(3, 5), S(5, 7), S(7), S(3, 7)), LINEAR_GELU(S(2, 3, 5), S(5, 1), S(1), S(2, 3, 1)),
    LINEAR_GELU(S(0, 5), S(5, 3), S(3), S(0, 3)), LINEAR_GELU(S(31, 2), S(2, 33), S(33), S(31, 33)),
    LINEAR_GELU(S(7), S(7, 7), S(7), S(7)), LINEAR_GELU(S(2, 3, 5), S(5, 17), S(17), S(2, 3, 17)),
    LINEAR_GELU(S(37, 3), S(3, 331), S(331), S(37, 331)),
    LOSS(S(1, 1), S(1), 1), LOSS(S(31, 33), S(31), 33), LOSS(S(7, 2), S(7), 2), LOSS(S(37, 331), S(37), 331),
    EMBED(S(7, 5), S(3, 5), S(2, 3), 7, S(2, 3, 5)), EMBED(S(5, 33), S(13, 33), S(3, 11), 5, S(3, 11, 33)),
    EMBED(S(5, 3), S(2, 3), S(0, 2), 5, S(0, 2, 3)), EMBED(S(31, 257), S(67, 257), S(2, 67), 31, S(2, 67, 257)),
    HEADS(S(1, 1, 3), 1, S(1, 1, 1)), HEADS(S(2, 5, 18), 3, S(2, 5, 6)), HEADS(S(0, 4, 6), 1, S(0, 4, 2)),
    HEADS(S(2, 0, 6), 2, S(2, 0, 2)), HEADS(S(1, 64, 30), 2, S(1, 64, 10)), HEADS(S(1, 67, 21), 1, S(1, 67, 7)),
    HEADS(S(1, 67, 384), 2, S(1, 67, 128)), /* 64 columns, more queries than a block of the device has */
    HEADS(S(2, 131, 33), 11, S(2, 131, 11)), HEADS(S(1, 34, 108), 1, S(1, 34, 36)), HEADS(S(1, 5, 390),
    2, S(1, 5, 130)),
    HEADS(S(2, 3, 291), 1, S(2, 3, 97)), HEADS(S(1, 34, 384), 1, S(1, 34, 128)),
    CLASSES(S(1, 1), S(1, 1), S(1), 1), CLASSES(S(7, 5), S(11, 5), S(7), 11), CLASSES(S(7, 5), S(16, 5), S(7), 13),
    CLASSES(S(37, 31), S(331, 31), S(37), 331), CLASSES(S(2, 3, 5), S(11, 5), S(2, 3), 11),
    CLASSES(S(2, 259, 2), S(8, 2), S(2, 259), 7), /* in chunks */
    ONE_AT(dropout, S(31, 33), S(31, 33), 4), ONE_AT(dropout, S(7), S(7), 0), ONE_AT(dropout, S(1), S(1), 4),
    ONE_AT(dropout, S(0), S(0), 4), ONE_AT(dropout, S(2, 3, 5), S(2, 3, 5), 1), ONE_AT(dropout, S(131, 101),
    S(131, 101), 7),
};

// clang-format on

const int64_t mt_op_case_count = MT_COUNT(mt_op_cases);

const char *mt_op_case_text(const mt_op_case *c)
{
    static _Thread_local char text[256];
    int used = snprintf(text, sizeof text, "%s", c->op->name);
    for (int i = 0; i < c->inputs + c->ids; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s", mt_shape_text(c->in[i]));
    for (int i = 0; i < 4 && (c->arg[0] || c->arg[1] || c->arg[2] || c->arg[3]); i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld", i ? "," : " with ", (long long)c->arg[i]);
    return text;
}
