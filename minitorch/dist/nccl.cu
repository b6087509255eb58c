/* nccl.cu -- communicators over NCCL; see nccl.h. */
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>

#include "dist/nccl_parts.cuh"

/* ---- communicators ------------------------------------------------------------------------------ */

static mt_status nccl_split(mt_comm **out, mt_comm *comm, int color, int key)
{
    member *m = (member *)comm;
    mt_comm *host = NULL;
    mt_status status = mt_comm_split(&host, m->host, color, key);
    return status == MT_OK ? mt_comm_nccl(out, host, m->deadline) : status;
}

static void nccl_free(mt_comm *comm)
{
    member *m = (member *)comm;
    for (lane *l = m->lanes; l < m->lanes + LANES; l++) {
        if (l->nccl && !m->failed)
            m->open || m->held ? ncclCommAbort(l->nccl) : ncclCommDestroy(l->nccl);
        if (l->stream)
            MT_CUDA(cudaStreamDestroy(l->stream));
    }
    mt_comm_free(m->host);
    free(m);
}

static const mt_comm_engine nccl_engine = { "nccl", nccl_collective, nccl_message, nccl_split, nccl_free };

/* This rank's GPU: that of its number among the ranks of this machine. */
static mt_status choose_device(int rank)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID" };
    int count = 0, local = rank;
    for (int i = 2; i >= 0; i--)
        local = getenv(names[i]) ? atoi(getenv(names[i])) : local;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        (void)cudaGetLastError();
        return mt_fail(MT_ERR_UNAVAILABLE, "rank %d: there is no cuda device here", rank);
    }
    if (mt_cuda_is_emulated()) /* each process has one of its own */
        return MT_OK;
    if (local >= count)
        return mt_fail(MT_ERR_UNAVAILABLE, "rank %d is number %d on this machine, which has %d GPUs: start fewer ranks",
                       rank, local, count);
    MT_CUDA(cudaSetDevice(local));
    return MT_OK;
}

ncclResult_t nccl_result(ncclComm_t nccl, ncclResult_t result, double deadline)
{
    enum { AT_ONCE = 1000 };
    double until = mt_now() + deadline;
    for (int tries = 0; result == ncclInProgress && (deadline <= 0 || mt_now() < until); tries++) {
        tries < AT_ONCE ? sched_yield() : usleep(100);
        ncclResult_t asked = ncclCommGetAsyncError(nccl, &result);
        result = asked != ncclSuccess ? asked : result;
    }
    return result;
}

static mt_status join(member *m, lane *l, const ncclUniqueId *id)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclResult_t result = ncclCommInitRankConfig(&l->nccl, m->base.size, *id, m->base.rank, &config);
    result = nccl_result(l->nccl, result, m->deadline);
    if (result == ncclSuccess) {
        MT_CUDA(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
        return MT_OK;
    }
    mt_status status = result == ncclInProgress
                           ? mt_fail(MT_ERR_UNAVAILABLE, "rank %d: not all ranks have joined NCCL within %g s",
                                     m->base.rank, m->deadline)
                           : mt_fail(MT_ERR_UNAVAILABLE, "ncclCommInitRankConfig: %s: %s", ncclGetErrorString(result),
                                     ncclGetLastError(NULL));
    if (l->nccl)
        ncclCommAbort(l->nccl);
    l->nccl = NULL;
    return status;
}

/* What rank 0 tells the others. */
struct told {
    int32_t ready;
    ncclUniqueId id[LANES];
};

mt_status mt_comm_nccl(mt_comm **out, mt_comm *host, double deadline)
{
    told ids = {};
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%d", deadline < 1e6 ? (int)(deadline + 0.999) : 1000000);
    if (mt_cuda_is_emulated() && deadline > 0)
        setenv("CUEMU_NCCL_TIMEOUT", seconds, 0); /* of host calls that wait for the device by themselves */
    mt_status mine = choose_device(host->rank);
    for (int kind = 0; host->rank == 0 && kind < LANES && mine == MT_OK; kind++)
        if (ncclGetUniqueId(&ids.id[kind]) != ncclSuccess)
            mine = mt_fail(MT_ERR_UNAVAILABLE, "ncclGetUniqueId: %s", ncclGetLastError(NULL));
    int32_t bad = mine != MT_OK; /* one rank without a device: no rank begins */
    char words[400] = "";
    snprintf(words, sizeof words, "%s", mine == MT_OK ? "another rank has no device" : mt_last_error());
    mt_status status = mt_all_reduce(host, &bad, 1, MT_I32, MT_MAX, NULL);
    if (status == MT_OK && bad)
        status = mt_fail(MT_ERR_UNAVAILABLE, "%s", words);
    if (status == MT_OK)
        status = mt_broadcast(host, &ids, sizeof ids, MT_U8, 0, NULL);
    if (status != MT_OK) {
        mt_comm_free(host);
        return status;
    }
    member *m = (member *)calloc(1, sizeof *m);
    MT_CHECK(m, "out of memory");
    m->base.rank = host->rank;
    m->base.size = host->size;
    m->base.engine = &nccl_engine;
    m->host = host;
    m->deadline = deadline;
    for (int kind = 0; kind < LANES && status == MT_OK; kind++)
        status = join(m, &m->lanes[kind], &ids.id[kind]);
    if (status == MT_OK)
        *out = &m->base;
    else
        nccl_free(&m->base);
    return status;
}
