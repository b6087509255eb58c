/* mt.h -- all of minitorch, in the order in which to read it. `#include "mt.h"` is enough for any program.
 *
 * Two layers: a kernel takes pointers and sizes and allocates nothing (ops/kernels.h); an op takes tensors, checks them,
 * allocates the result and picks the kernel of the device from a table (ops/tables.h). Labs mostly write kernels.
 * Each lab adds its headers here when it arrives. */
#ifndef MT_MT_H
#define MT_MT_H

/* Numbers in memory. */
#include "core/base.h"    /* how a fault is reported; the log */
#include "core/view.h"    /* shape, stride, offset                                     lab 00 */
#include "core/dtype.h"   /* element types */
#include "core/rng.h"     /* random numbers by (seed, stream, counter) */
#include "core/device.h"  /* where memory is */
#include "core/storage.h" /* reference-counted memory */
#include "core/tensor.h"  /* a view into a storage */
#include "core/element.h" /* 16-bit floats; one element of any type */
#include "core/scope.h"   /* what a training step made is freed at its end */

/* Arithmetic on them. */
#include "ops/matmul.h"       /* the matrix product, from naive to fast                 lab 01 */
#include "ops/kernels.h"      /* layers, activations, losses: forward and backward      lab 02 */
#include "ops/kernels_gpt2.h" /* layernorm, and what else GPT-2 is made of              lab 08 */
#include "ops/tables.h"       /* which kernel on which device */

/* Tensors that remember. */
#include "autograd/tape.h" /* nodes, backward, its hooks                                  lab 03 */
#include "ops/ops.h"       /* what tensors can do; every op records itself */
#include "nn/module.h"     /* models as trees of named parameters */

/* Training. */
#include "optim/updates.h"  /* SGD to Adafactor, as kernels                                lab 04 */
#include "optim/schedule.h" /* learning rates as functions of the step                     lab 04 */
#include "optim/optim.h"    /* parameters in groups, state by name */
#include "data/dataset.h"   /* samples by index                                            lab 05 */
#include "data/sampler.h"   /* in which order                                              lab 05 */
#include "data/loader.h"    /* batches, ahead of time                                      lab 05 */
#include "prof/span.h"      /* what takes how long */
#include "prof/profile.h"   /* ... as a table, a trace, a timeline */

/* Seams: what later labs hang themselves into. */
#include "amp/policy.h" /* in which type an op computes                              lab 09 */
#include "dist/comm.h"  /* many processes                                            labs 13, 14 */

#endif
