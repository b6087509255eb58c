/* ranks.c -- the processes of one NCCL communicator, connected by a file in memory.
 *
 * The file has no name (memfd_create): it ends with the last process that has it open, however that ends. The id of the
 * communicator says which process made it, and the others open it through /proc. It begins with struct emu_shared; the
 * bytes of announcements follow, those of each rank in a range of their own, and are released when they were taken.
 * Each rank holds a lock on one byte beyond all data: when the process ends, its lock does.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "emulator/api/ranks.h"
#include "emulator/run/setting.h"

#define CHANNELS (EMU_MOST_RANKS * (1 + 2 * EMU_MOST_RANKS))
#define RANGE    ((uint64_t)1 << 44) /* of the file, for each rank; the first has struct emu_shared */
#define LOCKS    ((int64_t)1 << 60)
#define PAGE     ((uint64_t)4096)
#define WHY      400
#define MAGIC    0x6c63636e756d65ull

enum { AWAY, JOINED, LEFT, ABORTED };

typedef struct emu_shared {
    uint64_t magic, nonce;
    uint32_t changes; /* a futex */
    int32_t size;     /* ranks; 0: nobody has joined */
    struct {
        uint32_t state;
        int32_t process;
    } rank[EMU_MOST_RANKS];
    emu_announced slot[CHANNELS][EMU_SLOTS];
} emu_shared;

typedef struct identity {
    uint64_t magic, nonce;
    int32_t process, file;
} identity;

double emu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

uint32_t emu_changes(const emu_ranks *r)
{
    return __atomic_load_n(&r->shared->changes, __ATOMIC_ACQUIRE);
}

