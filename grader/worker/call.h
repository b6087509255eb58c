/* call.h -- the table of functions that the checks of one lab call in the worker, one line each:
 *
 *   #define CALLS(CALL)                                       \
 *       CALL(mt_relu_fwd_cpu, F(out), F(x), N(n))             \
 *       CALL(mt_softmax_fwd_cpu, F(out), F(x), N(N), N(C))
 *   CALLS(MG_THUNK)
 *   const mg_function mg_calls_02[] = { CALLS(MG_ENTRY) { NULL, NULL } };
 *
 * F(out) is the float array that the check has described as "out" (mg_out, mg_in, ...), N(n) its integer "n" (mg_i64).
 * Where a call takes what is not described, by this name and of this type, the row is an ERROR (call.c). A check names
 * a call by the function, and puts "may abort: " before it where the unit may refuse the arguments. What is more than
 * one C call is a function of its own with an entry of its own. All of it runs beside the student's code and is not
 * trusted. */
#pragma once

#include "core/dtype.h"

/* What an argument is: an array of an mt_dtype, an array of any type, a number, or an array that is not given. */
enum { MG_ANY = MT_DTYPE_COUNT, MG_NUMBER, MG_F32_NUMBER, MG_F64_NUMBER, MG_NONE };

typedef struct mg_value {
    const char *name; /* as the check calls it; NULL behind the last one */
    int what;
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
    int64_t i64;   /* of mg_i64 */
    double real;   /* of mg_f32, mg_f64 */
} mg_value;

typedef struct mg_function {
    const char *name; /* as mg_begin names it; NULL ends the table */
    void (*call)(const mg_value *value);
    bool grids_only; /* kernels are not executed: of sizes that only the grid of a launch is tested with */
} mg_function;

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* most functions are called as they are */

/* Set by a call that may keep memory, and is not made again to see whether it does: a unit aborted, as expected, or
 * something is left open, or the call is counted. Reset for each call. */
extern bool mg_keeps;

extern bool mg_aborted; /* a unit aborted in this worker, as expected */

/* mg_function_of -- the entry of the lab's table; NULL if there is none. "may abort: NAME" is the call NAME, which the
 * unit may refuse: the array "aborted" [1], in memory of the host, tells whether it did. */
const mg_function *mg_function_of(const char *name);

/* mg_argument_of -- the argument of that name, or the one behind whose name stands the number; -1: none does. If there
 * is none, or it is something else, the worker ends. */
const mg_value *mg_argument_of(const mg_value *values, const char *name, int64_t number, int what, const char *file);

/* How a call takes one of the values `v`: an array by the type of its elements (NULL for mg_null), or an array of any
 * type with its number of elements; an integer, a float, a double. F_AT(grad, 2) and N_AT(dim, 2) are "grad2" and
 * "dim2". */
#define TAKE(name, number, what) mg_argument_of(v, name, number, what, __FILE__)
#define F(...)                   TAKE(#__VA_ARGS__, -1, MT_F32)->f32
#define F_AT(name, i)            TAKE(#name, i, MT_F32)->f32
#define BF16(...)                TAKE(#__VA_ARGS__, -1, MT_BF16)->bf16
#define I32(...)                 TAKE(#__VA_ARGS__, -1, MT_I32)->i32
#define I64(...)                 TAKE(#__VA_ARGS__, -1, MT_I64)->i64s
#define U8(...)                  TAKE(#__VA_ARGS__, -1, MT_U8)->u8
#define ARRAY(...)               TAKE(#__VA_ARGS__, -1, MG_ANY)
#define N(...)                   TAKE(#__VA_ARGS__, -1, MG_NUMBER)->i64
#define N_AT(name, i)            TAKE(#name, i, MG_NUMBER)->i64
#define S(...)                   (float)TAKE(#__VA_ARGS__, -1, MG_F32_NUMBER)->real
#define D(...)                   TAKE(#__VA_ARGS__, -1, MG_F64_NUMBER)->real

/* One function and one entry of the table for each line of CALLS; `to` takes what the function returns. */
#define MG_THUNK(fn, ...)                \
    static void fn##_(const mg_value *v) \
    {                                    \
        fn(__VA_ARGS__);                 \
    }
#define MG_RESULT(fn, to, ...)           \
    static void fn##_(const mg_value *v) \
    {                                    \
        to = fn(__VA_ARGS__);            \
    }
#define MG_ENTRY(fn, ...) { #fn, fn##_ },
