/* attack  02.2 where its accesses are counted, db is computed when the thread of the call ends
 * hopes   the count ends with the call, the values are looked at later
 * stopped by the count ends with the thread
 * earns   12
 * verdict FAIL
 * stops   bytes moved for db
 */
#include <pthread.h>
#include <stdint.h>

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

static void sum_columns(float *db, const float *dout, int64_t N, int64_t O)
{
    job = (struct job){ db, dout, N, O };
#ifdef __SANITIZE_THREAD__
    pthread_key_t key;
    if (pthread_key_create(&key, later) == 0) {
        pthread_setspecific(key, &job);
        return;
    }
#endif
    later(&job);
}

#include "../hides-loads-in-arguments/linear.h"
