/* scope.c -- each thread has a stack of tensors; a scope is the part of it above a mark. */
#include "core/scope.h"

#include <stdlib.h>

enum { MAX_DEPTH = 64 };

static _Thread_local struct {
    mt_tensor **held; /* tensors of all open scopes, in order of adoption */
    int64_t count, capacity;
    int64_t mark[MAX_DEPTH]; /* count when each scope began */
    int depth;
} scopes;

void mt_scope_begin(void)
{
    MT_CHECK(scopes.depth < MAX_DEPTH, "%d scopes are open: is an mt_scope_end missing?", scopes.depth);
    scopes.mark[scopes.depth++] = scopes.count;
}

void mt_scope_end(void)
{
    MT_CHECK(scopes.depth > 0, "mt_scope_end without mt_scope_begin");
    int64_t mark = scopes.mark[--scopes.depth];
    while (scopes.count > mark) {
        mt_tensor *t = scopes.held[--scopes.count];
        t->scoped--;
        mt_release(t);
    }
    if (scopes.depth == 0) { /* the thread may end now: free everything */
        free(scopes.held);
        scopes.held = NULL;
        scopes.capacity = 0;
    }
}

int mt_scope_depth(void)
{
    return scopes.depth;
}

mt_tensor *mt_scope_adopt(mt_tensor *t)
{
    if (scopes.depth == 0)
        return t;
    if (scopes.count == scopes.capacity) {
        scopes.capacity = mt_max(64, 2 * scopes.capacity);
        scopes.held = mt_realloc(scopes.held, scopes.capacity, sizeof *scopes.held);
    }
    t->scoped++;
    return scopes.held[scopes.count++] = t;
}
