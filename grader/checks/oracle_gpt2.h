/* oracle_gpt2.h -- a block of GPT-2 and the whole model in double precision, written as loops over numbers; and
 * derivatives by central differences. Independent of autograd, of modules and of ops. */
#pragma once

#include "checks/oracle.h"

typedef struct mg_gpt2 {
    int64_t B, T, C, H;
    int64_t V, rows, block,
        layers; /* of the whole model: tokens, rows of the token table, of the position table, blocks */
} mg_gpt2;

/* Parameters are one array, in the order of mt_module_params. A tensor of it: */
typedef struct mg_gpt2_part {
    char name[32]; /* "h.0.mlp.c_proj.weight" */
    int64_t at, count;
} mg_gpt2_part;

enum { MG_GPT2_PARTS = 64, MG_BLOCK_PARTS = 12 };

/* The tensors of a block, and of a model; returns how many there are, *count the number of elements. */
int mg_gpt2_block_parts(mg_gpt2_part *part, int64_t *count, const mg_gpt2 *g);
int mg_gpt2_parts(mg_gpt2_part *part, int64_t *count, const mg_gpt2 *g);

/* mg_gpt2_block -- x [B,T,C] becomes the block's output. params as of mg_gpt2_block_parts. */
void mg_gpt2_block(double *x, const double *params, const mg_gpt2 *g);

/* mg_gpt2_hidden -- x [B,T,C]: what the head reads.   mg_gpt2_logits -- out [B,T,V] of that.
 * mg_gpt2_loss -- the mean cross-entropy. */
void mg_gpt2_hidden(double *x, const double *params, const int32_t *ids, const mg_gpt2 *g);
void mg_gpt2_logits(double *out, const double *x, const double *params, const mg_gpt2 *g);
double mg_gpt2_loss(const double *params, const int32_t *ids, const int32_t *targets, const mg_gpt2 *g);

/* mg_gradient -- out [n]: the derivative of f(user) by each of x [n], by central differences. */
void mg_gradient(double *out, double *x, int64_t n, double (*f)(void *user), void *user);
