/* calls_10.h -- calls of lab 10; each step has a file of its own. */
#pragma once

#include "worker/call.h"

void mg_call_accumulate(const mg_value *v);
void mg_call_shares(const mg_value *v);
void mg_call_as_it_is(const mg_value *v);
void mg_call_segments(const mg_value *v);
void mg_call_selective(const mg_value *v);
void mg_call_offload(const mg_value *v);
void mg_call_stall(const mg_value *v);
void mg_call_offload_choose(const mg_value *v);
void mg_call_unused(const mg_value *v);
void mg_call_choose(const mg_value *v);
void mg_call_least(const mg_value *v);
void mg_call_account_live(const mg_value *v);
void mg_call_account_note(const mg_value *v);
void mg_call_account_peak(const mg_value *v);
void mg_call_pool_sizes(const mg_value *v);
void mg_call_pool(const mg_value *v);
