/* calls_08.h -- calls of lab 08 that are defined in calls_08_model.c. */
#pragma once

#include "worker/call.h"

void mg_call_gpt2_block(const mg_value *v);
void mg_call_gpt2_model(const mg_value *v);
void mg_call_train_step(const mg_value *v);
void mg_call_train_batch(const mg_value *v);
