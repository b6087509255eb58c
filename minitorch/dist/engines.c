/* engines.c -- how the ranks of a team are started: the engines. Each calls mt_replicas_run on every rank, or what
 * divides the model. */
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/crc32c.h"
#include "dist/collectives.h"
#include "dist/mpi.h"
#include "dist/nccl.h"
#include "dist/replicas.h"

typedef struct program {
    const mt_team_config *config;
    mt_team_rank *run;
    void *user;
    int threads; /* of OpenMP, for each rank */
} program;

/* ---- how they add up ------------------------------------------------------------------------------------ */

/* "all-reduce measured: doubling, from 64 KiB on ring" */
static void print_choices(const mt_comm *comm)
{
    static const char *const names[] = {
        [MT_RING] = "ring", [MT_TREE] = "tree", [MT_DOUBLING] = "doubling", [MT_HIERARCHICAL] = "hierarchical"
    };
    printf("all-reduce measured: %s", names[mt_collective_choice(comm, 1)]);
    for (int i = 1; i < (int)MT_COUNT(comm->way); i++)
        if (comm->way[i] != comm->way[i - 1])
            printf(", from %g KiB on %s", (double)(1 << 2 * i) / 2048, names[mt_collective_choice(comm, 1 << 2 * i)]);
    printf("\n");
}

/* Ranks of this machine, under mpirun; else 0. */
static int neighbours(void)
{
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    return local ? atoi(local) : 0;
}

static mt_status choose(mt_comm *comm, const mt_team_config *c)
{
    for (mt_comm *one = comm; one; one = one->channel)
        one->nodes.size = c->node ? (int)c->node : neighbours();
    if (c->all_reduce != MT_BY_TRIAL) {
        mt_collective_fix(comm, (mt_algorithm)c->all_reduce);
        return MT_OK;
    }
    MT_TRY(mt_collective_measure(comm));
    if (comm->rank == 0)
        print_choices(comm);
    return MT_OK;
}

/* ---- threads of this process ------------------------------------------------------------------------- */

static mt_status on_thread(mt_comm *comm, void *user)
{
    const program *p = user;
    char name[16];
    snprintf(name, sizeof name, "rank %d", comm->rank);
    pthread_setname_np(pthread_self(), name); /* in profiles */
    omp_set_num_threads(p->threads);          /* of regions that this thread begins */
    MT_TRY(choose(comm, p->config));
    bool divided = p->config->pp > 1 || p->config->tp > 1;
    return (divided ? mt_team_divide->run : mt_replicas_run)(comm, p->config, p->run, p->user);
}

static mt_status threads(program *p)
{
    const mt_wires wires = { .deadline = p->config->deadline, .checked = true };
    int ranks = (int)p->config->ranks;
    p->threads = mt_max(1, omp_get_max_threads() / ranks);
    return mt_ranks_run(ranks, &wires, on_thread, p);
}

/* ---- processes ----------------------------------------------------------------------------------------- */

static bool of_processes(const mt_team_config *c)
{
    return c->engine && (strcmp(c->engine, "mpi") == 0 || strcmp(c->engine, "nccl") == 0);
}

static mt_status prepare(mt_team_config *c)
{
    int rank, launched = mt_mpi_launched(&rank);
    if (launched > 1) {
        c->engine = c->engine ? c->engine : "mpi";
        c->ranks = c->ranks ? c->ranks : launched;
        c->node = c->node || c->all_reduce != MT_BY_HIERARCHY ? c->node : neighbours();
    }
    if (!of_processes(c))
        return launched > 1 ? mt_fail(MT_ERR_ARGUMENT, "mpirun started %d processes: use --engine mpi", launched)
                            : MT_OK;
    if (launched > 0 && c->ranks > 0 && launched != c->ranks)
        return mt_fail(MT_ERR_ARGUMENT, "--ranks %d: mpirun started %d; leave --ranks out", (int)c->ranks, launched);
    return MT_OK;
}

static mt_status launch(const mt_team_config *c, mt_recipe *recipe)
{
    int rank, launched = mt_mpi_launched(&rank);
    if (!of_processes(c))
        return MT_OK;
    if (launched == 0)
        return c->ranks > 1 ? mt_mpi_launch((int)c->ranks) : MT_OK;
    recipe->memory_report &= rank == 0; /* of which there is one file */
    if (rank > 0 && !freopen("/dev/null", "w", stdout))
        return mt_fail(MT_ERR_IO, "/dev/null: %s", strerror(errno));
    return MT_OK;
}

