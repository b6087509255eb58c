/* small_run.h -- a run that is saved in a test: some tensors, an integer, a setting, all determined by the step. */
#pragma once

#include "ckpt/checkpoint.h"
#include "must.h"
#include "testing/disk_sim.h"

#include <string.h>

#define RUNS "/runs"

typedef struct small_run {
    int64_t rows;
    const char *seed;
    mt_state model, rest;
} small_run;

/* Values of step -1 are those of no saved run. */
__attribute__((unused)) static void small_run_set(small_run *r, int64_t step)
{
    mt_state *lists[] = { &r->model, &r->rest };
    r->rows = step * 10;
    for (int l = 0; l < 2; l++)
        for (int64_t i = 0; i < lists[l]->count; i++)
            if (lists[l]->item[i].tensor)
                for (int64_t k = 0; k < mt_numel(lists[l]->item[i].tensor); k++)
                    mt_f32(lists[l]->item[i].tensor)[k] = (float)(step * 1000 + l * 500 + i * 100 + k);
}

static void small_run_tensor(mt_state *list, int64_t n, const char *name)
{
    mt_tensor *t = mt_zeros(MT_SHAPE(n), MT_F32, MT_CPU);
    mt_state_tensor(list, t, "%s", name);
    mt_release(t);
}

__attribute__((unused)) static void small_run_begin(small_run *r, int64_t step)
{
    *r = (small_run){ .seed = "7" };
    small_run_tensor(&r->model, 6, "h.0.weight");
    small_run_tensor(&r->model, 3, "h.0.bias");
    small_run_tensor(&r->model, 6, "h.1.weight");
    small_run_tensor(&r->rest, 6, "h.0.weight/exp_avg");
    mt_state_setting(&r->rest, "seed", "%s", r->seed);
    mt_state_integer(&r->rest, &r->rows, "metrics rows");
    small_run_set(r, step);
}

__attribute__((unused)) static void small_run_end(small_run *r)
{
    mt_state_free(&r->model);
    mt_state_free(&r->rest);
}

/* Saves the run as it is after `step`, the model in two files. */
__attribute__((unused)) static mt_status small_run_save(int64_t step)
{
    small_run r;
    small_run_begin(&r, step);
    mt_status status = mt_checkpoint_save(RUNS, step, &r.model, &r.rest, 40);
    small_run_end(&r);
    return status;
}

/* Whether loading this step gives exactly its values; what a failed load leaves must be unchanged. */
__attribute__((unused)) static mt_status small_run_load(const char *dir, int64_t step)
{
    small_run got, want;
    small_run_begin(&got, -1);
    mt_status status = mt_checkpoint_load(dir, step, &got.model, &got.rest);
    small_run_begin(&want, status == MT_OK ? step : -1);
    cr_assert_eq(got.rows, want.rows);
    for (int64_t i = 0; i < 3; i++)
        cr_assert_arr_eq(mt_f32(got.model.item[i].tensor), mt_f32(want.model.item[i].tensor),
                         (size_t)mt_numel(want.model.item[i].tensor) * sizeof(float));
    cr_assert_arr_eq(mt_f32(got.rest.item[0].tensor), mt_f32(want.rest.item[0].tensor), 6 * sizeof(float));
    small_run_end(&got);
    small_run_end(&want);
    return status;
}

static mt_io *small_run_disk;

__attribute__((unused)) static void small_run_disk_begin(void)
{
    small_run_disk = mt_disk_sim_new();
    mt_io_use(small_run_disk);
    cr_assert(small_run_disk->mkdir(small_run_disk, RUNS) == 0 && small_run_disk->fsync_dir(small_run_disk, "/") == 0);
}

__attribute__((unused)) static void small_run_disk_end(void)
{
    mt_io_use(NULL);
    mt_disk_sim_free(small_run_disk);
}
