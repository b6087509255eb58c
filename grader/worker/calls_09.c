/* calls_09.c -- how the worker calls the units of lab 09. */
#include "ops/kernels_16bit.h"
#include "worker/calls_09.h"

static void convert(const mg_value *v) /* out [n], x [n], types of both, n */
{
    mt_convert_cpu(v[0].ptr, (mt_dtype)v[2].i64, v[1].ptr, (mt_dtype)v[3].i64, v[4].i64);
}

const mg_function mg_calls_09[] = {
    { "mt_convert_cpu", convert },
    { NULL, NULL },
};