/* Sums of the executable and of its arguments. */
typedef struct identity {
    uint32_t program, flags;
} identity;

static mt_status add_file(uint32_t *sum, const char *path, bool arguments)
{
    static char bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!file)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0; arguments = false) {
        size_t name = arguments ? strnlen(bytes, n) : 0; /* how the program was called does not matter */
        *sum = mt_crc32c(*sum, bytes + name, (int64_t)(n - name));
    }
    fclose(file);
    return MT_OK;
}

/* Ranks that are not alike would train something else, or wait for each other. */
static mt_status same_program(mt_comm *comm)
{
    identity mine = { 0 };
    MT_TRY(add_file(&mine.program, "/proc/self/exe", false));
    MT_TRY(add_file(&mine.flags, "/proc/self/cmdline", true));
    identity *all = mt_calloc(comm->size, sizeof *all);
    mt_status status = mt_all_gather(comm, all, &mine, sizeof mine, MT_U8, NULL);
    for (int rank = 1; rank < comm->size && status == MT_OK; rank++)
        if (all[rank].program != all[0].program)
            status = mt_fail(MT_ERR_ARGUMENT, "rank %d runs another program than rank 0", rank);
        else if (all[rank].flags != all[0].flags)
            status = mt_fail(MT_ERR_ARGUMENT, "rank %d was started with other flags than rank 0", rank);
    free(all);
    return status;
}

static mt_status processes(program *p)
{
    const mt_wires wires = { .deadline = p->config->deadline, .checked = true };
    mt_comm *comm;
    mt_status status = MT_OK;
    MT_TRY(mt_comm_mpi(&comm, &wires));
    MT_TRY(same_program(comm));
    int here = neighbours(), rank = comm->rank;
    p->threads = mt_max(1, omp_get_max_threads() / (here ? here : comm->size));
    if (strcmp(p->config->engine, "nccl") == 0)
        status = mt_comm_nccl(&comm, comm, p->config->deadline);
    if (status == MT_OK)
        status = on_thread(comm, p);
    if (status == MT_OK || status == MT_ERR_STOPPED) /* else mpirun ends the others: freeing might wait for them */
        mt_comm_free(comm);
    return status == MT_OK ? MT_OK : mt_fail(status, "rank %d: %s", rank, mt_last_error());
}

/* Weak: nccl.cu, where it is linked, has the function. */
__attribute__((weak)) mt_status mt_comm_nccl(mt_comm **out, mt_comm *host, double deadline)
{
    (void)out, (void)deadline;
    mt_comm_free(host);
    return mt_fail(MT_ERR_UNAVAILABLE, "this program was built without NCCL: build it with CUDA=emu, or with CUDA=nvcc "
                                       "where libnccl-dev is installed");
}

/* ---- the choice ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    mt_status (*run)(program *program);
} engines[] = { { "threads", threads }, { "mpi", processes }, { "nccl", processes } };

static mt_status run(const mt_team_config *config, mt_team_rank *rank, void *user)
{
    program p = { config, rank, user, 1 };
    char names[64] = "";
    for (int e = 0; e < (int)MT_COUNT(engines); e++) {
        if (strcmp(config->engine, engines[e].name) == 0)
            return engines[e].run(&p);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", e ? ", " : "", engines[e].name);
    }
    return mt_fail(MT_ERR_ARGUMENT, "there is no engine \"%s\": use one of %s", config->engine, names);
}

static mt_status fits(const mt_team_config *c, const struct mt_gpt2_config *model, int64_t micro)
{
    return mt_team_divide ? mt_team_divide->fits(c, model, micro)
                          : mt_fail(MT_ERR_UNAVAILABLE, "this program cannot divide a model: leave --pp and --tp out");
}

/* Weak: whoever divides models defines it. (Not const: GCC would fold the NULL.) */
__attribute__((weak)) const mt_team_divider *mt_team_divide = NULL;

static const mt_team_starter starter = { run, prepare, fits, launch };
const mt_team_starter *mt_team_start = &starter;
