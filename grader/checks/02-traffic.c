/* 02-traffic.c -- the count of step 02.2: bytes that the sum of the columns of dout moves.
 *
 * Each number of dout is needed once. A cache of 32 KiB has 512 lines, and dout more rows: a sum of one column after
 * the other loads a line of 16 numbers for each number. */
#include "checks/02-backprop.h"
#include "checks/answer.h"
#include "rows/traffic.h"

#include <stdlib.h>

enum { N = 1009, O = 983 };

void mg_02_linear_traffic(mg_run *run, const void *one_case)
{
    (void)one_case;
    mg_begin(run, "mt_linear_bwd_cpu");
    mg_null(run, "dx");
    mg_null(run, "dw");
    mg_answer db = mg_accumulated(run, "db", MT_SHAPE(O), true);
    double *dout = mg_lift(mg_input(run, "dout", MT_SHAPE(N, O), (mg_dist)NORMAL(0, 1)), N * O);
    mg_input(run, "x", MT_SHAPE(N, 1), (mg_dist)NORMAL(0, 1));
    mg_input(run, "w", MT_SHAPE(1, O), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "N", N);
    mg_i64(run, "I", 1);
    mg_i64(run, "O", O);
    mg_oracle_linear_db_add(db.v, db.e, dout, NULL, N, O);
    if (mg_traffic_call(run, MG_L1) && mg_expect(run, "db", db.v, db.e))
        mg_traffic_credit(run, "02.2", (double)sizeof(float) * (N * O + 2 * O)); /* dout, db fetched and written */
    mg_answer_drop(&db);
    free(dout);
}
