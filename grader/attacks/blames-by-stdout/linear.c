/* attack  02.1 answers "the worker's table has no such function" through stdout, which it turns to the reply pipe
 * hopes   the list lets stdout pass, and an error of the grader costs no points
 * stopped by such an answer counts only before the unit is called
 * earns   0
 * verdict CRASH
 * words   unexpected reply */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, long N, long I, long O)
{
    static const char name[] = "mt_linear_fwd_cpu";
    struct {
        uint64_t nonce;
        uint32_t what;
        int32_t value;
        int64_t distance;
    } reply = { 0, 0x5eed03, -1, 0 };
    /* stdout is in .data; behind it in .bss is the worker's request */
    for (const char *p = (const char *)&stdout; p < (const char *)&stdout + (1 << 20); p += 8)
        if (memcmp(p, name, sizeof name) == 0 && p != name) {
            memcpy(&reply.nonce, p - 32, 8); /* its first member */
            break;
        }
    fflush(stdout);
    stdout->_fileno = 4;
    fwrite(&reply, sizeof reply, 1, stdout);
    fflush(stdout);
    (void)out, (void)x, (void)w, (void)b, (void)N, (void)I, (void)O;
}

void mt_linear_bwd_cpu(void)
{
}
