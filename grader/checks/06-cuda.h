/* 06-cuda.h -- the cases of lab 06. */
#ifndef MG_CHECKS_06_CUDA_H
#define MG_CHECKS_06_CUDA_H

#include "check.h"

typedef struct elements_case {
    mg_case head;
    const char *function;
} elements_case;

typedef struct traffic_case {
    mg_case head;
    const char *function, *bar;
} traffic_case;

void mg_06_saxpy(mg_run *run, const void *one_case);
void mg_06_saxpy_traffic(mg_run *run, const void *one_case);

#endif
