/* xorwow.c -- steps of cuRAND's XORWOW, many at a time (include/curand_kernel.h).
 *
 * One step is linear over the 160 bits of v, so 2^k steps are a matrix: that of 2^(k-1) steps, squared. They are made
 * when they are first needed. */
#include <pthread.h>
#include <string.h>
#include "emulator/run/worker.h"

enum { WORDS = 5, BITS = 32 * WORDS, MOST = 67 + 64 };
typedef uint32_t column[WORDS];

static column matrix[MOST][BITS]; /* [k][i]: what 2^k steps make of bit i */
static int made;

static void multiply(column v, const column m[BITS])
{
    column product = { 0 };
    for (int i = 0; i < BITS; i++)
        for (int w = 0; w < WORDS && v[i / 32] >> i % 32 & 1; w++)
            product[w] ^= m[i][w];
    memcpy(v, product, sizeof product);
}

static void step(column v)
{
    const uint32_t t = v[0] ^ v[0] >> 2, last = v[4];
    memmove(v, v + 1, 4 * sizeof v[0]);
    v[4] = last ^ last << 4 ^ t ^ t << 1;
}

static void make(int k)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    for (; made <= k; __atomic_store_n(&made, made + 1, __ATOMIC_RELEASE))
        for (int i = 0; i < BITS; i++) {
            column *c = &matrix[made][i];
            memset(*c, 0, sizeof *c);
            (*c)[i / 32] = 1u << i % 32;
            if (made == 0)
                step(*c);
            for (int twice = 0; twice < 2 && made > 0; twice++)
                multiply(*c, matrix[made - 1]);
        }
    pthread_mutex_unlock(&lock);
}

void cuemu_xorwow_advance(uint32_t v[5], uint64_t n, int doublings)
{
    emu_worker *worker = emu_this_worker();
    if (worker)
        worker->busy++; /* it holds a lock */
    for (int k = doublings; n > 0; k++, n >>= 1) {
        if (k >= __atomic_load_n(&made, __ATOMIC_ACQUIRE))
            make(k);
        if (n & 1)
            multiply(v, matrix[k]);
    }
    if (worker)
        worker->busy--;
}
