/* calls_03.h -- what the files that call the tape (calls_03*.c) share. */
#pragma once

#include "autograd/tape.h"
#include "worker/call.h"

mt_tensor *mg_03_leaf(mt_shape shape, const float *data);
mt_tensor *mg_03_full_leaf(mt_shape shape, float value);

/* mg_03_copy_grad -- leaf's gradient, or zeros if there is none. */
void mg_03_copy_grad(float *out, const mt_tensor *leaf, int64_t n);

/* mg_03_test_op -- an op that passes on no gradient. */
extern const mt_op mg_03_test_op;

void mg_03_misused(const mg_value *v); /* "backward misused" */
