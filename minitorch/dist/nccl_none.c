/* nccl_none.c -- for programs that are linked without nccl.cu; see nccl.h. */
#include "dist/nccl.h"

mt_status mt_comm_nccl(mt_comm **out, mt_comm *host, double deadline)
{
    (void)out, (void)deadline;
    mt_comm_free(host);
    return mt_fail(MT_ERR_UNAVAILABLE, "this program was built without NCCL: build it with CUDA=emu, or with CUDA=nvcc "
                                       "where libnccl-dev is installed");
}
