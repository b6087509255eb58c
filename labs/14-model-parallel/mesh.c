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
    /* TODO 14.1: Refuse what is not a mesh of these ranks, with mt_fail, all numbers in its message.
     * Hint: the product of three int may be more than an int64_t holds. */
    MT_TODO("14.1"); /* delete this line when yours stands here */
    mt_mesh *mesh = mt_calloc(1, sizeof *mesh);
    mt_status status = MT_OK;
    /* TODO 14.1: Three splits. Ranks of one color differ along the axis only; the key is the place along it.
     * After a failure split no more. */
    MT_TODO("14.1"); /* delete this line when yours stands here */
    if (status == MT_OK)
        *out = mesh;
    else
        mt_mesh_free(mesh);
    return status;
}
