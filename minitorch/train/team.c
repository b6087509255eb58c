/* team.c -- the options of a team, and a run without one; see team.h. */
#include "train/team.h"

#include <stdio.h>
#include <string.h>

/* Weak: whoever starts ranks defines it. (Not const: GCC would fold the NULL.) */
__attribute__((weak)) const mt_team_starter *mt_team_start = NULL;

static const char *const compressions[] = { [MT_PLAIN] = "none", [MT_ONE_BIT] = "1bit", [MT_TOP_K] = "topk", NULL };

static const char *const all_reduces[] = { [MT_BY_RING] = "ring",         [MT_BY_TREE] = "tree",
                                           [MT_BY_DOUBLING] = "doubling", [MT_BY_HIERARCHY] = "hierarchical",
                                           [MT_BY_TRIAL] = "measured",    NULL };

static const char *const schedules[] = {
    [MT_PP_1F1B] = "1f1b", [MT_PP_GPIPE] = "gpipe", [MT_PP_INTERLEAVED] = "interleaved", NULL
};

/* "NAME" or "NAME:NUMBER"; without a number it becomes 0. */
static mt_status numbered(unsigned *name, int64_t *number, const char *what, const char *text, const char *const *names)
{
    size_t length = strcspn(text, ":");
    *number = 0;
    mt_status status = mt_cli_choice(name, what, strndupa(text, length), names);
    return status == MT_OK && text[length] ? mt_cli_i64(number, text + length + 1, 1, 1024) : status;
}

/* "interleaved:4": so many chunks a rank. */
static mt_status schedule(const char *text, void *field)
{
    mt_team_config *c = (void *)((char *)field - offsetof(mt_team_config, schedule));
    mt_status status = numbered(&c->schedule.kind, &c->schedule.chunks, "schedule", text, schedules);
    if (c->schedule.chunks == 0)
        c->schedule.chunks = c->schedule.kind == MT_PP_INTERLEAVED ? 2 : 1;
    return status;
}

/* "hierarchical:4": so many ranks a node. */
static mt_status all_reduce(const char *text, void *field)
{
    mt_team_config *c = (void *)((char *)field - offsetof(mt_team_config, all_reduce));
    return numbered(&c->all_reduce, &c->node, "all-reduce", text, all_reduces);
}

static mt_status bytes(const char *text, void *field)
{
    return mt_cli_bytes(field, text);
}

const mt_option mt_team_options[] = {
    { "ranks", 0, "N", MT_I64(mt_team_config, ranks, 1, 1024),
      "Number of ranks, which share the threads; default: dp x pp x tp" },
    { "dp", 0, "N", MT_I64(mt_team_config, dp, 1, 1024),
      "Replicas of the model, which share each micro-batch; default: what --ranks leaves" },
    { "pp", 0, "N", MT_I64(mt_team_config, pp, 1, 1024),
      "Stages: each has some of the layers, and works on one micro-batch after the other; default: 1" },
    { "tp", 0, "N", MT_I64(mt_team_config, tp, 1, 1024),
      "Ranks among which the matrices of each layer are divided; default: 1" },
    { "sp", 0, NULL, MT_FLAG(mt_team_config, sequence),
      "Sequence parallelism: the ranks of --tp also divide the tokens of layernorms and the residual stream" },
    { "pp-schedule", 0, "NAME", MT_PARSED(mt_team_config, schedule, schedule),
      "Schedule of the stages: 1f1b, gpipe, interleaved[:CHUNKS] (several parts of the model a rank, 2); default: "
      "1f1b" },
    { "zero", 0, "STAGE", MT_I64(mt_team_config, zero, 0, 3),
      "What is divided among replicas: the optimizer's state (1), also with --pp and --tp, the gradients, too (2), "
      "the parameters, too (3)" },
    { "compress", 0, "HOW", MT_CHOICE(mt_team_config, compress, compressions),
      "Compression of gradients sent between ranks: none, 1bit (one bit per element) or topk (the largest 1 %)" },
    { "all-reduce", 0, "HOW", MT_PARSED(mt_team_config, all_reduce, all_reduce),
      "Algorithm of sums over the ranks: ring, tree, doubling; hierarchical[:N], rings in nodes of N ranks and between "
      "them (under mpirun, N is the ranks of a machine); measured, the fastest in trials at the start: a run may then "
      "differ from another in the last bits; default: ring" },
    { "bucket", 0, "SIZE", MT_PARSED(mt_team_config, bucket_bytes, bytes),
      "Size of the gradients that are sent together, while backward goes on; default: 1MiB" },
    { "engine", 0, "NAME", MT_TEXT(mt_team_config, engine),
      "Connection of the ranks: threads; mpi, processes that mpirun starts; nccl, processes with one GPU each"
      "; default: threads, under mpirun mpi, with --device cuda nccl" },
    { "deadline", 0, "SECONDS", MT_F64(mt_team_config, deadline, 1e-3, 1e9),
      "Time after which a rank that does not take part ends the run; default: 600" },
    { 0 },
};

