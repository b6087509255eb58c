/* joins.c -- pthread_join that notices a thread that was joined before, and one that was never made: the C library may
 * wait for ever then, crash, or return at once. Linked in place of its functions (-Wl,--wrap, link.c). */
#include "worker/joins.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *user);
int __real_pthread_join(pthread_t thread, void **result);

void (*mg_thread_made)(void);
static pthread_t joined; /* last, unless a new thread has its name */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *user)
{
    int error = __real_pthread_create(thread, attr, start, user);
    if (error == 0 && *thread == joined)
        joined = 0;
    if (error == 0 && mg_thread_made)
        mg_thread_made();
    return error;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    static const char never[] = "pthread_join of a thread that was never made\n";
    static const char again[] = "pthread_join of a thread that was joined before\n";
    if (thread == 0 && write(2, never, sizeof never - 1) > 0)
        abort();
    if (thread == joined && write(2, again, sizeof again - 1) > 0)
        abort();
    int error = __real_pthread_join(thread, result);
    if (error == 0)
        joined = thread;
    return error;
}
