/* statics_end.c -- what stands behind the graded units in the link of a counting worker; see statics.h. */
#include "worker/statics.h"

char mg_data_end[1] = { 1 }, mg_bss_end[1];
