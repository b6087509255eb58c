/* ideas.h -- what the ideas for every kernel (ideas.c) and those for the device alone (ideas_device.c) share. */
#pragma once

#include "checks/kernel.h"

typedef struct mg_asked {
    mg_trial t;
    const mg_kernel_row *row;
    int dims;
} mg_asked;

enum { MG_FEW = 3 }; /* sizes beside a large one */

/* mg_name_part -- what follows is this part of the row. */
void mg_name_part(const mg_asked *a, const char *hint, const char *name, ...) MT_PRINTF(3, 4);

/* mg_with_large -- one size is large, another is `some`, and the others are few. */
mg_trial mg_with_large(const mg_asked *a, int d, int64_t large, int64_t some);

/* mg_launched_nothing -- the call just made had work, or launched nothing. */
bool mg_launched_nothing(const mg_trial *t);

/* The ideas of the same names on the device. */
bool mg_odd_on_device(const mg_asked *a);
bool mg_unaligned_on_device(const mg_asked *a);
bool mg_large_on_device(const mg_asked *a);
bool mg_bits_on_device(const mg_asked *a);
