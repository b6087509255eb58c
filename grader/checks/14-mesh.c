/* 14-mesh.c -- how the checks of step 14.1 run: which ranks each rank has along each axis.
 * Rows: 14-model-parallel.c. */
#include "checks/14-model-parallel.h"
#include "checks/fill.h"
#include "worker/mesh.h"

#include <inttypes.h>
#include <string.h>

#include "core/base.h"

typedef struct mesh {
    int64_t ranks, extent[MG_MESH_AXES], fails; /* data, pipeline, tensor */
} mesh;

static bool call(mg_run *run, const mesh *m)
{
    mg_begin(run, "mt_mesh_new");
    mg_as_called(run, "mt_mesh_new(&mesh, comm, dp=%" PRId64 ", pp=%" PRId64 ", tp=%" PRId64 ") on %" PRId64 " ranks",
                 m->extent[0], m->extent[1], m->extent[2], m->ranks);
    if (m->fails >= 0)
        mg_hint(run,
                "split number %" PRId64 " fails: its communicator and *out are not written, no other is split, and "
                "mt_mesh_free frees those before",
                m->fails);
    mg_out(run, "results", MT_I64, MT_SHAPE(m->ranks, MG_MESH_RESULTS));
    int64_t *members = mg_inout(run, "members", MT_I64, MT_SHAPE(m->ranks, MG_MESH_AXES, MG_MESH_RANKS));
    for (int64_t i = 0; i < m->ranks * MG_MESH_AXES * MG_MESH_RANKS; i++)
        members[i] = -1;
    const int64_t numbers[MG_MESH_NUMBERS] = { m->extent[0], m->extent[1], m->extent[2], m->fails };
    memcpy(mg_in(run, "dp, pp, tp, failing split", MT_I64, MT_SHAPE(MG_MESH_NUMBERS)), numbers, sizeof numbers);
    return mg_call(run);
}

/* The law of step 14.1: rank `place` of the axis, of those that are with `rank`. */
static int64_t member(const mesh *m, int64_t rank, int axis, int64_t place)
{
    const int64_t step[MG_MESH_AXES] = { m->extent[2], m->extent[0] * m->extent[2], 1 };
    return rank + (place - rank / step[axis] % m->extent[axis]) * step[axis];
}

static const char *const name[] = { "data", "pipeline", "tensor" };

/* Ranks that split in another order than others would join other axes. */
static bool judge_order(mg_run *run, const mesh *m)
{
    const int64_t *got = mg_result(run, "results");
    for (int64_t rank = 0; rank < m->ranks; rank++, got += MG_MESH_RESULTS)
        for (int64_t axis = 0; axis < MG_MESH_AXES; axis++) {
            int64_t is = got[MG_MESH_FIRST + axis];
            if (is == axis)
                continue;
            mg_hint(run, "the header says in which order the splits are made: data, pipeline, tensor");
            return mg_fail(
                run, "rank %" PRId64 " of %" PRId64 ": split number %" PRId64 " makes the %s axis, expected %s", rank,
                m->ranks, axis, is >= 0 && is < MG_MESH_AXES ? name[is] : "communicator of no", name[axis]);
        }
    return true;
}

static bool judge_members(mg_run *run, const mesh *m)
{
    const int64_t *got = mg_result(run, "members");
    for (int64_t rank = 0; rank < m->ranks; rank++)
        for (int axis = 0; axis < MG_MESH_AXES; axis++, got += MG_MESH_RANKS)
            for (int64_t place = 0; place < MG_MESH_RANKS; place++) {
                int64_t want = place < m->extent[axis] ? member(m, rank, axis, place) : -1;
                if (got[place] == want)
                    continue;
                return mg_fail(run,
                               "data %" PRId64 " x pipeline %" PRId64 " x tensor %" PRId64 ": rank %" PRId64
                               " along the %s axis: place %" PRId64 " is rank %" PRId64 ", expected %" PRId64
                               " (-1: none)",
                               m->extent[0], m->extent[1], m->extent[2], rank, name[axis], place, got[place], want);
            }
    return true;
}

