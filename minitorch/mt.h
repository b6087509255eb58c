/* mt.h -- all of minitorch, in the order in which to read it. `#include "mt.h"` is enough for any program.
 *
 * Two layers: a kernel takes pointers and sizes and allocates nothing (kernels/kernels.h); an op takes tensors, checks
 * them, allocates the result and picks the kernel of the device from a table (kernels/tables.h). Labs mostly write
 * kernels. A new lab adds its headers here. */
#pragma once

/* Memory and tensors. */
#include "core/base.h"      /* error handling */
#include "core/denormals.h" /* numbers near 0, which are slow */
#include "core/view.h"      /* shape, stride, offset                                    lab 00 */
#include "core/dtype.h"     /* element types; one element of any type */
#include "core/rng.h"       /* random numbers by (seed, stream, counter) */
#include "core/device.h"    /* CPU and GPU memory */
#include "core/storage.h"   /* reference-counted memory */
#include "core/tensor.h"    /* a view into a storage */
#include "core/scope.h"     /* frees the tensors of a training step */
#include "core/state.h"     /* what a run saves, by name */
#include "core/io.h"        /* whole files */
#include "core/digits.h"    /* images of digits as bytes */

/* Kernels. */
#include "kernels/tables.h"      /* the kernels of each device */
#include "kernels/matmul.h"      /* the matrix product, from naive to fast              lab 01 */
#include "kernels/kernels.h"     /* layers, activations, losses: forward and backward   lab 02 */
#include "kernels/manual_mlp.h"  /* a perceptron without tensors, by hand               lab 02 */
#include "models/kernels_gpt2.h" /* layernorm and the other kernels of GPT-2            lab 08 */
#include "fused/fused.h"         /* several ops in one kernel                           lab 11 */

/* Automatic differentiation, layers. */
#include "autograd/tape.h"  /* nodes, backward, its hooks                             lab 03 */
#include "ops/ops.h"        /* operations on tensors, recorded for backward */
#include "amp/autocast.h"   /* products in 16 bits                                    lab 09 */
#include "ops/policy.h"     /* the element type in which an op computes               lab 09 */
#include "nn/module.h"      /* models as trees of named parameters */
#include "memory/segment.h" /* activations computed again in backward                 lab 10 */
#include "memory/offload.h" /* ... or waiting on the host                              lab 10 */

/* Training. */
#include "optim/updates.h"  /* SGD to Muon, as kernels                                lab 04 */
#include "optim/schedule.h" /* learning rates as functions of the step                lab 04 */
#include "optim/optim.h"    /* parameters in groups, state by name */
#include "optim/program.h"  /* a training program of your own                         lab 04 */
#include "data/dataset.h"   /* samples by index                                       lab 05 */
#include "data/sampler.h"   /* the order of the samples                               lab 05 */
#include "data/loader.h"    /* batches, prefetched by worker threads                  lab 05 */
#include "data/mnist.h"     /* images of digits                                       lab 05 */
#include "data/tokens.h"    /* windows of a text's tokens                             lab 05 */
#include "core/span.h"      /* time of each operation */
#include "prof/profile.h"   /* ... as a table, a trace, a timeline */

/* Text and models. */
#include "text/vocabulary.h"   /* text as numbers: characters, or byte pairs          lab 08 */
#include "text/tokenizer.h"    /* ... by GPT-2's rules                                lab 08 */
#include "models/mlp.h"        /* a perceptron of modules */
#include "models/classifier.h" /* its loss, accuracy and mistakes */
#include "models/gpt2.h"       /* GPT-2 of any size                                   lab 08 */
#include "models/gpt2_ops.h"   /* ... its operations */
#include "models/sample.h"     /* text from it                                        lab 08 */
#include "models/program.h"    /* a training program of your own                      lab 08 */
#include "models/decoder.h"    /* text from a model, with a cache of keys and values   lab 08 */

/* Memory and files of a run. */
#include "memory/choose.h"   /* which blocks to compute again, under a budget         lab 10 */
#include "ckpt/checkpoint.h" /* a run in a folder, by name                            lab 12 */
#include "ckpt/async.h"      /* ... saved by a thread while training continues        lab 12 */

/* Several processes. */
#include "dist/comm.h"                  /* ranks and their messages                         labs 13, 14 */
#include "dist/ddp.h"                   /* gradients averaged over them during backward     lab 13 */
#include "dist/zero.h"                  /* ... with the optimizer's state in parts          lab 13 */
#include "dist/compress.h"              /* fewer bytes for them                             lab 13 */
#include "dist/local.h"                 /* several steps between two exchanges              lab 13 */
#include "dist/server.h"                /* weights on one rank, which waits for no other    lab 13 */
#include "parallel/mesh.h"              /* ranks in a grid: data, pipeline, tensor          lab 14 */
#include "parallel/tensor_parallel.h"   /* layers whose matrices are divided among ranks    lab 14 */
#include "parallel/sequence_parallel.h" /* and tokens, outside the products                 lab 14 */
#include "parallel/pipe.h"              /* layers divided into stages                       lab 14 */

/* Plans. */
#include "plan/cost.h"      /* memory, arithmetic and messages of any division        lab 15 */
#include "plan/planner.h"   /* the best division for a cluster                        lab 15 */
#include "plan/goodput.h"   /* failures, and how often to save                        lab 15 */
#include "plan/scheduler.h" /* many jobs on one cluster                               lab 15 */
#include "plan/cluster.h"   /* a cluster, event by event                              lab 15 */
#include "plan/train.h"     /* ... and a run on it                                    lab 15 */
