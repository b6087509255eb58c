/* scope.h -- brackets around a training step: every tensor made inside is freed at its end.
 *
 *     mt_scope_begin();
 *     mt_tensor *loss = ...;          // temporaries need no free
 *     mt_scope_end();
 *
 * Scopes nest (64 deep), one stack per thread. A tensor made outside every scope belongs to its maker: mt_release it. */
#ifndef MT_CORE_SCOPE_H
#define MT_CORE_SCOPE_H

#include "core/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

void mt_scope_begin(void);
void mt_scope_end(void); /* aborts: no scope is open */

/* mt_scope_depth -- how many scopes are open in this thread. */
int mt_scope_depth(void);

/* mt_scope_adopt -- give the caller's one reference of t to the current scope; without a scope t stays the caller's.
 * Ops call it on every result. Returns t. */
mt_tensor *mt_scope_adopt(mt_tensor *t);

#ifdef __cplusplus
}
#endif
#endif
