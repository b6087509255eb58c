/* attack  02.1 answers the checker itself, before main is ever reached
 * hopes   READY and DONE with the right nonce are a pass; nothing is computed, nor even mapped
 * stopped by the answer only says when to look
 * behind  the list
 * earns   1
 * verdict FAIL
 * stops   random shapes
 * words   out[0,0] = nan */
#include <stdint.h>
#include <unistd.h>

__attribute__((constructor)) static void serve(void)
{
    struct {
        uint64_t nonce;
        uint32_t what;
        int32_t value;
        int64_t distance;
    } reply = { 0 };
    static char request[1 << 14]; /* a mg_wire_request comes with one read */
    for (ssize_t n; (n = read(3, request, sizeof request)) > 0;) {
        if (n > 8)
            reply.nonce = *(uint64_t *)request;
        reply.what = n > 8 ? 0x5eed01 : 0x5eed02; /* MG_READY to a request, MG_DONE to a go */
        if (write(4, &reply, sizeof reply) != sizeof reply)
            _exit(1);
    }
    _exit(0);
}

void mt_linear_fwd_cpu(void)
{
}

void mt_linear_bwd_cpu(void)
{
}
