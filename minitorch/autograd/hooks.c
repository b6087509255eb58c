/* hooks.c -- gradient-ready callbacks, called when the gradient of a leaf is complete. */
#include "autograd/tape.h"

#include <stdlib.h>

typedef struct registration {
    mt_tensor *leaf;
    mt_grad_ready_fn *fn;
    void *user;
} registration;

/* In order of registration. Short, one or two per parameter: a search per finished gradient costs nothing beside it. */
static _Thread_local struct {
    registration *list;
    int64_t count, capacity;
} ready;

void mt_grad_ready(mt_tensor *leaf)
{
    for (int64_t i = 0; i < ready.count; i++)
        if (ready.list[i].leaf == leaf)
            ready.list[i].fn(ready.list[i].user, leaf);
}

void mt_grad_ready_on(mt_tensor *leaf, mt_grad_ready_fn *fn, void *user)
{
    if (ready.count == ready.capacity) {
        ready.capacity = mt_max(16, 2 * ready.capacity);
        ready.list = mt_realloc(ready.list, ready.capacity, sizeof *ready.list);
    }
    ready.list[ready.count++] = (registration){ leaf, fn, user };
}

void mt_grad_ready_off(mt_tensor *leaf, mt_grad_ready_fn *fn, void *user)
{
    int64_t found = 0;
    while (found < ready.count &&
           (ready.list[found].leaf != leaf || ready.list[found].fn != fn || ready.list[found].user != user))
        found++;
    MT_CHECK(found < ready.count, "this callback was not registered for the gradient of %s in this thread",
             mt_text_of(leaf));
    for (int64_t i = found; i + 1 < ready.count; i++)
        ready.list[i] = ready.list[i + 1];
    if (--ready.count == 0) { /* threads come and go: leave nothing behind */
        free(ready.list);
        ready.list = NULL;
        ready.capacity = 0;
    }
}
