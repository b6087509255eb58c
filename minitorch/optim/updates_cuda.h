/* updates_cuda.h -- the update rules on the device; param, grad and state of an mt_update are device memory there, the
 * mt_update itself and its hyper-parameters are the host's. Meaning and state are those of the CPU's kernels in
 * optim/updates.h; launches go to mt_cuda_stream(). Unit: solutions/06-cuda-kernels/updates.cu */
#pragma once

#include "optim/updates.h"

MT_C_BEGIN

mt_update_fn mt_sgd_update_cuda;   /* moves 12 B per element    Lab 06.17 */
mt_update_fn mt_adam_update_cuda;  /* moves 28 B per element; aborts: t < 1    Lab 06.17 */
mt_update_fn mt_adamw_update_cuda; /* moves 28 B per element; aborts: t < 1    Lab 06.17 */

MT_C_END
