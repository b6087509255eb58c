/* small_stack.h -- the stacks of a counted call (traffic.c), which hold no array of the problem. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/* mg_small_stack -- while a call is counted, attributes with a stack of MG_COUNTED_STACK for one thread more. Else
 * false, and nothing is done. */
bool mg_small_stack(pthread_attr_t *attributes);

/* mg_small_stack_begin -- in the new thread, first: its stack is below `top`. */
void mg_small_stack_begin(char *top);

/* mg_watch_stack -- an overflow of this stack is reported as one (main.c). */
void mg_watch_stack(char *top);
