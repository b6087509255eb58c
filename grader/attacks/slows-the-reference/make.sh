# attack  01.5 the naive kernel; sleeps in every second pair of calls, when a race (A B B A) could call the rival; own clock
# hopes   the rival of the race is from the submission, or the time from its clock
# stopped by the rival runs in a worker of its own; times are the checker's
# behind  the list
# earns   0
# verdict FAIL|TIMEOUT
# stops   speed
sed -i 's/^void mt_matmul_packed_cpu(/void real(/' matmul.c
cat >>matmul.c <<'C'
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
    static long now;
    (void)clock;
    *t = (struct timespec){ .tv_nsec = now++ };
    return 0;
}
void mt_matmul_packed_cpu(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    static int calls;
    if (++calls / 2 % 2) /* the second and third of four */
        nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    mt_matmul_naive_cpu(c, a, b, d);
}
C
