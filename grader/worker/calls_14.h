/* calls_14.h -- the calls of lab 14, and the numbers by which worker and checker know what a rank did. */
#pragma once

#include "worker/mesh.h"
#include "worker/call.h"

void mg_call_mesh(const mg_value *v);
void mg_call_pipe_schedule(const mg_value *v);
void mg_call_pipe_partition(const mg_value *v);
void mg_call_pipe_step(const mg_value *v);

/* calls_14_tensor.c, calls_14_vocabulary.c */
void mg_call_tp_pair(const mg_value *v);
void mg_call_tp_products(const mg_value *v);
void mg_call_tp_shard(const mg_value *v);
void mg_call_tp_layer(const mg_value *v);
void mg_call_tp_range(const mg_value *v);
void mg_call_tp_embedding(const mg_value *v);
void mg_call_tp_cross_entropy(const mg_value *v);
void mg_call_tp_classifier(const mg_value *v);
void mg_call_tp_norm(const mg_value *v);

/* calls_14_sequence.c */
void mg_call_sp_tokens(const mg_value *v);
void mg_call_sp_block(const mg_value *v);