static mt_status refuse(const mt_team_config *c, const char *why)
{
    return mt_fail(MT_ERR_ARGUMENT, "--ranks %d: %s", (int)c->ranks, why);
}

static mt_status fill_mesh(mt_team_config *c)
{
    int64_t pp = c->pp ? c->pp : 1, tp = c->tp ? c->tp : 1;
    int64_t ranks = c->ranks ? c->ranks : mt_max(1, c->dp) * pp * tp, dp = c->dp ? c->dp : mt_max(1, ranks / (pp * tp));
    if (dp * pp * tp != ranks || ranks > 1024)
        return mt_fail(MT_ERR_ARGUMENT, "--dp %d x --pp %d x --tp %d are not %d ranks, but %d (of at most 1024)",
                       (int)dp, (int)pp, (int)tp, (int)ranks, (int)(dp * pp * tp));
    c->ranks = ranks, c->dp = dp, c->pp = pp, c->tp = tp;
    return MT_OK;
}

/* What a model that is divided among ranks cannot do. */
static mt_status check_divided(const mt_team_config *c, const mt_recipe *recipe)
{
    const char *why = NULL;
    if (c->schedule.chunks > 1 && c->pp == 1)
        return mt_fail(MT_ERR_ARGUMENT, "--pp-schedule interleaved is of several stages: use --pp");
    if (c->sequence && c->tp == 1)
        return mt_fail(MT_ERR_ARGUMENT, "--sp divides tokens among the ranks of --tp 2 and more: use --tp");
    if (c->pp == 1 && c->tp == 1)
        return MT_OK;
    if (c->zero > 1)
        why = "stages 2 and 3 of ZeRO are for ranks that have the whole model each: use --zero 1";
    if (c->compress != MT_PLAIN)
        why = "--compress is for ranks that have the whole model each: use --dp";
    if (mt_update_rules[recipe->optimizer].whole || recipe->dtype == MT_F16)
        why = "adafactor, muon and the loss scale of f16 need the whole gradients: use --dp";
    if (recipe->state8)
        why = "--state 8 has blocks of whole parameters: use --dp";
    if (c->all_reduce == MT_BY_HIERARCHY)
        why = "nodes are known of all ranks, and not of those that have a part of the model: use --all-reduce ring";
    return why ? mt_fail(MT_ERR_ARGUMENT, "--pp %d --tp %d: %s", (int)c->pp, (int)c->tp, why) : MT_OK;
}

