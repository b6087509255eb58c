/* joins.h -- what a call wants to know of the threads that a unit makes (worker/joins.c). */
#pragma once

#include <stdbool.h>

/* mg_thread_made -- called in the thread that has made another one, before pthread_create returns; NULL: nothing. With
 * it a call decides how far the new thread is by then: the system may let it run first. */
extern void (*mg_thread_made)(void);

/* mg_threads_refused -- pthread_create finds no thread to be had. */
extern bool mg_threads_refused;
