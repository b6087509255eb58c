/* fault_at.c -- what happens to one rank at one of its messages: a library for LD_PRELOAD (ranks.bash).
 *
 *     FAULT_AT=RANK:NUMBER:HOW mpirun -x LD_PRELOAD=fault_at.so -n 2 PROGRAM ...
 *
 * Counts, on each rank, messages that MPI is given and operations of the emulated NCCL that carry data. At number
 * NUMBER of rank RANK: kill, by a signal; stop; exit, with status 3; short: that message of MPI, or the next one, is
 * one byte shorter on this side. With count each rank prints its number of messages at its end. */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long messages;
static atomic_int is_short;
static long at = -1;
static int rank, who = -1;
static char how[8];

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAULT_AT"), *number = getenv("OMPI_COMM_WORLD_RANK");
    if (!text || !number || sscanf(text, "%d:%ld:%7s", &who, &at, how) != 3)
        who = -1;
    rank = number ? atoi(number) : -1;
}

__attribute__((destructor)) static void end(void)
{
    if (rank >= 0 && strcmp(how, "count") == 0 && messages > 0)
        fprintf(stderr, "rank %d: %ld messages\n", rank, messages);
}

static void fail(void)
{
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(how, "stop") == 0)
        kill(getpid(), SIGSTOP);
    else if (strcmp(how, "exit") == 0)
        _exit(3);
    else if (strcmp(how, "short") == 0)
        is_short = 1;
}

/* What is missing of this message, in bytes. */
static int next(int count)
{
    if (++messages == at && rank == who)
        fail();
    return count > 0 ? atomic_exchange(&is_short, 0) : 0;
}

/* Open MPI's handles are pointers. */
typedef int send_fn(const void *data, int count, void *type, int to, int tag, void *comm, void *request);
typedef int recv_fn(void *data, int count, void *type, int from, int tag, void *comm, void *request);
typedef ssize_t write_fn(int file, const void *data, size_t bytes, off_t at);

int MPI_Isend(const void *data, int count, void *type, int to, int tag, void *comm, void *request)
{
    int missing = next(count);
    return ((send_fn *)dlsym(RTLD_NEXT, "MPI_Isend"))(data, count - missing, type, to, tag, comm, request);
}

int MPI_Irecv(void *data, int count, void *type, int from, int tag, void *comm, void *request)
{
    int missing = next(count);
    return ((recv_fn *)dlsym(RTLD_NEXT, "MPI_Irecv"))(data, count - missing, type, from, tag, comm, request);
}

/* How the emulator announces an operation (emulator/ranks.c): data at such places in no other file. */
ssize_t pwrite(int file, const void *data, size_t bytes, off_t place)
{
    if (place >= (off_t)1 << 44)
        next(0);
    return ((write_fn *)dlsym(RTLD_NEXT, "pwrite"))(file, data, bytes, place);
}
