/* nccl_parts.cuh -- shared by nccl.cu (communicators) and nccl_run.cu (operations). */
#pragma once

#include <nccl.h>

#include "cuda/cuda.h"
#include "dist/nccl.h"

/* A lane has its own communicator of NCCL, which runs its operations in order: collectives; messages to a rank with a
 * higher number; to one with a lower. So ranks that all send first, in a ring, do not wait for each other. */
enum lane_kind { COLLECTIVES, UPWARDS, DOWNWARDS, LANES };

struct lane {
    ncclComm_t nccl;
    cudaStream_t stream;
};

struct request;

struct member {
    mt_comm base; /* first: an mt_comm is cast to this */
    mt_comm *host;
    double deadline;
    lane lanes[LANES];
    request *held; /* messages that have not begun, in the order of their calls */
    int64_t calls; /* of collectives of device memory, so far */
    int open;      /* requests on the device that were not waited for */
    bool failed;
    char words[400];
};

struct request {
    mt_request base;
    member *owner;
    request *next;
    cudaEvent_t done; /* NULL: a message that has not begun */
    char what[120];
    void *data;
    int64_t bytes;
    lane_kind kind;
    int peer;
    bool is_send;
    void *keys; /* of a maximum: [key_bytes], freed when it is done */
    int64_t key_bytes;
};

/* ---- nccl.cu ---- */
/* Waits for the result of a call, because communicators do not block; ncclInProgress: none came by the deadline. */
ncclResult_t nccl_result(ncclComm_t nccl, ncclResult_t result, double deadline);

/* ---- nccl_run.cu: what mt_comm_engine wants ---- */
mt_status nccl_collective(mt_comm *comm, const mt_collective *c, mt_request **handle);
mt_status nccl_message(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **handle);
