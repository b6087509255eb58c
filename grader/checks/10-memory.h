/* 10-memory.h -- the checks of lab 10: structs of their rows, and the functions that run them. */
#pragma once

#include "check.h"

/* ---- accumulation: 10-accumulate.c ----------------------------------------------------------------- */

/* What a row of accumulation tests. */
typedef enum accumulate_about {
    ACCUMULATE_EQUAL,  /* equal micro-batches, as one batch */
    ACCUMULATE_LAST,   /* the last one is smaller */
    ACCUMULATE_ANY,    /* any sizes, between other batches of the source */
    ACCUMULATE_BITS,   /* equal ones: the bits of shares 1 / micro; one micro-batch: of its own gradients */
    ACCUMULATE_SCALED, /* with a scale of the loss */
    ACCUMULATE_ENDS,   /* the source ends before */
    ACCUMULATE_MEMORY, /* many micro-batches need what two need */
} accumulate_about;

typedef struct accumulate_case {
    mg_case head;
    accumulate_about about;
} accumulate_case;

void mg_10_accumulate(mg_run *run, const void *one_case); /* an accumulate_case */

/* ---- recomputation: 10-recompute.c -------------------------------------------------------------------- */

/* What a row of recomputation looks at. */
typedef enum recompute_about {
    RC_VALUES,       /* every bit of the result, and of gradients where there is a backward */
    RC_NODE,         /* the result has a node; ops afterwards are recorded */
    RC_KEPT,         /* bytes after forward; once in MT_EVAL */
    RC_KEPT_16,      /* with products in 16 bits */
    RC_QUIET,        /* nothing wants a gradient, or inside mt_no_grad */
    RC_DRAWN,        /* random numbers that forward draws */
    RC_SHARED,       /* each layer used twice; values */
    RC_DROPOUT,      /* with dropout, each layer used twice; values */
    RC_DRAWN_AFTER,  /* where the streams are after backward */
    RC_TYPES,        /* another policy, or other keepers, in forward than in backward; values */
    RC_POLICY_AFTER, /* policy, keepers, and whether ops are recorded, after backward; also in MT_EVAL */
    RC_NESTED,       /* at two or three levels of modules; values */
    RC_READY,        /* gradients are ready once */
    RC_FLOPS,        /* as planned, exactly */
    RC_PEAK,         /* of 12 blocks; a bar */
    RC_LEFT,         /* memory after backward */
    RC_MOVED,        /* bytes over the bus, of "offload" */
    RC_LAST,         /* the last layer is offloaded, too; values */
    RC_STAY,         /* no layer is offloaded: nothing moves */
    RC_CLOCK,        /* virtual time: what of the copies is not hidden */
} recompute_about;

typedef struct recompute_case {
    mg_case head;
    const char *function; /* "segments": mt_segment_forward, "selective": mt_selective_forward, "offload" */
    recompute_about about;
    bool backward;
} recompute_case;

void mg_10_recompute(mg_run *run, const void *one_case); /* a recompute_case */
bool mg_10_unused(mg_run *run);                          /* one call more of RC_READY; false: the run has its verdict */

/* ---- the choice of options: 10-choose.c -------------------------------------------------------------- */

/* What a row of choices tests. Budgets go from the least to more than enough. */
typedef enum choose_about {
    CHOOSE_SMALL,   /* few blocks, small numbers: every budget */
    CHOOSE_EXACT,   /* the budget is exactly what some choice needs, or a byte less */
    CHOOSE_WORK,    /* what a block's backward needs is larger than what is kept */
    CHOOSE_PLACE,   /* equal blocks: early ones have room, late ones have not */
    CHOOSE_BEYOND,  /* below the least budget, and what that is */
    CHOOSE_MANY,    /* many different blocks */
    CHOOSE_EQUAL,   /* 96 equal blocks as GPT-2's */
    CHOOSE_LARGE,   /* numbers above 2^53 */
    CHOOSE_NOTHING, /* no blocks, or one option each */
} choose_about;

typedef struct choose_case {
    mg_case head;
    choose_about about;
} choose_case;

void mg_10_choose(mg_run *run, const void *one_case); /* a choose_case */

/* ---- offload: 10-offload.c; when copies are made: 10-recompute.c ------------------------------------------ */

typedef enum stall_about {
    STALL_ANY,
    STALL_LAST,  /* one or two segments */
    STALL_LARGE, /* above 2^32 */
} stall_about;

typedef struct stall_case {
    mg_case head;
    stall_about about;
} stall_case;

typedef enum offload_about {
    OFFLOAD_ANY,
    OFFLOAD_FREE,  /* copies are hidden: all are offloaded */
    OFFLOAD_LEAST, /* the least budget, and below it */
    OFFLOAD_FEW,   /* no segment, one, two */
} offload_about;

typedef struct offload_case {
    mg_case head;
    offload_about about;
} offload_case;

void mg_10_stall(mg_run *run, const void *one_case);   /* a stall_case */
void mg_10_offload(mg_run *run, const void *one_case); /* an offload_case */

/* ---- accounts: 10-account.c ------------------------------------------------------------------------ */

typedef enum live_about {
    LIVE_SUMS,    /* blocks that are allocated and freed */
    LIVE_USES,    /* frees come while another op runs, and allocations would be for another use */
    LIVE_AGAIN,   /* the same few addresses again and again */
    LIVE_UNKNOWN, /* frees of what is not live */
    LIVE_UNSEEN,  /* allocations at addresses that are live */
    LIVE_DEVICES, /* the same addresses on two devices */
    LIVE_LARGE,   /* blocks of more than 4 GiB */
} live_about;

typedef struct live_case {
    mg_case head;
    live_about about;
} live_case;

typedef enum peak_about {
    PEAK_MOMENT, /* each use is largest at a moment of its own */
    PEAK_FIRST,  /* several moments have the largest sum */
    PEAK_LOWER,  /* what comes after the peak is less */
    PEAK_OPS,    /* the most of each op */
    PEAK_STEP,   /* mt_account_note: allocations and frees on two devices */
} peak_about;

typedef struct peak_case {
    mg_case head;
    peak_about about;
} peak_case;

void mg_10_live(mg_run *run, const void *one_case); /* a live_case */
void mg_10_peak(mg_run *run, const void *one_case); /* a peak_case */
