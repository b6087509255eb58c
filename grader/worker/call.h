/* call.h -- how the generic worker reaches the functions of one lab's units.
 *
 * grader/worker/calls_NN.c of each lab is a table of thunks, one per function that its checks call:
 *
 *   static void relu_fwd(const mg_value *v) { mt_relu_fwd_cpu(v[0].f32, v[1].f32, v[2].i64); }
 *   const mg_function mg_calls_02[] = { { "mt_relu_fwd_cpu", relu_fwd }, ..., { 0 } };
 *
 * The values arrive in the order in which the check added them (mg_out, mg_in, mg_i64, ...). A thunk only passes them on:
 * it runs beside the student's code, so it judges nothing and is trusted with nothing. */
#ifndef MG_WORKER_CALL_H
#define MG_WORKER_CALL_H

#include "core/element.h"

typedef struct mg_value {
    union { /* an array of mg_in, mg_out, mg_inout; NULL for mg_null; with 0 elements any touch of it is a fault */
        void *ptr;
        float *f32;
        mt_f16 *f16;
        mt_bf16 *bf16;
        int32_t *i32;
        int64_t *i64s;
        uint8_t *u8;
    };
    int64_t count; /* elements of that array */
    int64_t i64;   /* the scalar of mg_i64 */
    float scalar;  /* the scalar of mg_f32 */
} mg_value;

typedef struct mg_function {
    const char *name; /* as mg_begin names it; NULL ends the table */
    void (*call)(const mg_value *value);
} mg_function;

#endif
