/* threads.c -- threads that a unit starts with pthread_create. The search for data races (sharing.c) is told that what
 * came before the start is before what the thread does, and that this is before what follows the join. Wrapped by the
 * linker, as in openmp.c; threads of libgomp, which is linked statically, are let through. */
#include "worker/sharing.h"
#include "worker/small_stack.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct started {
    struct started *next;
    pthread_t thread;
    void *(*run)(void *);
    void *argument;
    mg_told begin, end;
} started;

static void *(*of_libgomp)(void *); /* the function that its threads run: main.c wakes them before the unit is called */
static started *living;             /* threads that are not joined: a region lasts until all of its threads are */
static uint32_t entered;
static pthread_mutex_t living_lock = PTHREAD_MUTEX_INITIALIZER;

int __real_pthread_create(pthread_t *it, const pthread_attr_t *a, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *it, const pthread_attr_t *a, void *(*run)(void *), void *argument);
int __real_pthread_join(pthread_t it, void **result);
int __wrap_pthread_join(pthread_t it, void **result);
int __real_pthread_detach(pthread_t it);
int __wrap_pthread_detach(pthread_t it);
int __real_pthread_mutex_lock(pthread_mutex_t *it);
int __real_pthread_mutex_unlock(pthread_mutex_t *it);

static void add_living(started *s)
{
    __real_pthread_mutex_lock(&living_lock);
    if (!living)
        entered = mg_share_enter(2);
    s->next = living;
    living = s;
    __real_pthread_mutex_unlock(&living_lock);
}

static started *find_living(pthread_t thread)
{
    __real_pthread_mutex_lock(&living_lock);
    started *s = living;
    while (s && !(s->thread && pthread_equal(s->thread, thread)))
        s = s->next;
    __real_pthread_mutex_unlock(&living_lock);
    return s;
}

static void remove_living(started *s)
{
    started **at = &living;
    __real_pthread_mutex_lock(&living_lock);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (!living)
        mg_share_leave(entered);
    __real_pthread_mutex_unlock(&living_lock);
    free(s);
}

static void end_thread(void *it)
{
    mg_share_tell(&((started *)it)->end);
}

static void *begin_thread(void *it)
{
    started *s = it;
    void *result;
    omp_set_num_threads(1); /* regions of several threads would end the search of the others (mg_share_enter) */
    mg_share_hear(&s->begin);
    pthread_cleanup_push(end_thread, s); /* pthread_exit calls it, too */
    result = s->run(s->argument);
    pthread_cleanup_pop(1);
    return result;
}

static void *begin_small(void *it)
{
    started s = *(started *)it;
    free(it);
    mg_small_stack_begin(__builtin_frame_address(0));
    return s.run(s.argument);
}

/* While a call is counted, its stack has the size of one, whatever size it was to have. */
static int create_unsearched(pthread_t *it, const pthread_attr_t *a, void *(*run)(void *), void *argument)
{
    pthread_attr_t small;
    int state = PTHREAD_CREATE_JOINABLE;
    pthread_attr_init(&small);
    started *s = mg_small_stack(&small) ? calloc(1, sizeof *s) : NULL;
    if (s)
        *s = (started){ .run = run, .argument = argument };
    if (s && a)
        pthread_attr_getdetachstate(a, &state);
    pthread_attr_setdetachstate(&small, state);
    int error = __real_pthread_create(it, s ? &small : a, s ? begin_small : run, s ? s : argument);
    pthread_attr_destroy(&small);
    if (error)
        free(s);
    return error;
}

int __wrap_pthread_create(pthread_t *it, const pthread_attr_t *a, void *(*run)(void *), void *argument)
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (a)
        pthread_attr_getdetachstate(a, &state);
    if (!mg_share_region())
        of_libgomp = run;
    if (run == of_libgomp)
        return create_unsearched(it, a, run, argument);
    started *s = state == PTHREAD_CREATE_DETACHED ? NULL : calloc(1, sizeof *s);
    if (!s) {
        mg_share_unknown();
        return __real_pthread_create(it, a, run, argument);
    }
    s->run = run, s->argument = argument;
    add_living(s);
    mg_share_tell(&s->begin);
    mg_share_pause(); /* the C library clears the new thread's variables, in memory that another thread had */
    int error = __real_pthread_create(&s->thread, a, begin_thread, s);
    mg_share_resume();
    if (error)
        remove_living(s);
    else
        *it = s->thread;
    return error;
}

int __wrap_pthread_join(pthread_t it, void **result)
{
    started *s = find_living(it);
    int error = __real_pthread_join(it, result);
    if (s && !error) {
        mg_share_hear(&s->end);
        remove_living(s);
    }
    return error;
}

/* Threads of libgomp end so, too. */
int __wrap_pthread_detach(pthread_t it)
{
    if (find_living(it))
        mg_share_unknown();
    return __real_pthread_detach(it);
}
