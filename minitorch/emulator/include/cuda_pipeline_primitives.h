/* cuda_pipeline_primitives.h -- asynchronous copies from global to shared memory, of 4, 8 or 16 bytes. */
#ifndef CUEMU_CUDA_PIPELINE_PRIMITIVES_H
#define CUEMU_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

/* The last `zero_filled` of the bytes are not read but zero. */
CUEMU_INLINE void __pipeline_memcpy_async(void *shared, const void *global, size_t size, size_t zero_filled = 0)
{
    cuemu_copy_async(shared, global, (int)size, (int)zero_filled);
}
CUEMU_INLINE void __pipeline_commit()
{
    cuemu_copy_commit();
}
CUEMU_INLINE void __pipeline_wait_prior(size_t groups_left)
{
    cuemu_copy_wait((int)groups_left);
}

#endif
