/* 09-mixed-precision.h -- the checks of lab 09: structs of their rows, and the functions that run them. */
#ifndef MG_CHECKS_09_MIXED_PRECISION_H
#define MG_CHECKS_09_MIXED_PRECISION_H

#include "check.h"

/* ---- conversions: 09-conversions.c ---------------------------------------------------------------- */

/* What a row of conversions tests. */
typedef enum convert_about {
    CONVERT_ALL, /* every pattern of 16 bits, into both other types */
} convert_about;

typedef struct convert_case {
    mg_case head;
    mt_dtype dtype; /* the 16-bit type */
    convert_about about;
} convert_case;

void mg_09_convert(mg_run *run, const void *one_case); /* a convert_case */

#endif
