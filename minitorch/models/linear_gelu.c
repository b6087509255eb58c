/* linear_gelu.c -- the first layer of a block's MLP and its GELU. */
#include "ops/ops.h"
#include "models/gpt2_ops.h"
#include "models/kernels_gpt2.h"

mt_tensor *mt_linear_gelu(mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    const mt_gpt2_table *kernels = mt_gpt2_kernels(mt_device_of(x));
    return kernels->linear_gelu ? kernels->linear_gelu(x, w, b) : mt_gelu_tanh(mt_linear(x, w, b));
}
