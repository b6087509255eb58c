/* cuda_pipeline.h -- only the primitives are emulated. */
#include "cuda_pipeline_primitives.h"
