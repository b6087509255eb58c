/* labs.h -- all labs that can be graded: those of labs/, in the order of their numbers. */
#pragma once

#include "check.h"

extern const mg_lab *const mg_labs[]; /* ended by NULL */

/* mg_lab_find -- the lab of "01", "1" or "01-matmul"; NULL when there is none. */
const mg_lab *mg_lab_find(const char *name);

/* mg_lab_next -- what `make grade LAB=NN` is given after this step: " STEP=01.2"; "" after the last one. */
const char *mg_lab_next(const mg_lab *lab, const char *step);
