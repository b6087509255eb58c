/* scope.h -- every tensor made between mt_scope_begin and mt_scope_end is freed at the end, as after a training step.
 *
 *     mt_scope_begin();
 *     mt_tensor *loss = ...;          // temporaries need no release
 *     mt_scope_end();
 *
 * Scopes nest up to 64 deep; each thread has its own. A tensor made outside every scope is released by the caller. */
#pragma once

#include "core/tensor.h"

MT_C_BEGIN

void mt_scope_begin(void);
void mt_scope_end(void); /* aborts: no scope is open */

/* mt_scope_depth -- how many scopes are open in this thread. */
int mt_scope_depth(void);

/* mt_scope_adopt -- hand the caller's reference to t over to the current scope; without a scope it stays the caller's.
 * Ops call it on every result. Returns t. */
mt_tensor *mt_scope_adopt(mt_tensor *t);

MT_C_END