static bool judge_results(mg_run *run, const mesh *m, int64_t status, int64_t splits)
{
    const int64_t *got = mg_result(run, "results");
    for (int64_t rank = 0; rank < m->ranks; rank++, got += MG_MESH_RESULTS) {
        bool is_new = status == MT_OK;
        if (got[MG_MESH_STATUS] == status && got[MG_MESH_SPLITS] == splits && got[MG_MESH_OPEN] == 0 &&
            got[MG_MESH_CHANGED] == is_new && (is_new || got[MG_MESH_SAID]))
            continue;
        if (!is_new && got[MG_MESH_STATUS] == status && !got[MG_MESH_SAID])
            mg_hint(run, "mt_fail returns the status, and keeps a message for mt_last_error: here with data, pipeline, "
                         "tensor and the number of ranks");
        return mg_fail(run,
                       "data %" PRId64 " x pipeline %" PRId64 " x tensor %" PRId64 " on %" PRId64
                       " ranks: rank %" PRId64 " returns status %" PRId64 ", expected %" PRId64 "; %" PRId64
                       " splits, expected %" PRId64 "; %" PRId64 " communicators are not freed; *out is %s%s",
                       m->extent[0], m->extent[1], m->extent[2], m->ranks, rank, got[MG_MESH_STATUS], status,
                       got[MG_MESH_SPLITS], splits, got[MG_MESH_OPEN], got[MG_MESH_CHANGED] ? "written" : "unchanged",
                       is_new || got[MG_MESH_SAID] ? "" : "; there is no message with all four numbers");
    }
    return true;
}

/* Extents that are not a mesh of these ranks; in some the product is right if it is cut to 32 bits, or to 64. */
static const struct {
    const char *part;
    int64_t ranks, dp, pp, tp;
} wrong[] = {
    { "a product below the ranks", 4, 2, 1, 1 },
    { "a product above the ranks", 4, 2, 2, 2 },
    { "a product below the ranks", 5, 2, 1, 2 },
    { "extents below 0", 1, -1, 1, -1 },
    { "extents below 0", 4, -2, -2, 1 },
    { "an extent of 0", 3, 0, 1, 1 },
    { "an extent of 0", 6, 6, 1, 0 },
    { "a product above 32 bits", 1, 641, 6700417, 1 },
    { "a product above 64 bits", 2, 1 << 30, 1 << 30, 1 << 4 },
    { "a product below the ranks", 6, 4, 1, 1 },
    { "a product above 64 bits", 4, 2147418113, 1718039348, 5 },
    { "a product above 64 bits", 3, 35, 1056175639, 998034439 },
};

void mg_14_mesh(mg_run *run, const void *one_case)
{
    mesh_about about = ((const mesh_case *)one_case)->about;
    if (about == MESH_REFUSED) {
        for (int i = 0; i < MT_COUNT(wrong); i++) {
            mg_part(run, wrong[i].part, NULL);
            mesh m = { wrong[i].ranks, { wrong[i].dp, wrong[i].pp, wrong[i].tp }, -1 };
            if (!call(run, &m) || !judge_results(run, &m, MT_ERR_ARGUMENT, 0))
                return;
        }
        return;
    }
    static const struct {
        const char *part;
        bool is_one; /* of the rows of MESH_ONE: an axis has one rank */
        int64_t extent[MG_MESH_AXES];
    } some[] = {
        { NULL, false, { 2, 3, 2 } },
        { NULL, false, { 3, 2, 2 } },
        { NULL, false, { 2, 2, 3 } },
        { "an axis of one rank", true, { 1, 3, 2 } },
        { "an axis of one rank", true, { 2, 1, 3 } },
        { "an axis of one rank", true, { 3, 2, 1 } },
        { "one rank", true, { 1, 1, 1 } },
        { "one axis", true, { 5, 1, 1 } },
        { "one axis", true, { 1, 7, 1 } },
        { "one axis", true, { 1, 1, 4 } },
        { "many ranks", true, { 33, 2, 1 } },
        { "many ranks", true, { 2, 1, 33 } },
        { "many ranks", true, { 1, 2, 33 } },
    };
    for (int i = 0; i < MT_COUNT(some); i++) {
        if (some[i].is_one != (about == MESH_ONE))
            continue;
        mg_part(run, some[i].part, NULL);
        mesh m = { 1, { some[i].extent[0], some[i].extent[1], some[i].extent[2] }, -1 };
        m.ranks = m.extent[0] * m.extent[1] * m.extent[2];
        if (about == MESH_FAILS)
            m.fails = i;
        bool fails = about == MESH_FAILS;
        if (!call(run, &m) || !judge_results(run, &m, fails ? MT_ERR_UNAVAILABLE : MT_OK, fails ? m.fails + 1 : 3))
            return;
        if (!fails && (!judge_members(run, &m) || !judge_order(run, &m)))
            return;
    }
}
