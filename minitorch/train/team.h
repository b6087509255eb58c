/* team.h -- the ranks that train one model together, as a program sees them. Data parallel, each rank has its own share
 * of every micro-batch, and after each step all have the same parameters. Model parallel, a GPT-2 is divided among
 * ranks: its layers (pipeline), or the matrices of each layer (tensor). Ranks that have one whole model together are a
 * replica of it.
 *
 *     { "team", 0, NULL, MT_GROUP(options, team, mt_team_options), "Several ranks:" },       // in its option table
 *     status = mt_team_check(&o.team, &o.recipe, o.batch, &o.caching);
 *     ... all else that may be wrong ...
 *     status = mt_team_launch(&o.team, &o.recipe);
 *     status = mt_team_run(&o.team, train, &o);                  // train(team, &o) on each rank
 *
 * A run alone has no team: NULL, which every function here takes. How ranks are started is offered by what
 * is linked with the program (mt_team_start): without it --ranks is refused. */
#pragma once

#include "train/recipe.h"

MT_C_BEGIN

typedef enum mt_compression { MT_PLAIN, MT_ONE_BIT, MT_TOP_K } mt_compression;

/* How a sum over the ranks is computed (dist/collectives.h). MT_BY_TRIAL: as was fastest at the start of the run, so
 * that sums may differ in the last bit from those of another run, or of the run that this one continues. */
typedef enum mt_all_reduce_by {
    MT_BY_RING,
    MT_BY_TREE,
    MT_BY_DOUBLING,
    MT_BY_HIERARCHY,
    MT_BY_TRIAL,
} mt_all_reduce_by;

typedef enum mt_pp_schedule { MT_PP_1F1B, MT_PP_GPIPE, MT_PP_INTERLEAVED } mt_pp_schedule; /* parallel/pipe.h */

typedef struct mt_team_config {
    int64_t ranks;      /* 0 or 1: alone */
    int64_t dp, pp, tp; /* the mesh (parallel/mesh.h): replicas, stages of each, ranks of a stage; 0: pp
              and tp are 1, dp what ranks leaves, ranks the product */
    bool sequence;      /* the ranks of a stage divide tokens outside the products (parallel/sequence_parallel.h) */
    struct {
        mt_pp_schedule kind;
        int64_t chunks; /* of each rank; 0: 1 */
    } schedule;         /* of a pipeline */
    int64_t zero;       /* stage of dist/zero.h; 0: every rank has the whole optimizer */
    mt_compression compress;
    mt_all_reduce_by all_reduce;
    int64_t node;         /* ranks of a node, for a hierarchy; 0: under mpirun, those of a machine */
    int64_t bucket_bytes; /* 0: 1 MiB */
    double deadline;      /* seconds after which a rank that does not take part ends the run; 0: 600 */
    const char *engine;   /* what connects the ranks; NULL: threads, or under mpirun mpi */
} mt_team_config;

extern const mt_option mt_team_options[];

/* One rank of a team. Functions are collective: every rank calls them, in the same order. They fail when a rank has
 * failed, with words that name it; the run then ends. */
typedef struct mt_team mt_team;
struct mt_team {
    int rank, size;

    /* join -- before the first step: from now on model and optimizer belong to the team, and mt_train_step takes a step
     * on all samples of all ranks, with the result of all of them. Gradients get the memory they need (memory/flat.h).
     * The team adds its part through the hooks of training and optimizer, around what is there already. */
    mt_status (*join)(mt_team *team, mt_training *training);

    mt_status (*mean)(mt_team *team, double *value); /* over all ranks, with the same bits on each */

    /* list -- not collective: append what mt_optim_state of a run alone would; a rank that has a part of the state only
     * appends zeros. gather -- before rank 0 saves: its list ends with `list`, and gets the state of all ranks; NULL on
     * other ranks. share -- after `whole`, and rank 0 has loaded: its values, for every rank; rest ends with `list`. */
    void (*list)(mt_team *team, mt_state *rest);
    mt_status (*gather)(mt_team *team, const mt_state *rest);
    mt_status (*share)(mt_team *team, const mt_state *model, const mt_state *rest);

    void (*leave)(mt_team *team); /* not collective; before the optimizer is freed */

    int replica, replicas; /* which share of each batch is this rank's, and how many there are */

    bool stop;        /* a Ctrl-C has reached one of the ranks: true on every rank after the same step */
    mt_status failed; /* of the latest step */

