/* statics_begin.c -- what stands before the graded units in the link of a counting worker; see statics.h. */
#include "worker/statics.h"

char mg_data_begin[1] = { 1 }, mg_bss_begin[1];
