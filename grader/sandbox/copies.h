/* copies.h -- the arrays of a call, copied to and from the arenas while the worker is stopped. */
#pragma once

#include "sandbox/arena.h"
#include "sandbox/session.h"

static inline bool mg_is_array(const mg_argument *a)
{
    return a->kind == MG_IN || a->kind == MG_OUT || a->kind == MG_INOUT;
}

/* mg_copy_in -- all arrays, with a known byte in the rest of their pages. */
void mg_copy_in(const mg_arena *input, const mg_arena *output, const mg_invocation *in, const mg_wire_request *request);

/* mg_copy_out -- the outputs. FAIL when the rest of their pages changed: an array has a guard page on one side only. */
void mg_copy_out(const mg_arena *output, const mg_invocation *in, const mg_wire_request *request, mg_outcome *outcome);
