/* tensor.h -- how the checks of lab 14 learn what tensor-parallel ranks do: their collectives are rows of worker/hub.h,
 * and each has these results. Times are in nanoseconds from the beginning. */
#pragma once

#include "worker/hub.h"

enum {
    MG_TP_STATUS,  /* mt_tp.status in the end */
    MG_TP_FORWARD, /* collectives in forward, */
    MG_TP_CALLS,   /* and in all */
    MG_TP_ENDED,
    MG_TP_RESULTS,
};

/* What a call of mt_tp_copy and mt_tp_reduce does. */
enum { MG_TP_COPY, MG_TP_REDUCE, MG_TP_TWICE /* the sum of two copies of x, reduced, and x reduced */ };

/* What a call of mt_sp_gather and mt_sp_scatter does. */
enum { MG_SP_GATHER, MG_SP_SCATTER, MG_SP_TWICE /* x and twice the scattered sum of what is gathered */ };

/* The gradient of something else: of each logit in a call of mt_tp_cross_entropy, of the table in one of
 * mt_tp_embedding. */
#define MG_TP_MORE 0x1p-10f

/* The numbers of a layer follow those of the hub: x is [B,T,C], H heads, F columns in the MLP. */
enum {
    MG_TP_B = MG_HUB_NUMBERS,
    MG_TP_T,
    MG_TP_C,
    MG_TP_H,
    MG_TP_F,
    MG_TP_NUMBERS,
};

enum { MG_TP_WEIGHTS = 8, MG_TP_LAYOUT = 4 /* rows, groups, width, unit; groups 0: the whole on each rank */ };
