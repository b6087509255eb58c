/* attack  02.1 answers "the worker's table has no such function", with the right nonce
 * hopes   an error of the grader costs no points
 * stopped by ERROR gives no points, and the row is run three times
 * behind  the list
 * earns   0
 * verdict ERROR */
#include <stdint.h>
#include <unistd.h>

__attribute__((constructor)) static void serve(void)
{
    struct {
        uint64_t nonce;
        uint32_t what;
        int32_t value;
        int64_t distance;
    } reply = { .what = 0x5eed03 }; /* MG_UNKNOWN */
    static char request[2048];
    while (read(3, request, sizeof request) > 0) {
        reply.nonce = *(uint64_t *)request;
        if (write(4, &reply, sizeof reply) != sizeof reply)
            _exit(1);
    }
}

void mt_linear_fwd_cpu(void)
{
}

void mt_linear_bwd_cpu(void)
{
}
