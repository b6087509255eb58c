/* mesh.h -- ranks in a grid of three axes: data, pipeline and tensor parallel. Unit: solutions/14-model-parallel/mesh.c
 *
 *     rank = (pipe * dp + data) * tp + tensor
 *
 * Tensor ranks, which exchange messages in every layer, are neighbours, so that they share a machine; ranks of a
 * pipeline, which send the least, are furthest from each other. This is the default order of Megatron-LM.
 * Source: Narayanan et al. 2021, arXiv:2104.04473. */
#pragma once

#include "dist/comm.h"

MT_C_BEGIN

typedef enum mt_axis { MT_AXIS_DATA, MT_AXIS_PIPE, MT_AXIS_TENSOR, MT_AXES } mt_axis;

typedef struct mt_mesh {
    mt_comm
        *comm[MT_AXES]; /* of the ranks that differ from this one along an axis only, in order of that axis; its rank
                               and size are the place and the extent along the axis */
} mt_mesh;

/* mt_mesh_new -- collective: three calls of mt_comm_split, in the order of mt_axis; all ranks pass the same dp, pp and
 * tp. The mesh is independent of comm.
 * Fails, with *out unchanged and before any split: an extent below 1, or dp * pp * tp is not the size of comm
 * (MT_ERR_ARGUMENT, with these four numbers); a split fails (its status; what was split before is freed).   Lab 14.1 */
mt_status mt_mesh_new(mt_mesh **out, mt_comm *comm, int dp, int pp, int tp);

void mt_mesh_free(mt_mesh *mesh); /* and its communicators; NULL is allowed */

MT_C_END
