# attack  01.5 a slow kernel that sleeps a little, so that processor time decides the race, and ends just after the last
# hopes   answer of a launch: a process that has ended has used no processor time
# stopped by the end of the process is seen; its processor time is read before
# behind  the list
# earns   0
# verdict CRASH|FAIL|TIMEOUT
sed -i 's/^void mt_matmul_packed_cpu(/static void real(/' matmul.c
cat >>matmul.c <<'C'
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static bool last;
ssize_t write(int fd, const void *bytes, size_t count)
{
    ssize_t done = syscall(SYS_write, fd, bytes, count);
    if (fd == 4 && last && ((const uint32_t *)bytes)[2] == 0x5eed02) {
        for (volatile int i = 0; i < DELAY; i++)
            ;
        syscall(SYS_exit_group, 0);
    }
    return done;
}
void mt_matmul_packed_cpu(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    static int calls;
    mt_matmul_reordered_cpu(c, a, b, d);
    nanosleep(&(struct timespec){ .tv_nsec = 650000000 }, NULL);
    last = ++calls == 5; /* one to warm up, two rounds of two: so slow a race has no more */
}
C
sed -i "1i #define DELAY ${DELAY:-0}" matmul.c
