/* calls_09.h -- calls of lab 09 that are defined in calls_09_autocast.c and calls_09_training.c. */
#pragma once

#include "worker/call.h"

void mg_call_autocast_dtype(const mg_value *v);
void mg_call_autocast_network(const mg_value *v);
void mg_call_kept_copies(const mg_value *v);
void mg_call_saved_tensors(const mg_value *v);
void mg_call_kept_bytes(const mg_value *v);
void mg_call_scaler_new(const mg_value *v);
void mg_call_scaler(const mg_value *v);
void mg_call_unscale(const mg_value *v);
void mg_call_master(const mg_value *v);
void mg_call_encode8(const mg_value *v);
void mg_call_decode8(const mg_value *v);
void mg_call_adam8(const mg_value *v);
