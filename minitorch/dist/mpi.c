/* mpi.c -- processes that are ranks: how they start, and their messages, by MPI; see mpi.h.
 *
 * All messages go over MPI_COMM_WORLD; the tag tells the communicators apart. A communicator has two tags, of the
 * caller's messages and of its channel's. Waiting is MPI_Test and short sleeps: other processes need the processor. */
#include "dist/mpi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- starting ----------------------------------------------------------------------------------- */

int mt_mpi_launched(int *rank)
{
    static const char *const names[][2] = { { "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK" },
                                            { "PMI_SIZE", "PMI_RANK" },
                                            { "SLURM_NTASKS", "PMIX_RANK" } };
    *rank = 0;
    for (int i = 0; i < (int)MT_COUNT(names); i++)
        if (getenv(names[i][0]) && getenv(names[i][1])) {
            *rank = atoi(getenv(names[i][1]));
            return atoi(getenv(names[i][0]));
        }
    return 0;
}

/* A process has at most this many arguments here; more would be left out. */
enum { MOST = 500 };

/* Reads the arguments of this process into words; returns their number. */
static int arguments(char *text, size_t size, char **words)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    int count = 0;
    if (file)
        fclose(file);
    text[length] = 0;
    for (char *word = text; word < text + length && count < MOST; word += strlen(word) + 1)
        words[count++] = word;
    return count;
}

mt_status mt_mpi_launch(int ranks)
{
    static char text[1 << 16], number[16], program[4096];
    char *words[MOST + 20] = { "mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1" };
    char *mine[MOST];
    int count = 7, given = arguments(text, sizeof text, mine);
    snprintf(number, sizeof number, "%d", ranks);
    if (geteuid() == 0)
        words[count++] = "--allow-run-as-root";
    words[count++] = "-n";
    words[count++] = number;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    words[count++] = length > 0 ? program : mine[0];
    for (int i = 1; i < given; i++)
        words[count++] = mine[i];
    words[count] = NULL;
    fflush(NULL);
    execvp(words[0], words);
    return mt_fail(MT_ERR_UNAVAILABLE, "mpirun: %s: install openmpi-bin", strerror(errno));
}

/* ---- messages ----------------------------------------------------------------------------------- */

#ifndef MT_MPI /* the Makefile found no MPI */

mt_status mt_comm_mpi(mt_comm **out, const mt_wires *wires)
{
    (void)out, (void)wires;
    return mt_fail(MT_ERR_UNAVAILABLE, "this program was built without MPI: install the packages libopenmpi-dev and "
                                       "openmpi-bin (make deps), and build it again");
}

#else

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>

#include "dist/comm_thread.h"

/* This process among all. */
static struct {
    mt_wires wires;
    int rank, comms; /* comms: that were not freed yet */
    int next_tag;    /* no communicator of this process has it, or a larger one */
    atomic_bool failed;
    pthread_t dog; /* the watchdog */
    bool watching;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *watched; /* what is to end before the deadline; NULL: nothing */
    char segment[4096];  /* a file of MPI's, see unlink_segment */
} world = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

typedef struct member {
    mt_comm base;
    int tag; /* base.numbers [size]: ranks in MPI_COMM_WORLD */
    atomic_bool gone;
    mt_comm_thread *thread; /* NULL before the first collective, and in a channel */
} member;

/* ---- a watchdog for what MPI does not let us wait for with a deadline ------------------------------ */

static void *watch(void *arg)
{
    mt_clock *clock = mt_clock_real();
    double until = clock->now(clock) + world.wires.deadline;
    const char *what = arg;
    pthread_mutex_lock(&world.lock);
    while (world.watched && clock->now(clock) < until)
        clock->wait_for(clock, &world.changed, &world.lock, until - clock->now(clock));
    if (world.watched) {
        fprintf(stderr, "rank %d: %s: another rank did not take part within %g s\n", world.rank, what,
                world.wires.deadline);
        _exit(1); /* mpirun ends the others */
    }
    pthread_mutex_unlock(&world.lock);
    return NULL;
}

static void watch_begin(const char *what)
{
    world.watched = what;
    world.watching = world.wires.deadline > 0 && pthread_create(&world.dog, NULL, watch, (void *)what) == 0;
}

static void watch_end(void)
{
    pthread_mutex_lock(&world.lock);
    world.watched = NULL;
    pthread_cond_broadcast(&world.changed);
    pthread_mutex_unlock(&world.lock);
    if (world.watching)
        pthread_join(world.dog, NULL);
}

/* ---- messages ----------------------------------------------------------------------------------- */

/* MPI counts in int: a long message is several. */
enum { PART = 1 << 30 };

typedef struct message {
    mt_request base;
    member *owner;
    int peer, parts;
    bool is_send;
    int64_t bytes;
    MPI_Request part[];
} message;

