/* wire.h -- the messages between the checker and a worker: fixed-size structs over two pipes.
 *
 *   checker                                   worker
 *   request (function, where arrays lie) -->  maps the arrays between guard pages
 *                                        <--  reply READY
 *   [freezes it, writes inputs and poison, thaws it]
 *   go                                   -->  calls the function
 *                                        <--  reply DONE
 *   [freezes it, copies the outputs]
 *
 * Every reply repeats the request's random nonce, so none can be sent ahead. A reply is not trusted: the checker
 * validates it with mg_wire_reply_valid and uses it only to know when to continue. */
#pragma once

#include "core/dtype.h"

enum {
    MG_WIRE_NAME = 64,
    MG_WIRE_ARGUMENT = 32,
    MG_WIRE_VALUES = 32,
    MG_PAGE = 4096,
    MG_GUARD = 16 * MG_PAGE, /* inaccessible on both sides of every array */

    /* the worker's only open descriptors, besides 0 (null), 1 and 2 (a pipe) */
    MG_FD_REQUEST = 3,
    MG_FD_REPLY = 4,
    MG_FD_INPUT = 5,  /* sealed memfd: can be mapped read-only only */
    MG_FD_OUTPUT = 6, /* memfd of sealed size */
};

typedef enum mg_kind { MG_IN = 1, MG_OUT, MG_INOUT, MG_I64, MG_F32, MG_F64, MG_NULL, MG_ALIAS } mg_kind;

/* Arrays are in whole pages of an arena: MG_IN in the input memfd, MG_OUT and MG_INOUT in the output memfd. */
typedef struct mg_wire_value {
    uint32_t kind;
    uint32_t dtype;
    uint64_t offset;             /* of the first page in the arena */
    uint64_t bytes;              /* of the array, which is aligned to the end of its pages or to their start */
    int64_t i64;                 /* MG_ALIAS: the number of the array that it is */
    double real;                 /* MG_F32, MG_F64 */
    char name[MG_WIRE_ARGUMENT]; /* empty: the grader's own array behind the arguments: wire_device.h, wire_traffic.h */
} mg_wire_value;

static inline bool mg_wire_is_array(const mg_wire_value *value)
{
    return value->kind == MG_IN || value->kind == MG_OUT || value->kind == MG_INOUT;
}

/* MG_OFF_ONE + number: only one array, mg_unaligned_one of rows/device.h. */
enum { MG_OFF_NONE, MG_OFF_ALL, MG_OFF_ONE };

typedef struct mg_wire_request {
    uint64_t nonce;
    uint32_t count;   /* values used */
    uint32_t threads; /* OpenMP threads of this call */
    uint32_t at_end;  /* arrays end where the guard begins; otherwise they start where the guard ends */
    uint32_t shift;   /* pages by which addresses differ from those of other calls */
    uint32_t off;     /* which arrays on the device begin at a multiple of their type's size only: MG_OFF_... */
    uint32_t unused;
    char function[MG_WIRE_NAME];
    mg_wire_value value[MG_WIRE_VALUES];
} mg_wire_request;

typedef struct mg_wire_go {
    uint64_t nonce;
} mg_wire_go;

typedef enum mg_reply_kind {
    MG_READY = 0x5eed01,
    MG_DONE,
    MG_UNKNOWN,   /* no such function in the worker's table */
    MG_NO_MEMORY, /* the arrays could not be mapped */
    MG_FAULT,     /* a signal that ends it: where. Shown to the student, has no influence on the verdict */
} mg_reply_kind;

/* The worker's status where the check and the call disagree about the arguments (worker/arguments.c). */
enum { MG_EXIT_DISAGREES = MT_EXIT_TODO + 1 };

/* With MG_DONE: the unit aborted, as expected. No other call is made in this worker. */
enum { MG_ABORTED = 1 };

/* The place of a fault: in an array's pages, between them, or elsewhere. */
enum {
    MG_NO_ARRAY = -1,    /* an address outside of the arrays */
    MG_STACK = -2,       /* below the stack */
    MG_RETURN = -3,      /* not a return address, or a jump to where no code is */
    MG_WILD = -4,        /* a value that cannot be an address at all */
    MG_OTHER = -5,       /* not an access to memory: SIGFPE, SIGILL, SIGABRT */
    MG_SMASHED = -6,     /* elsewhere, and the stack does not lead back to main any more */
    MG_SMALL_STACK = -7, /* below the stack of a counted call */
    MG_FRAMES = 16,
};

typedef struct mg_wire_reply {
    uint64_t nonce;
    uint32_t what;
    int32_t value;    /* MG_FAULT: the index of the nearest array, or one of the places above. MG_DONE: MG_ABORTED */
    int64_t distance; /* MG_FAULT: bytes from the array's start; without an array, the address. MG_DONE: bytes that the
                         call allocated and did not free, for the student */
} mg_wire_reply;

/* Follows a reply of MG_FAULT. */
typedef struct mg_wire_trace {
    uint64_t pc[MG_FRAMES]; /* where it was (plus 1), then the return addresses of its callers; 0: no more */
} mg_wire_trace;

static inline uint64_t mg_pages(uint64_t bytes)
{
    return (bytes + MG_PAGE - 1) / MG_PAGE * MG_PAGE;
}

/* mg_wire_reported -- whether the worker reports what the call did: on the emulated device, or counted. */
static inline bool mg_wire_reported(const mg_wire_request *request)
{
    return request->count && !request->value[request->count - 1].name[0];
}

static inline bool mg_wire_reply_valid(const mg_wire_reply *reply, const mg_wire_request *request)
{
    if (reply->nonce != request->nonce || reply->what < MG_READY || reply->what > MG_FAULT)
        return false;
    return reply->what != MG_FAULT || (reply->value >= MG_SMALL_STACK && reply->value < (int32_t)request->count);
}
