/* divided.h -- shared by divided.c (the ranks of a divided model, and their steps) and divided_saving.c. */
#pragma once

#include <string.h>

#include "dist/zero.h"
#include "parallel/mesh.h"
#include "parallel/parts.h"
#include "dist/replicas.h"

MT_C_BEGIN

typedef struct mt_divided {
    mt_team base;
    const mt_team_config *config;
    mt_mesh *mesh;
    mt_comm *data, *pipeline, *tensor; /* the mesh's */
    mt_module *model;                  /* borrowed, and */
    mt_optim *optim;                   /* from `join` on */
    mt_tensor *flat;                   /* the block of all gradients */
    mt_device device;                  /* of the model */
    mt_gpt2_parts *parts;
    mt_ddp *ddp;                /* lent by `zero`, if that is there */
    mt_zero *zero;              /* the state of what is here, divided among the replicas */
    mt_pipe *pipe;              /* from the first step on */
    mt_shape *shape;            /* [parts - 1] */
    mt_surround around;         /* the training's */
    mt_tensor **ids, **targets; /* [micro] of a step */
    mt_told *told;              /* [size] */
    mt_optim_hooks hooks;       /* the optimizer's own */
    double norm;                /* of all gradients of this step */
} mt_divided;

/* Whether no other rank of this replica has the values that belong to this parameter: no other rank of the tensor
 * group, and, for the token table, no earlier stage. name: of the parameter, or NAME/... of what belongs to it. */
static inline bool mt_divided_first(const mt_divided *d, const char *name)
{
    bool again = d->pipeline->rank > 0 && strncmp(name, "wte.", 4) == 0;
    return !again && (d->tensor->rank == 0 || mt_gpt2_parts_divides(d->parts, name));
}

/* mt_team's `move`. */
mt_status mt_divided_move(mt_team *team, const mt_state own[2], const mt_state whole[2], bool saving);

MT_C_END
