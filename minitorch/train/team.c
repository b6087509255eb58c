/* team.c -- the options of a team, and a run without one; see team.h. */
#include "train/team.h"

#include <stdio.h>
#include <string.h>

/* Weak: train/ranks.c, where it is linked, defines it. (Not const: GCC would fold the NULL.) */
__attribute__((weak)) const mt_team_starter *mt_team_start = NULL;

static const char *const compressions[] = { [MT_PLAIN] = "none", [MT_ONE_BIT] = "1bit", [MT_TOP_K] = "topk" };

static mt_status compression(const char *text, void *chosen)
{
    for (int k = 0; k < (int)MT_COUNT(compressions); k++)
        if (strcmp(text, compressions[k]) == 0) {
            *(mt_compression *)chosen = (mt_compression)k;
            return MT_OK;
        }
    return mt_fail(MT_ERR_ARGUMENT, "there is no compression \"%s\": use none, 1bit or topk", text);
}

static mt_status bytes(const char *text, void *field)
{
    return mt_cli_bytes(field, text);
}

const mt_option mt_team_options[] = {
    { "ranks", 0, "N", MT_I64(mt_team_config, ranks, 1, 1024),
      "Ranks that share each micro-batch and the threads (default 1)" },
    { "zero", 0, "STAGE", MT_I64(mt_team_config, zero, 0, 2),
      "Each rank has a part of the optimizer's state (1), and of the gradients (2), only (default 0)" },
    { "compress", 0, "HOW", MT_PARSED(mt_team_config, compress, compression),
      "Gradients between ranks: none (default); 1bit, a bit an element; topk, the largest hundredth" },
    { "bucket", 0, "SIZE", MT_PARSED(mt_team_config, bucket_bytes, bytes),
      "Gradients that are sent together, while backward goes on (default 1MiB)" },
    { "engine", 0, "NAME", MT_TEXT(mt_team_config, engine),
      "What connects the ranks: threads (default); mpi, processes that mpirun starts" },
    { "deadline", 0, "SECONDS", MT_F64(mt_team_config, deadline, 1e-3, 1e9),
      "A rank that does not take part for so long ends the run (default 600)" },
    { 0 },
};

static mt_status refuse(const mt_team_config *c, const char *why)
{
    return mt_fail(MT_ERR_ARGUMENT, "--ranks %d: %s", (int)c->ranks, why);
}

mt_status mt_team_check(mt_team_config *c, const mt_recipe *recipe, int64_t batch)
{
    if (mt_team_start && mt_team_start->prepare(c) != MT_OK)
        return MT_ERR_ARGUMENT;
    c->bucket_bytes = c->bucket_bytes ? c->bucket_bytes : 1 << 20;
    c->deadline = c->deadline > 0 ? c->deadline : 600;
    c->engine = c->engine ? c->engine : "threads";
    if (c->compress != MT_PLAIN && c->zero)
        return mt_fail(MT_ERR_ARGUMENT,
                       "--compress goes with --zero 0 only: ZeRO sends each rank its part of the gradients as it is");
    if (c->ranks <= 1)
        return MT_OK;
    if (recipe->device != MT_CPU)
        return refuse(c, "ranks with a GPU each need NCCL, which is not there yet: use --device cpu, or one rank");
    if (recipe->caching)
        return refuse(c, "the caching allocator serves one rank: use --allocator system");
    if (batch % c->ranks)
        return mt_fail(MT_ERR_ARGUMENT,
                       "--ranks %d: a micro-batch of %d cannot be divided equally: use a --batch that is a multiple of "
                       "%d",
                       (int)c->ranks, (int)batch, (int)c->ranks);
    if (c->zero && (recipe->optimizer == MT_ADAFACTOR || recipe->dtype == MT_F16))
        return refuse(c, "adafactor, and the loss scale of f16, need whole gradients: use --zero 0");
    return MT_OK;
}

const char *mt_team_text(const mt_team_config *c)
{
    static _Thread_local char text[128];
    char how[48] = "";
    if (c->zero)
        snprintf(how, sizeof how, ", ZeRO stage %d", (int)c->zero);
    else if (c->compress != MT_PLAIN)
        snprintf(how, sizeof how, ", gradients in %s", compressions[c->compress]);
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
    source.rank = team ? team->rank : 0;
    source.world = mt_team_size(team);
    return source;
}

void mt_team_state(const mt_team *team, mt_state *rest, mt_optim *optim)
{
    if (team)
        team->list((mt_team *)team, rest);
    else
        mt_optim_state(rest, optim);
}
