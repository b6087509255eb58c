/* joins.c -- pthread_join that notices a thread that was joined before, and one that was never made: the C library may
 * wait for ever then, crash, or return at once. And OpenMP's tasks. Linked in place of their functions (-Wl,--wrap,
 * link.c). */
#include "worker/joins.h"
#include "worker/call.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *user);
int __real_pthread_join(pthread_t thread, void **result);

void (*mg_thread_made)(void);
bool mg_threads_refused;
static pthread_t joined; /* last, unless a new thread has its name */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *user)
{
    int error = mg_threads_refused ? EAGAIN : __real_pthread_create(thread, attr, start, user);
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

/* Of tasks with dependences that not the first thread makes, libgomp keeps a block each: no unit can free it. */
typedef void body(void *);
typedef void copy(void *, void *);
enum { DEPEND = 8 }; /* in the flags */
void __real_GOMP_task(body *run, void *data, copy *c, long size, long align, bool now, unsigned flags, void **depend,
                      int priority, void *detach);
void __wrap_GOMP_task(body *run, void *data, copy *c, long size, long align, bool now, unsigned flags, void **depend,
                      int priority, void *detach);
void __wrap_GOMP_task(body *run, void *data, copy *c, long size, long align, bool now, unsigned flags, void **depend,
                      int priority, void *detach)
{
    if (flags & DEPEND)
        mg_keeps = true;
    __real_GOMP_task(run, data, c, size, align, now, flags, depend, priority, detach);
}