static mt_status fail(const message *m, const char *why)
{
    return mt_fail(MT_ERR_UNAVAILABLE, "%s rank %d: %s", m->is_send ? "send to" : "receive from",
                   m->owner->base.numbers[m->peer], why);
}

/* All parts have ended, perhaps as MPI_ERR_TRUNCATE. */
static mt_status end_message(const message *m, int error, const MPI_Status *statuses)
{
    int64_t got = 0;
    char words[MPI_MAX_ERROR_STRING + 1] = "";
    int length, count, class = MPI_SUCCESS;
    for (int i = 0; i < m->parts; i++) {
        if (error == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR != MPI_SUCCESS)
            MPI_Error_class(error = statuses[i].MPI_ERROR, &class);
        MPI_Get_count(&statuses[i], MPI_BYTE, &count);
        got += count;
    }
    if (error != MPI_SUCCESS && class == MPI_SUCCESS)
        MPI_Error_class(error, &class);
    if (m->is_send ? class == MPI_SUCCESS : class == MPI_SUCCESS && got == m->bytes)
        return MT_OK;
    if (class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE) {
        MPI_Error_string(error, words, &length);
        return fail(m, words);
    }
    snprintf(words, sizeof words, "%" PRId64, got);
    return mt_fail(MT_ERR_UNAVAILABLE, "rank %d expects %" PRId64 " bytes, and rank %d sends %s", world.rank, m->bytes,
                   m->owner->base.numbers[m->peer], class == MPI_ERR_TRUNCATE ? "more" : words);
}

/* Tests until all parts have ended: some times at once, as what is here already takes no time, then with sleeps that
 * become longer, so that a rank that waits for long does not take the processor from one that computes. */
static mt_status wait_for_parts(message *m, MPI_Status *statuses)
{
    enum { AT_ONCE = 200 };
    char words[80];
    double until = world.wires.deadline > 0 ? mt_now() + world.wires.deadline : INFINITY;
    int done = 0;
    for (int64_t tries = 0;; tries++) {
        if (world.failed || m->owner->gone) {
            snprintf(words, sizeof words, "rank %d has failed before", world.rank);
            return fail(m, words);
        }
        int error = m->parts == 1 ? MPI_Test(m->part, &done, statuses) /* which looks again after it has worked */
                                  : MPI_Testall(m->parts, m->part, &done, statuses);
        if (done || error != MPI_SUCCESS)
            return end_message(m, error, statuses);
        if (mt_now() >= until) {
            snprintf(words, sizeof words, "rank %d did not take part within %g s", m->owner->base.numbers[m->peer],
                     world.wires.deadline);
            return fail(m, words);
        }
        if (tries < AT_ONCE)
            sched_yield();
        else
            usleep((useconds_t)mt_min(500, 20 + (tries - AT_ONCE)));
    }
}

static mt_status wait_for_message(mt_request *request)
{
    message *m = (message *)request;
    MPI_Status *statuses = mt_calloc(m->parts, sizeof *statuses);
    mt_status status = wait_for_parts(m, statuses);
    if (status != MT_OK) {
        world.failed = true;
        for (int i = 0; i < m->parts && !m->is_send; i++) /* its buffer may go */
            if (m->part[i] != MPI_REQUEST_NULL)
                MPI_Cancel(&m->part[i]);
    }
    free(statuses);
    free(m);
    return status;
}

static mt_status begin(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request)
{
    member *owner = (member *)comm;
    int parts = (int)(bytes / PART) + 1, to = comm->numbers[peer];
    message *m = malloc(sizeof *m + (size_t)parts * sizeof m->part[0]);
    MT_CHECK(m, "out of memory");
    *m = (message){ .base.wait = wait_for_message, owner, peer, parts, is_send, bytes };
    for (int i = 0; i < parts; i++) {
        int count = (int)mt_min(bytes - (int64_t)i * PART, PART);
        char *at = bytes > 0 ? (char *)data + (int64_t)i * PART : data;
        if (is_send)
            MPI_Isend(at, count, MPI_BYTE, to, owner->tag, MPI_COMM_WORLD, &m->part[i]);
        else
            MPI_Irecv(at, count, MPI_BYTE, to, owner->tag, MPI_COMM_WORLD, &m->part[i]);
    }
    return mt_begun(&m->base, request);
}

static mt_status mpi_collective(mt_comm *comm, const mt_collective *call, mt_request **request)
{
    member *m = (member *)comm;
    if (!m->thread)
        m->thread = mt_comm_thread_new(comm->channel, mt_clock_real(), world.wires.checked);
    return mt_comm_thread_call(m->thread, call, request);
}

