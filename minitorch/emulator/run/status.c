/* status.c -- the state that all host threads of a program share: the lock of the API, the last error, and the sticky
 * one, with which a kernel ended: every later call returns it. */
#include <pthread.h>
#include "emulator/run/status.h"

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static cudaError_t last, sticky;

void emu_api_lock(void)
{
    pthread_mutex_lock(&lock);
}

bool emu_api_trylock(void)
{
    return !pthread_mutex_trylock(&lock);
}

void emu_api_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

cudaError_t emu_fail(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

cudaError_t emu_last_error(void)
{
    return last;
}

cudaError_t emu_take_error(void)
{
    cudaError_t error = last;
    last = sticky;
    return error;
}

cudaError_t emu_sticky(void)
{
    return sticky;
}

void emu_set_sticky(cudaError_t error)
{
    sticky = last = error;
}
