/* vector_functions.h -- make_float4() and its kin stand with their types. */
#include "vector_types.h"
