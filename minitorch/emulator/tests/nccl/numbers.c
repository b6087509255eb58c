/* numbers.c -- prints the numbers of nccl.h that programs may depend on, and has every call as a pointer of its type:
 * compiled with the emulator's header and with the real one. */
#include <nccl.h>
#include <stdio.h>
#include <string.h>

#define NUMBER(x) printf(#x " %lld\n", (long long)(x))

ncclResult_t (*version)(int *) = ncclGetVersion;
const char *(*error_string)(ncclResult_t) = ncclGetErrorString;
const char *(*last_error)(ncclComm_t) = ncclGetLastError;
ncclResult_t (*unique_id)(ncclUniqueId *) = ncclGetUniqueId;
ncclResult_t (*init_rank)(ncclComm_t *, int, ncclUniqueId, int) = ncclCommInitRank;
ncclResult_t (*init_config)(ncclComm_t *, int, ncclUniqueId, int, ncclConfig_t *) = ncclCommInitRankConfig;
ncclResult_t (*end[])(ncclComm_t) = { ncclCommDestroy, ncclCommAbort };
ncclResult_t (*async_error)(ncclComm_t, ncclResult_t *) = ncclCommGetAsyncError;
ncclResult_t (*ask[])(const ncclComm_t, int *) = { ncclCommCount, ncclCommUserRank };
ncclResult_t (*reduce[])(const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
                         cudaStream_t) = { ncclAllReduce, ncclReduceScatter };
ncclResult_t (*gather)(const void *, void *, size_t, ncclDataType_t, ncclComm_t, cudaStream_t) = ncclAllGather;
ncclResult_t (*broadcast)(const void *, void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) = ncclBroadcast;
ncclResult_t (*to)(const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) = ncclSend;
ncclResult_t (*from)(void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) = ncclRecv;
ncclResult_t (*group[])(void) = { ncclGroupStart, ncclGroupEnd };

int main(void)
{
    NUMBER(ncclSuccess);
    NUMBER(ncclUnhandledCudaError);
    NUMBER(ncclSystemError);
    NUMBER(ncclInternalError);
    NUMBER(ncclInvalidArgument);
    NUMBER(ncclInvalidUsage);
    NUMBER(ncclRemoteError);
    NUMBER(ncclInProgress);
    NUMBER(ncclSum);
    NUMBER(ncclProd);
    NUMBER(ncclMax);
    NUMBER(ncclMin);
    NUMBER(ncclAvg);
    NUMBER(ncclInt8);
    NUMBER(ncclChar);
    NUMBER(ncclUint8);
    NUMBER(ncclInt32);
    NUMBER(ncclInt);
    NUMBER(ncclUint32);
    NUMBER(ncclInt64);
    NUMBER(ncclUint64);
    NUMBER(ncclFloat16);
    NUMBER(ncclHalf);
    NUMBER(ncclFloat32);
    NUMBER(ncclFloat);
    NUMBER(ncclFloat64);
    NUMBER(ncclDouble);
    NUMBER(ncclBfloat16);
    NUMBER(NCCL_UNIQUE_ID_BYTES);
    NUMBER(sizeof(ncclUniqueId));
    NUMBER(sizeof(ncclDataType_t) + sizeof(ncclRedOp_t) + sizeof(ncclResult_t));
    NUMBER(NCCL_VERSION(2, 28, 9));
    NUMBER(ncclAllReduce && version && error_string && last_error && unique_id && init_rank && init_config &&
           async_error && gather);
    for (int result = ncclSuccess; result < ncclNumResults; result++) { /* without the hints of the real one */
        const char *text = ncclGetErrorString((ncclResult_t)result);
        size_t length = strcspn(text, "(-");
        length -= length > 0 && text[length - 1] == ' ';
        printf("%d %.*s\n", result, (int)length, text);
    }
    return 0;
}
