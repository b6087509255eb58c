/* vector_functions.h -- make_float4() and similar functions are in vector_types.h. */
#include "vector_types.h"
