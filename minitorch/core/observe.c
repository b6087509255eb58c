/* observe.c -- the observers of allocations, and what they are for; see storage.h. */
#include "core/storage.h"

#include <pthread.h>
#include <string.h>

enum { MAX_OBSERVERS = 8 };

typedef struct observer {
    mt_alloc_observer *call;
    void *user;
} observer;

static observer observers[MAX_OBSERVERS];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both */

const char *const mt_use_name[MT_USES] = { "parameters", "optimizer state", "gradients", "activations", "other" };
static _Thread_local mt_memory_use use = MT_USE_UNSAID;

mt_memory_use mt_alloc_for(mt_memory_use wanted)
{
    mt_memory_use before = use;
    use = wanted;
    return before;
}

mt_memory_use mt_alloc_use(void)
{
    return use;
}

/* Observers are called without the lock, because they may allocate. */
static void call_all(mt_device device, const void *data, int64_t bytes)
{
    observer now[MAX_OBSERVERS];
    pthread_mutex_lock(&lock);
    int calls = count;
    memcpy(now, observers, sizeof now);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < calls; i++)
        now[i].call(now[i].user, device, data, bytes);
}

void mt_alloc_observe(mt_alloc_observer *call, void *user)
{
    pthread_mutex_lock(&lock);
    MT_CHECK(count < MAX_OBSERVERS, "%d allocation observers are the most there can be", MAX_OBSERVERS);
    observers[count++] = (observer){ call, user };
    __atomic_store_n(&mt_alloc_hook, call_all, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

void mt_alloc_unobserve(mt_alloc_observer *call, void *user)
{
    int found = 0;
    pthread_mutex_lock(&lock);
    while (found < count && (observers[found].call != call || observers[found].user != user))
        found++;
    MT_CHECK(found < count, "this allocation observer is not registered");
    count--;
    memmove(&observers[found], &observers[found + 1], (size_t)(count - found) * sizeof *observers);
    if (count == 0)
        __atomic_store_n(&mt_alloc_hook, NULL, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}