mt_status mt_team_check(mt_team_config *c, const mt_recipe *recipe, int64_t batch, unsigned *caching)
{
    if (recipe->device != MT_CPU && !c->engine)
        c->engine = "nccl";
    if ((mt_team_start && mt_team_start->prepare(c) != MT_OK) || fill_mesh(c) != MT_OK)
        return MT_ERR_ARGUMENT;
    c->schedule.chunks = mt_max(1, c->schedule.chunks);
    c->bucket_bytes = c->bucket_bytes ? c->bucket_bytes : 1 << 20;
    c->deadline = c->deadline > 0 ? c->deadline : 600;
    c->engine = c->engine ? c->engine : "threads";
    if (c->compress != MT_PLAIN && c->zero > 1)
        return mt_fail(MT_ERR_ARGUMENT,
                       "--compress packs whole gradients, which stages 2 and 3 of ZeRO do not keep: use --zero 1");
    if (check_divided(c, recipe) != MT_OK)
        return MT_ERR_ARGUMENT;
    if (c->ranks <= 1)
        return MT_OK;
    if ((recipe->device != MT_CPU) != (strcmp(c->engine, "nccl") == 0))
        return refuse(c, "--engine nccl connects ranks with a GPU each: it and --device cuda require each other");
    if (strcmp(c->engine, "nccl") == 0 && c->all_reduce != MT_BY_RING)
        return refuse(c, "NCCL chooses how it adds up: leave --all-reduce out");
    if (c->all_reduce == MT_BY_HIERARCHY && (c->node == 0 || c->ranks % c->node))
        return refuse(c, "say how many ranks a node has, in nodes of equally many: use --all-reduce hierarchical:2");
    if (*caching && recipe->device == MT_CPU)
        return refuse(c, "the caching allocator serves one rank: use --allocator system");
    *caching = recipe->device != MT_CPU;
    if (recipe->dropout > 0)
        return refuse(c, "--dropout draws a mask for the whole batch: use one rank");
    if (batch % c->dp)
        return mt_fail(MT_ERR_ARGUMENT,
                       "--%s %d: a micro-batch of %d cannot be divided equally: use a --batch that is a multiple of %d",
                       c->dp == c->ranks ? "ranks" : "dp", (int)c->dp, (int)batch, (int)c->dp);
    if (c->zero == 3 && recipe->ema > 0)
        return refuse(c, "--ema averages whole parameters: use --zero 2");
    if (c->zero && (mt_update_rules[recipe->optimizer].whole || recipe->dtype == MT_F16))
        return refuse(c, "adafactor, muon and the loss scale of f16 need whole gradients: use --zero 0");
    if (c->zero && recipe->state8)
        return refuse(c, "--state 8 has blocks of whole parameters: use --zero 0");
    return MT_OK;
}

mt_status mt_team_fits(const mt_team_config *c, const struct mt_gpt2_config *model, int64_t micro)
{
    bool divided = c->pp > 1 || c->tp > 1;
    return divided && mt_team_start ? mt_team_start->fits(c, model, micro) : MT_OK;
}

mt_status mt_team_launch(const mt_team_config *c, mt_recipe *recipe)
{
    return mt_team_start ? mt_team_start->launch(c, recipe) : MT_OK;
}

const char *mt_team_text(const mt_team_config *c)
{
    static _Thread_local char text[224];
    char how[176] = "";
    if (c->dp != c->ranks)
        snprintf(how, sizeof how, ": data %d x pipeline %d (%s%.0d) x tensor %d%s", (int)c->dp, (int)c->pp,
                 schedules[c->schedule.kind], c->schedule.chunks > 1 ? (int)c->schedule.chunks : 0, (int)c->tp,
                 c->sequence ? ", tokens divided" : "");
    if (c->zero)
        snprintf(how + strlen(how), sizeof how - strlen(how), ", ZeRO stage %d", (int)c->zero);
    if (c->compress != MT_PLAIN)
        snprintf(how + strlen(how), sizeof how - strlen(how), ", gradients in %s", compressions[c->compress]);
    if (c->all_reduce != MT_BY_RING)
        snprintf(how + strlen(how), sizeof how - strlen(how), ", all-reduce %s%s%.0d", all_reduces[c->all_reduce],
                 c->node ? ":" : "", (int)c->node);
    snprintf(text, sizeof text, c->ranks <= 1 ? "one rank" : "%d ranks (%s)%s, buckets of %.3g MB", (int)c->ranks,
             c->engine, how, (double)c->bucket_bytes / 1e6);
    return text;
}

mt_status mt_team_run(const mt_team_config *c, mt_team_rank *run, void *user)
{
    if (c->ranks <= 1)
        return run(NULL, user);
    if (!mt_team_start)
        return mt_fail(MT_ERR_UNAVAILABLE, "this program was built without ranks: use --ranks 1");
    return mt_team_start->run(c, run, user);
}

mt_batch_source mt_team_share(const mt_team *team, mt_batch_source source)
{
    source.rank = team ? team->replica : 0;
    source.world = mt_team_replicas(team);
    return source;
}

void mt_team_state(const mt_team *team, mt_state *rest, mt_optim *optim)
{
    if (team)
        team->list((mt_team *)team, rest);
    else
        mt_optim_state(rest, optim);
}
