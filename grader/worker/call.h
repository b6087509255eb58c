/* call.h -- the table of functions that the checks of one lab call in the worker, one line each:
 *
 *   #define CALLS(CALL, IN_PLACE)                          \
 *       CALL(mt_relu_fwd_cpu, F(0), F(1), N(2))            \
 *       IN_PLACE(mt_relu_fwd_cpu, F(0), F(0), N(1))
 *   CALLS(MG_THUNK, MG_THUNK_IN_PLACE)
 *   const mg_function mg_calls_02[] = { CALLS(MG_ENTRY, MG_ENTRY_IN_PLACE) { NULL, NULL } };
 *
 * F(i) is the float array, N(i) the integer and S(i) the float that the check added as its i-th value (mg_out, mg_in,
 * mg_i64, ...). A check names a call by the function, with " in place" behind it for IN_PLACE. What is more than one C
 * call is a function of its own with an entry of its own. All of it runs beside the student's code and is not
 * trusted. */
#pragma once

#include "core/dtype.h"

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

/* Set by a call that may keep memory, and is not made again to see whether it does: a unit aborted, as expected, or
 * something is left open, or the call is counted. Reset for each call. */
extern bool mg_keeps;

extern bool mg_aborted; /* a unit aborted in this worker, as expected */

#define F(i) v[i].f32
#define N(i) v[i].i64
#define S(i) v[i].scalar

/* One function and one entry of the table for each line of CALLS. */
#define MG_THUNK(fn, ...)                \
    static void fn##_(const mg_value *v) \
    {                                    \
        fn(__VA_ARGS__);                 \
    }
#define MG_THUNK_IN_PLACE(fn, ...)               \
    static void fn##_in_place(const mg_value *v) \
    {                                            \
        fn(__VA_ARGS__);                         \
    }
#define MG_ENTRY(fn, ...)          { #fn, fn##_ },
#define MG_ENTRY_IN_PLACE(fn, ...) { #fn " in place", fn##_in_place },
