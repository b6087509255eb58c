/* nccl_run.h -- shared by nccl.c (the calls), nccl_run.c (operations between call and end) and nccl_reduce.c. */
#ifndef EMU_NCCL_RUN_H
#define EMU_NCCL_RUN_H

#include "emulator/api/pending.h"
#include "emulator/api/ranks.h"
#include "emulator/include/nccl.h"

typedef enum { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, SEND, RECV } emu_nccl_kind;

struct ncclComm {
    struct ncclComm *next;
    emu_ranks *ranks; /* NULL: destroyed or aborted */
    int rank, size;
    const char *ended;                                                     /* the call that ended it */
    uint64_t collectives, sends[EMU_MOST_RANKS], receives[EMU_MOST_RANKS]; /* so far */
    bool joining;                                                          /* until all ranks have come */
    int open;                                                              /* operations that have not ended */
    ncclResult_t failed;
    char words[400]; /* why, or the last misuse */
};

typedef struct emu_transfer {
    emu_pending base;
    emu_nccl_kind kind;
    ncclComm_t comm;
    const void *in; /* NULL: this rank gives nothing */
    void *out;      /* NULL: it gets nothing */
    size_t in_size, out_size;
    size_t count; /* as the call says it */
    ncclDataType_t type;
    ncclRedOp_t reduction;
    int peer;        /* of SEND and RECV; the root of BROADCAST, else 0 */
    uint64_t number; /* in its channel */
    uint64_t group;  /* operations of one group begin together */
    bool announced;
    double until; /* when its waiting ends in an error; 0: it has not begun */
    struct emu_transfer *next;
} emu_transfer;

/* ---- nccl_run.c ---- */
void emu_nccl_begin(emu_transfer *op, cudaStream_t stream);
void emu_nccl_say(const emu_transfer *op, char *text, size_t size); /* "ncclAllReduce of 8 f32 (call 3)" */
const char *emu_nccl_name(emu_nccl_kind kind);
const char *emu_nccl_type_name(ncclDataType_t type); /* NULL: the emulator does not have it */
size_t emu_nccl_type_size(ncclDataType_t type);

/* ---- nccl_reduce.c: out [count] becomes the reduction of what all ranks sent, from element `first` on ---- */
void emu_nccl_reduce(const emu_transfer *op, size_t first, size_t count);

#endif
