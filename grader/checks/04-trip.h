/* 04-trip.h -- one parameter with its states on its way through many steps of an update rule (04-trip.c). */
#pragma once

#include "checks/04-optimizers.h"
#include "testing/update_oracle.h"

typedef struct mg_trip {
    const update_case *c;
    mt_hyper hyper;
    int64_t rows, cols;
    float *param, *state[MT_UPDATE_STATES]; /* as the worker left them */
    mt_update_oracle *oracle;
} mg_trip;

/* A new parameter, with the hyper-parameters, states and step number of this row. */
mg_trip mg_trip_new(mg_run *run, const update_case *c, int64_t rows, int64_t cols);
void mg_trip_free(mg_trip *t);

int64_t mg_trip_count(const mg_trip *t);
int64_t mg_trip_state_count(const mg_trip *t, int s);
const char *mg_trip_state_name(const mg_trip *t, int s); /* as in a checkpoint: "exp_avg" for Adam's m */

/* mg_trip_describe -- a call that makes `steps` steps; returns their gradients. */
float *mg_trip_describe(mg_run *run, const mg_trip *t, int64_t steps);

/* mg_trip_advance -- make `steps` steps and compare; threads 0: one per core, MG_SEARCHED: four, for data races. */
enum { MG_SEARCHED = -1 };
bool mg_trip_advance(mg_run *run, mg_trip *t, int64_t steps, int threads);

/* mg_trip_complain -- FAIL with these words, step, shape and hyper-parameters. */
void mg_trip_complain(mg_run *run, const mg_trip *t, const char *words);

/* mg_travel -- a new parameter through `steps` steps, compared after the first three, after ten, and at the end; the
 * learning rate changes as with a schedule. */
bool mg_travel(mg_run *run, const update_case *c, int64_t rows, int64_t cols, int64_t steps);
