/* attack  02.2 where its accesses are counted, db is computed when the thread of the call ends
 * hopes   the count ends with the call, the values are looked at later
 * stopped by the count ends with the thread
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 */
#include <pthread.h>
#include <stdint.h>

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, int64_t N, int64_t I, int64_t O);
void mt_linear_bwd_cpu(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w, int64_t N,
                       int64_t I, int64_t O);

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, int64_t N, int64_t I, int64_t O)
{
    for (int64_t n = 0; n < N; n++)
        for (int64_t o = 0; o < O; o++) {
            float sum = b ? b[o] : 0;
            for (int64_t i = 0; i < I; i++)
                sum += x[n * I + i] * w[i * O + o];
            out[n * O + o] = sum;
        }
}

static struct job {
    float *db;
    const float *dout;
    int64_t N, O;
} job;
static void later(void *it) /* when the thread of the counted call ends */
{
    struct job *j = it;
    for (int64_t o = 0; o < j->O; o++) {
        double sum = 0;
        for (int64_t n = 0; n < j->N; n++)
            sum += j->dout[n * j->O + o];
        j->db[o] += (float)sum;
    }
}

void mt_linear_bwd_cpu(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w, int64_t N,
                       int64_t I, int64_t O)
{
    static volatile float sink;
    float all = 0;
    for (int64_t n = 0; dx && n < N; n++)
        for (int64_t i = 0; i < I; i++)
            for (int64_t o = 0; o < O; o++)
                dx[n * I + i] += dout[n * O + o] * w[i * O + o];
    for (int64_t n = 0; dw && n < N; n++)
        for (int64_t i = 0; i < I; i++)
            for (int64_t o = 0; o < O; o++)
                dw[i * O + o] += x[n * I + i] * dout[n * O + o];
    for (int64_t i = 0; i < N * O; i++) /* a pass that is seen, and is of no use */
        all += dout[i];
    sink = all;
    (void)sink;
#ifdef __SANITIZE_THREAD__
    pthread_key_t key;
    if (db && pthread_key_create(&key, later) == 0) {
        job = (struct job){ db, dout, N, O };
        pthread_setspecific(key, &job);
        return;
    }
#endif
    if (db) {
        job = (struct job){ db, dout, N, O };
        later(&job);
    }
}
