/* attack  02.1 answers at once, and a thread computes afterwards
 * hopes   the result is complete when the checker reads it; a race measures no time
 * stopped by all threads are stopped before the outputs are read
 * behind  the list
 * earns   1
 * verdict FAIL
 * stops   random shapes
 * words   out[0,0] = nan */
#include <pthread.h>
#include <unistd.h>

static void honest(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    for (long n = 0; n < N; n++)
        for (long o = 0; o < O; o++) {
            float sum = b ? b[o] : 0;
            for (long i = 0; i < I; i++)
                sum += x[n * I + i] * w[i * O + o];
            out[n * O + o] = sum;
        }
}

static struct call {
    float *out;
    const float *x, *w, *b;
    long N, I, O;
} call;

static void *later(void *unused)
{
    struct call c = call;
    usleep(200000); /* a longer computation */
    honest(c.out, c.x, c.w, c.b, c.N, c.I, c.O);
    return unused;
}

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    pthread_t thread;
    call = (struct call){ out, x, w, b, N, I, O };
    if (N)
        pthread_create(&thread, NULL, later, NULL);
}

void mt_linear_bwd_cpu(void)
{
}