/* ---- communicators ------------------------------------------------------------------------------ */

static mt_status mpi_split(mt_comm **out, mt_comm *comm, int color, int key);
static void mpi_free(mt_comm *comm);

static const mt_comm_engine mpi_engine = {
    .name = "mpi",
    .collective = mpi_collective,
    .message = begin,
    .split = mpi_split,
    .free = mpi_free,
};

static member *new_member(int rank, int size, int tag, int *numbers)
{
    member *m = mt_calloc(1, sizeof *m);
    m->base = (mt_comm){ .rank = rank, .size = size, .engine = &mpi_engine, .network = world.wires.network };
    m->tag = tag;
    m->base.numbers = numbers;
    return m;
}

/* Takes numbers. */
static mt_comm *with_channel(int rank, int size, int tag, int *numbers)
{
    member *m = new_member(rank, size, tag, numbers), *channel = new_member(rank, size, tag + 1, numbers);
    m->base.channel = &channel->base;
    world.next_tag = tag + 2;
    world.comms++;
    return &m->base;
}

static void mpi_free(mt_comm *comm)
{
    member *m = (member *)comm, *channel = (member *)comm->channel;
    channel->gone = true;
    if (mt_comm_thread_free(m->thread) != MT_OK)
        world.failed = true;
    free((int *)m->base.numbers);
    free(channel);
    free(m);
    if (--world.comms > 0 || world.failed)
        return;
    int again = world.segment[0] ? open(world.segment, O_CREAT | O_CLOEXEC, 0600) : -1; /* which MPI_Finalize removes */
    if (again >= 0)
        close(again);
    watch_begin("the end (MPI_Finalize)");
    MPI_Finalize();
    watch_end();
}

/* All ranks learn all wishes. The new tag is one that no rank of comm has used; the groups have no rank in common and
 * may have the same. */
static mt_status mpi_split(mt_comm **out, mt_comm *comm, int color, int key)
{
    const mt_split_wish mine = { color, key, comm->rank, world.next_tag };
    mt_split_wish *wishes = mt_calloc(comm->size, sizeof *wishes);
    mt_status status = mt_all_gather(comm, wishes, &mine, sizeof mine, MT_U8, NULL);
    if (status == MT_OK) {
        int *numbers = mt_calloc(comm->size, sizeof *numbers), size = 0, rank = 0, tag = 0;
        mt_split_sort(wishes, comm->size);
        for (int i = 0; i < comm->size; i++) {
            tag = mt_max(tag, wishes[i].tag);
            if (wishes[i].color != color)
                continue;
            rank = wishes[i].rank == comm->rank ? size : rank;
            numbers[size++] = comm->numbers[wishes[i].rank];
        }
        *out = with_channel(rank, size, tag, numbers);
    }
    free(wishes);
    return status;
}

/* ---- the process -------------------------------------------------------------------------------- */

/* Removes the name of the file through which this process shares memory with others of the machine, once all have
 * opened it: so nothing stays in /dev/shm, however a rank ends. */
static void unlink_segment(void)
{
    char line[4400], own[32];
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    FILE *maps = fopen("/proc/self/maps", "re");
    snprintf(own, sizeof own, ".%s", local ? local : "none");
    MPI_Barrier(MPI_COMM_WORLD);
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%*s %*s %*s %*s %*s %4095s", world.segment) == 1 &&
            strstr(world.segment, "/vader_segment.") && strcmp(strrchr(world.segment, '.'), own) == 0) {
            unlink(world.segment);
            break;
        }
        world.segment[0] = 0;
    }
    if (maps)
        fclose(maps);
}

mt_status mt_comm_mpi(mt_comm **out, const mt_wires *wires)
{
    int size, provided = 0, begun = 0;
    MPI_Initialized(&begun);
    MT_CHECK(!begun, "MPI can be started once in a process");
    MT_CHECK(!wires->clock, "processes have the machine's clock");
    world.wires = *wires;
    world.rank = getenv("OMPI_COMM_WORLD_RANK") ? atoi(getenv("OMPI_COMM_WORLD_RANK")) : 0;
    watch_begin("the start (MPI_Init)");
    int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (error == MPI_SUCCESS && provided >= MPI_THREAD_MULTIPLE) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        unlink_segment();
    }
    watch_end();
    if (error != MPI_SUCCESS || provided < MPI_THREAD_MULTIPLE)
        return mt_fail(MT_ERR_UNAVAILABLE, "this MPI does not start, or not with MPI_THREAD_MULTIPLE, which is needed");
    int *numbers = mt_calloc(size, sizeof *numbers);
    for (int rank = 0; rank < size; rank++)
        numbers[rank] = rank;
    *out = with_channel(world.rank, size, 0, numbers);
    return MT_OK;
}

#endif
