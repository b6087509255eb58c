/* calls_14_tensor.h -- calls of lab 14 on ranks whose collectives are noted (worker/hub.h); the results of
 * each are [P,MG_TP_RESULTS]. */
#pragma once

#include "parallel/tensor_parallel.h"
#include "worker/calls_13_training.h"
#include "worker/calls_14.h"
#include "worker/tensor.h"

mt_tensor *mg_leaf(mt_shape shape, const float *values); /* wants a gradient; in the scope */
void mg_take_gradient(float *to, mt_tensor *leaf);       /* zeros when there is none; the leaf has none afterwards */
void mg_note_forward(const mg_value *v, const mg_hub_rank *rank);
mt_status mg_note_end(const mg_value *v, const mg_hub_rank *rank, const mt_tp *tp);
