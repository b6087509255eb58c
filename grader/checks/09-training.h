/* 09-training.h -- the checks of steps 09.4 to 09.9 and of 09.11: structs of their rows, and the functions that run
 * them. */
#pragma once

#include "check.h"
#include "ops/policy.h"

/* ---- policy and kept copies: 09-autocast.c ------------------------------------------------------- */

typedef struct policy_case {
    mg_case head;
    mt_op_kind kind; /* asked for with every chosen type and every type of the input */
} policy_case;

/* What a row of kept copies tests. */
typedef enum copies_about {
    COPIES_VALUES,      /* parameters and activations of every size, each copied once */
    COPIES_ONCE,        /* one parameter in several micro-batches */
    COPIES_WRITTEN,     /* written between them */
    COPIES_OTHER_TYPE,  /* bf16 and f16 in turn */
    COPIES_ACTIVATIONS, /* of data, and of what was computed from a parameter, several times */
    COPIES_SEVERAL,     /* of several parameters in turn, two of them in the same memory */
    COPIES_RANDOM,      /* everything in random order */
} copies_about;

typedef struct copies_case {
    mg_case head;
    copies_about about;
} copies_case;

typedef struct network_case {
    mg_case head;
    bool keeper; /* what is saved goes through the unit's keeper */
} network_case;

void mg_09_policy(mg_run *run, const void *one_case);  /* a policy_case */
void mg_09_network(mg_run *run, const void *one_case); /* a network_case */
void mg_09_copies(mg_run *run, const void *one_case);  /* a copies_case */

/* ---- scaler and unscaling: 09-scaler.c, 09-unscale.c ------------------------------------------------------------ */

typedef enum scaler_about {
    SCALER_GOOD,     /* finite steps only */
    SCALER_OVERFLOW, /* finite steps with single others between them */
    SCALER_IN_A_ROW, /* several others one after the other */
    SCALER_RANDOM,   /* any order, small intervals, 1 too */
    SCALER_LIMITS,   /* at both ends of the range */
} scaler_about;

typedef struct scaler_case {
    mg_case head;
    scaler_about about;
} scaler_case;

typedef enum unscale_about {
    UNSCALE_EXACT,     /* the norm is at most max_norm: divided exactly */
    UNSCALE_CLIPPED,   /* it is above */
    UNSCALE_RANGE,     /* tiny and huge gradients and scales */
    UNSCALE_INFINITE,  /* an element is inf or NaN */
    UNSCALE_NOTHING,   /* no arrays, empty ones, gradients of 0, a limit of 0 */
    UNSCALE_THREADS,   /* the same bits with any number of threads */
    UNSCALE_TRAFFIC,   /* bytes moved, with a scale */
    UNSCALE_UNTOUCHED, /* bytes moved, scale 1 and no clipping */
} unscale_about;

typedef struct unscale_case {
    mg_case head;
    unscale_about about;
} unscale_case;

void mg_09_scaler(mg_run *run, const void *one_case);  /* a scaler_case */
void mg_09_unscale(mg_run *run, const void *one_case); /* an unscale_case */

/* ---- master: 09-master.c -------------------------------------------------------------------------- */

typedef enum master_about {
    MASTER_STEPS,    /* some steps: parameter, states and copy after each */
    MASTER_SIZES,    /* around the sizes of pieces; empty */
    MASTER_ROUNDING, /* parameters of every magnitude */
    MASTER_THREADS,  /* the same bits with any number of threads */
    MASTER_TRAFFIC,  /* bytes moved */
} master_about;

typedef struct master_case {
    mg_case head;
    master_about about;
} master_case;

void mg_09_master(mg_run *run, const void *one_case); /* a master_case */

/* ---- moments of 8 bits: 09-state8.c ----------------------------------------------------------------- */

typedef enum state8_about {
    STATE8_LEVELS,  /* decodes every code */
    STATE8_CODES,   /* encodes numbers of every size, in blocks of every size */
    STATE8_EDGES,   /* encodes levels and what is beside them, below the smallest, 0, and scales at powers of two */
    STATE8_UPDATE,  /* updates parameters of every size, some steps */
    STATE8_THREADS, /* the same bits with any number of threads */
    STATE8_TRAFFIC, /* bytes moved */
} state8_about;

typedef struct state8_case {
    mg_case head;
    state8_about about;
} state8_case;

void mg_09_state8(mg_run *run, const void *one_case); /* a state8_case */

/* ---- saved tensors: 09-keep.c ----------------------------------------------------------------------- */

typedef enum keep_about {
    KEEP_VALUES,  /* activations of every size, which come back rounded */
    KEEP_OTHERS,  /* what is not an activation, which comes back as it was */
    KEEP_SHARED,  /* with products that read the same tensor, and with a second op */
    KEEP_WRITTEN, /* written in place before and after */
    KEEP_POLICY,  /* f32, and one autocast inside another */
    KEEP_RANDOM,  /* everything in random order */
} keep_about;

typedef struct keep_case {
    mg_case head;
    keep_about about;
} keep_case;

void mg_09_keep(mg_run *run, const void *one_case);       /* a keep_case */
void mg_09_kept_bytes(mg_run *run, const void *one_case); /* an mg_case */
