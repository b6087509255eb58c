/* own_stack.h -- where the stack of this thread lies, whose accesses are neither counted nor races. */
#pragma once

#include <pthread.h>
#include <stddef.h>

typedef struct mg_stack {
    char *from, *end; /* NULL: not known */
} mg_stack;

static inline mg_stack mg_own_stack(void)
{
    pthread_attr_t attributes;
    void *from = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &from, &size);
        pthread_attr_destroy(&attributes);
    }
    return (mg_stack){ from, (char *)from + size };
}
