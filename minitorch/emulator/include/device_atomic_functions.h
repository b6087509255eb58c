/* device_atomic_functions.h -- the functions of device code are in cuda_runtime.h. */
#include "cuda_runtime.h"
