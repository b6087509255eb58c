/* calls_10.c -- the functions of lab 10 that the worker calls. */
#include "worker/calls_10.h"

const mg_function mg_calls_10[] = {
    { "mt_train_accumulate", mg_call_accumulate },
    { "mt_train_batch with shares", mg_call_shares },
    { "modules as they are", mg_call_as_it_is },
    { "segments, forward", mg_call_segments },
    { "segments", mg_call_segments },
    { "segments, unused parameter", mg_call_unused },
    { "selective", mg_call_selective },
    { "mt_memory_choose", mg_call_choose },
    { "mt_memory_least", mg_call_least },
    { "mt_offload_stall", mg_call_stall },
    { "mt_offload_choose", mg_call_offload_choose },
    { "offload", mg_call_offload },
    { "mt_pool_sizes_of", mg_call_pool_sizes },
    { "mt_pool", mg_call_pool },
    { "mt_account_live", mg_call_account_live },
    { "mt_account_note", mg_call_account_note },
    { "mt_account_peak", mg_call_account_peak },
    { NULL, NULL },
};
