/* mesh.c -- the ranks of a grid; see parallel/mesh.h. */
#include "parallel/mesh.h"

#include <stdlib.h>

void mt_mesh_free(mt_mesh *mesh)
{
    for (int axis = 0; mesh && axis < MT_AXES; axis++)
        mt_comm_free(mesh->comm[axis]);
    free(mesh);
}

mt_status mt_mesh_new(mt_mesh **out, mt_comm *comm, int dp, int pp, int tp)
{
    /* LAB 14.1 BEGIN  Refuse what is not a mesh of these ranks, with mt_fail, all numbers in its message.
     * Hint: the product of three int may be more than an int64_t holds. */
    int size = comm->size;
    bool fits = dp >= 1 && pp >= 1 && tp >= 1 && size % tp == 0 && (int64_t)dp * pp == size / tp;
    if (!fits)
        return mt_fail(MT_ERR_ARGUMENT, "mesh: data %d x pipeline %d x tensor %d must be the number of ranks, %d", dp,
                       pp, tp, size);
    /* LAB 14.1 END */
    mt_mesh *mesh = mt_calloc(1, sizeof *mesh);
    mt_status status = MT_OK;
    /* LAB 14.1 BEGIN  Three splits. Ranks of one color differ along the axis only; the key is the place along it.
     * After a failure split no more. */
    int tensor = comm->rank % tp, data = comm->rank / tp % dp, pipe = comm->rank / tp / dp;
    const int place[MT_AXES] = { data, pipe, tensor };
    const int color[MT_AXES] = { pipe * tp + tensor, data * tp + tensor, pipe * dp + data };
    for (int axis = 0; axis < MT_AXES && status == MT_OK; axis++)
        status = mt_comm_split(&mesh->comm[axis], comm, color[axis], place[axis]);
    /* LAB 14.1 END */
    if (status == MT_OK)
        *out = mesh;
    else
        mt_mesh_free(mesh);
    return status;
}
