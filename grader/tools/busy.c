/* busy.c -- a neighbour for `make steady`: keeps a processor busy until it is killed, or its parent ends.
 *
 *   busy arithmetic   a chain of additions
 *   busy memory       adds to 256 MiB, again and again: takes memory bandwidth, and the cache that cores share */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { NUMBERS = 64 << 20 };

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "arithmetic") != 0 && strcmp(argv[1], "memory") != 0)) {
        fprintf(stderr, "usage: busy arithmetic|memory\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argv[1][0] == 'a')
        for (volatile float x = 0;;)
            x = x * 0.5f + 1;
    float *x = calloc(NUMBERS, sizeof *x);
    for (float round = 1; x; round++)
        for (int i = 0; i < NUMBERS; i++)
            x[i] += round;
    return 1;
}
