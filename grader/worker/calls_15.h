/* calls_15.h -- the calls of lab 15 that are in files of their own, and how a check writes models, strategies and
 * problems as integers. */
#pragma once

#include "worker/call.h"
#include "worker/plan.h"

/* calls_15_cost.c */
void mg_call_plan_params(const mg_value *v);
void mg_call_plan_kept(const mg_value *v);
void mg_call_plan_state(const mg_value *v);
void mg_call_plan_flops(const mg_value *v);
void mg_call_plan_wire(const mg_value *v);
void mg_call_plan_cost(const mg_value *v);

/* calls_15_measured.c: nothing of the student's */
void mg_call_measured_step(const mg_value *v);
void mg_call_measured_wire(const mg_value *v);

/* calls_15_planner.c */
void mg_call_plan_seconds(const mg_value *v);
void mg_call_plan_utilisation(const mg_value *v);
void mg_call_plan_estimate(const mg_value *v);
void mg_call_plan_best(const mg_value *v);

/* calls_15_goodput.c */
void mg_call_goodput_interval(const mg_value *v);
void mg_call_goodput_stretch(const mg_value *v);
void mg_call_goodput_of(const mg_value *v);

/* calls_15_scheduler.c */
void mg_call_sched(const mg_value *v);
void mg_call_sched_fairness(const mg_value *v);

/* calls_15_cluster.c */
void mg_call_cluster_run(const mg_value *v);
void mg_call_cluster_train(const mg_value *v);
void mg_call_cluster_costs(const mg_value *v);

/* calls_15_ranks.c */
void mg_call_cluster_ranks(const mg_value *v);