static void changed(const emu_ranks *r)
{
    __atomic_fetch_add(&r->shared->changes, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &r->shared->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void emu_wait_for_change(const emu_ranks *r, uint32_t seen)
{
    const struct timespec a_while = { .tv_nsec = 20 * 1000 * 1000 }; /* a process that ends changes nothing here */
    syscall(SYS_futex, &r->shared->changes, FUTEX_WAIT, seen, &a_while, NULL, 0);
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

static struct flock lock_of(int rank, int type)
{
    return (struct flock){ .l_type = (short)type, .l_whence = SEEK_SET, .l_start = LOCKS + rank, .l_len = 1 };
}

static bool lives(const emu_ranks *r, int rank)
{
    struct flock lock = lock_of(rank, F_WRLCK);
    return fcntl(r->file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static uint32_t state_of(const emu_ranks *r, int rank)
{
    return __atomic_load_n(&r->shared->rank[rank].state, __ATOMIC_ACQUIRE);
}

const char *emu_rank_gone(const emu_ranks *r, int rank)
{
    switch (state_of(r, rank)) {
    case LEFT:
        return "has destroyed its communicator";
    case ABORTED:
        return "has aborted its communicator";
    case JOINED:
        return rank == r->rank || lives(r, rank) ? NULL : "has ended";
    default:
        return NULL;
    }
}

static emu_shared *map(int file)
{
    void *at = mmap(NULL, sizeof(emu_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

bool emu_ranks_id(char id[EMU_ID_BYTES], char *why)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    identity mine = { .magic = MAGIC, .process = getpid(), .file = memfd_create("cuemu-nccl", MFD_CLOEXEC) };
    mine.nonce = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec << 20 ^ (uint64_t)mine.process;
    emu_shared *shared = mine.file >= 0 && ftruncate(mine.file, sizeof *shared) == 0 ? map(mine.file) : NULL;
    if (!shared) {
        snprintf(why, WHY, "no memory that processes share: %s", strerror(errno));
        return false;
    }
    shared->magic = MAGIC;
    shared->nonce = mine.nonce;
    munmap(shared, sizeof *shared);
    memset(id, 0, EMU_ID_BYTES);
    memcpy(id, &mine, sizeof mine);
    return true;
}

/* Opens the file that the id names. */
static bool open_shared(emu_ranks *r, const identity *id, char *why)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", id->process, id->file);
    r->file = id->magic == MAGIC ? open(path, O_RDWR | O_CLOEXEC) : -1;
    r->shared = r->file >= 0 ? map(r->file) : NULL;
    if (r->shared && r->shared->magic == MAGIC && r->shared->nonce == id->nonce)
        return true;
    if (id->magic != MAGIC)
        snprintf(why, WHY,
                 "these %d bytes are not an id: rank 0 calls ncclGetUniqueId, and sends all of them to the others",
                 EMU_ID_BYTES);
    else
        snprintf(why, WHY, "process %d, which made the id, has ended, or belongs to another user", id->process);
    return false;
}

/* Takes this rank's place. */
static bool take_place(emu_ranks *r, char *why)
{
    emu_shared *s = r->shared;
    int32_t size = 0;
    uint32_t away = AWAY;
    struct flock lock = lock_of(r->rank, F_WRLCK);
    if (!__atomic_compare_exchange_n(&s->size, &size, r->size, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
        size != r->size) {
        snprintf(why, WHY, "rank %d says that there are %d ranks, another one says %d", r->rank, r->size, size);
        return false;
    }
    for (int other = 0; other < r->size; other++)
        if (state_of(r, other) != AWAY && s->rank[other].process == getpid()) {
            snprintf(why, WHY,
                     "ranks %d and %d are one process: the emulator has one device a process, and a device is one rank",
                     other, r->rank);
            return false;
        }
    if (fcntl(r->file, F_OFD_SETLK, &lock) != 0 ||
        !__atomic_compare_exchange_n(&s->rank[r->rank].state, &away, JOINED, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        snprintf(why, WHY,
                 "rank %d has joined before: is this the id of an earlier communicator, or have two ranks the "
                 "same number?",
                 r->rank);
        return false;
    }
    s->rank[r->rank].process = getpid();
    changed(r);
    return true;
}

int emu_ranks_met(emu_ranks *r, bool wait, char *why)
{
    for (int rank = 0; rank < r->size;) {
        uint32_t seen = emu_changes(r);
        const char *gone = emu_rank_gone(r, rank);
        if (gone && strstr(gone, "ended")) {
            snprintf(why, WHY, "rank %d %s", rank, gone);
            return -1;
        }
        if (state_of(r, rank) != AWAY) {
            rank++;
        } else if (emu_seconds() > r->join_until) {
            snprintf(why, WHY, "rank %d of %d did not call it within %g s", rank, r->size, r->deadline);
            return -1;
        } else if (wait) {
            emu_wait_for_change(r, seen);
        } else {
            return 0;
        }
    }
    if (r->made >= 0)
        close(r->made); /* all have it open */
    r->made = -1;
    return 1;
}

static void release(emu_ranks *r)
{
    if (r->shared)
        munmap(r->shared, sizeof *r->shared);
    if (r->file >= 0)
        close(r->file);
    free(r);
}

emu_ranks *emu_ranks_join(const char id[EMU_ID_BYTES], int size, int rank, char *why)
{
    identity theirs;
    emu_ranks *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    memcpy(&theirs, id, sizeof theirs);
    *r = (emu_ranks){ .file = -1, .rank = rank, .size = size, .end = (uint64_t)(rank + 1) * RANGE };
    r->made = theirs.process == getpid() ? theirs.file : -1;
    r->deadline = (double)emu_setting("CUEMU_NCCL_TIMEOUT", 60);
    r->join_until = emu_seconds() + r->deadline;
    if (open_shared(r, &theirs, why) && take_place(r, why))
        return r;
    release(r);
    return NULL;
}

void emu_ranks_leave(emu_ranks *r, bool aborted)
{
    __atomic_store_n(&r->shared->rank[r->rank].state, aborted ? ABORTED : LEFT, __ATOMIC_RELEASE);
    changed(r);
    release(r);
}

/* ---- announcements ----------------------------------------------------------------------------------------------- */

int emu_channel(emu_channel_kind kind, int rank, int peer)
{
    if (kind == EMU_COLLECTIVES)
        return rank;
    return EMU_MOST_RANKS * (1 + (kind == EMU_RECEIVES ? EMU_MOST_RANKS : 0) + rank) + peer;
}

static emu_announced *slot_of(const emu_ranks *r, int channel, uint64_t number)
{
    return &r->shared->slot[channel][number % EMU_SLOTS];
}

static bool all_written(int file, const char *data, size_t size, off_t at)
{
    while (size > 0) {
        ssize_t n = pwrite(file, data, size, at);
        if (n <= 0)
            return false;
        data += n, size -= (size_t)n, at += n;
    }
    return true;
}

bool emu_announce(emu_ranks *r, int channel, const emu_announced *what, const void *data)
{
    emu_announced *slot = slot_of(r, channel, what->number);
    double until = emu_seconds() + r->deadline;
    for (;;) {
        uint32_t seen = emu_changes(r);
        if (__atomic_load_n(&slot->takers, __ATOMIC_ACQUIRE) == 0)
            break;
        if (emu_seconds() > until)
            return false;
        emu_wait_for_change(r, seen);
    }
    __atomic_store_n(&slot->number, 0, __ATOMIC_RELAXED);
    emu_announced mine = *what;
    mine.at = r->end;
    mine.number = 0;
    r->end += (what->size + PAGE - 1) / PAGE * PAGE;
    if (!all_written(r->file, data, what->size, (off_t)mine.at)) {
        fprintf(stderr, "cuemu: no memory for %zu bytes between ranks: %s\n", (size_t)what->size, strerror(errno));
        exit(2);
    }
    *slot = mine;
    __atomic_store_n(&slot->number, what->number, __ATOMIC_RELEASE);
    changed(r);
    return true;
}

const emu_announced *emu_announcement(const emu_ranks *r, int channel, uint64_t number)
{
    const emu_announced *slot = slot_of(r, channel, number);
    return __atomic_load_n(&slot->number, __ATOMIC_ACQUIRE) == number ? slot : NULL;
}

void emu_bytes(const emu_ranks *r, const emu_announced *what, size_t from, void *to, size_t size)
{
    char *into = to;
    off_t at = (off_t)(what->at + from);
    while (size > 0) {
        ssize_t n = pread(r->file, into, size, at);
        if (n <= 0) {
            perror("cuemu: the memory of ranks");
            exit(2);
        }
        into += n, size -= (size_t)n, at += n;
    }
}

void emu_take(emu_ranks *r, int channel, uint64_t number)
{
    emu_announced *slot = slot_of(r, channel, number);
    uint64_t at = slot->at, size = (slot->size + PAGE - 1) / PAGE * PAGE;
    if (__atomic_fetch_sub(&slot->takers, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    if (size > 0)
        fallocate(r->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)size);
    changed(r);
}