    struct mt_comm *comm; /* of all ranks */

    /* sent -- not collective: the bytes of gradients, parameters and activations that this rank has sent. NCCL does not
     * say: 0. */
    int64_t (*sent)(const mt_team *team);

    /* tell -- all [size, bytes] becomes what each rank has told, in order of rank. */
    mt_status (*tell)(mt_team *team, void *all, const void *mine, int64_t bytes);

    /* ---- a divided model only; NULL: each rank has all of it */

    /* place -- before the optimizer is made: of a GPT-2, which has the same values on all ranks, its part stays. */
    mt_status (*place)(mt_team *team, mt_module *model);

    /* loss -- as mt_corpus_loss, of the samples of all ranks; instead of that and `mean`. */
    mt_status (*loss)(mt_team *team, double *loss, mt_loader *loader);

    /* move -- instead of gather and share. own: the two lists of this rank, the model's and the rest; whole: those of a
     * run alone, on rank 0, else empty. Saving, whole gets the values that the ranks have; else they get those of
     * whole, each its part. */
    mt_status (*move)(mt_team *team, const mt_state own[2], const mt_state whole[2], bool saving);

    /* whole -- until the next step every rank has all parameters, and may read them without the others; after gather
     * it may, too. NULL: it always may. */
    mt_status (*whole)(mt_team *team);
};

/* mt_team_check -- puts defaults in the place of zeros. MT_ERR_ARGUMENT, with words, where these do not go together.
 * batch: samples of a micro-batch of all ranks. caching: 1, the device's memory comes from a pool, or 0. With a GPU
 * each, ranks get one: cudaFree would wait for messages of other ranks, which may wait for this one. */
mt_status mt_team_check(mt_team_config *config, const mt_recipe *recipe, int64_t batch, unsigned *caching);

/* mt_team_fits -- after mt_team_check: MT_ERR_ARGUMENT, with words, if this model, in steps of so many micro-batches,
 * cannot be divided so. */
struct mt_gpt2_config;
mt_status mt_team_fits(const mt_team_config *config, const struct mt_gpt2_config *model, int64_t micro);

/* mt_team_launch -- after all checks: ranks that are processes begin here. mpirun starts the program again in each, and
 * it comes here once more; from here on only rank 0 prints, and has a --memory-report: of its process. */
mt_status mt_team_launch(const mt_team_config *config, mt_recipe *recipe);

/* mt_team_text -- the strategy, for people: "2 ranks (threads), ZeRO stage 1, buckets of 1.0 MB". Lent until the
 * next call of the thread. */
const char *mt_team_text(const mt_team_config *config);

/* mt_team_run -- run(team, user) on each rank, or run(NULL, user) alone. The status of the rank that failed. */
typedef mt_status mt_team_rank(mt_team *team, void *user);
mt_status mt_team_run(const mt_team_config *config, mt_team_rank *run, void *user);

/* mt_team_share -- this rank's part of the batches of a source: the samples of its replica. */
mt_batch_source mt_team_share(const mt_team *team, mt_batch_source source);

/* mt_team_state -- `list` of a team, or mt_optim_state. */
void mt_team_state(const mt_team *team, mt_state *rest, mt_optim *optim);

static inline mt_status mt_team_whole(mt_team *team)
{
    return team && team->whole ? team->whole(team) : MT_OK;
}

static inline int mt_team_size(const mt_team *team)
{
    return team ? team->size : 1;
}

static inline int mt_team_replicas(const mt_team *team)
{
    return team ? team->replicas : 1;
}

static inline bool mt_team_divides(const mt_team *team)
{
    return team && team->place;
}

/* Whether this rank writes files and prints. */
static inline bool mt_team_first(const mt_team *team)
{
    return !team || team->rank == 0;
}

/* ---- extension point: how the ranks of a team are started; NULL: this program has none ------------------------- */
typedef struct mt_team_starter {
    mt_status (*run)(const mt_team_config *config, mt_team_rank *run, void *user);
    mt_status (*prepare)(mt_team_config *config); /* of mt_team_check: what mpirun has chosen */
    mt_status (*fits)(const mt_team_config *config, const struct mt_gpt2_config *model, int64_t micro);
    mt_status (*launch)(const mt_team_config *config, mt_recipe *recipe);
} mt_team_starter;
extern const mt_team_starter *mt_team_start;

MT_C_END
