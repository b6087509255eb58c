/* device_launch_parameters.h -- threadIdx and similar variables are in cuda_runtime.h. */
#include "cuda_runtime.h"
