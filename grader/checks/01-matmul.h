/* 01-matmul.h -- the checks of lab 01: one struct for all rows, and the functions that run them. */
#pragma once

#include "check.h"
#include "kernels/matmul.h"
#include "rows/traffic.h"

typedef enum matmul_about {
    MM_SIZES,   /* plain products of every awkward size */
    MM_TRANS,   /* A, B, or both transposed */
    MM_STRIDES, /* leading dimensions with gaps, adding to C, NaN in a C to be overwritten */
} matmul_about;

typedef struct matmul_case {
    mg_case head;
    const char *function;
    matmul_about about;
} matmul_case;

typedef struct matmul_count {
    mg_case head;
    const char *bar, *function;
    mg_cache cache;
} matmul_count;

typedef struct matmul_race {
    mg_case head;
    int64_t M, N, K;
    const char *bar, *ours, *theirs, *against;
    int threads;
} matmul_race;

/* 01-run.c */
void mg_01_values(mg_run *run, const void *one_case); /* a matmul_case */
void mg_01_blocks(mg_run *run, const void *one_case);
void mg_01_threads(mg_run *run, const void *one_case);
void mg_01_traffic(mg_run *run, const void *one_case); /* a matmul_count */
void mg_01_race(mg_run *run, const void *one_case);    /* a matmul_race */
