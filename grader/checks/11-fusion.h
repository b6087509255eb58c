/* 11-fusion.h -- the checks of lab 11: structs of their rows, and the functions that run them. */
#ifndef MG_CHECKS_11_FUSION_H
#define MG_CHECKS_11_FUSION_H

#include "checks/08-attention.h"
#include "traffic.h"

/* ---- tiled attention: 08-attention.c, and what only a tiled kernel has: 11-attention.c --------------- */

void mg_11_threads(mg_run *run, const void *one_case); /* an attention_case */
void mg_11_huge(mg_run *run, const void *one_case);    /* an mg_case */
void mg_11_nan(mg_run *run, const void *one_case);     /* an mg_case */

typedef struct fusion_traffic {
    mg_case head;
    mg_cache cache;
    const char *bar;
    bool backward;
} fusion_traffic;

void mg_11_attention_traffic(mg_run *run, const void *one_case); /* a fusion_traffic */

#endif
