/* calls_15.c -- the functions of lab 15 that the worker calls. */
#include "worker/calls_15.h"

#include <stddef.h>

const mg_function mg_calls_15[] = {
    { "mt_plan_params", mg_call_plan_params },
    { "mt_plan_kept", mg_call_plan_kept },
    { "mt_plan_state", mg_call_plan_state },
    { "mt_plan_flops", mg_call_plan_flops },
    { "mt_plan_wire", mg_call_plan_wire },
    { "mt_plan_cost_of", mg_call_plan_cost },
    { "a measured step", mg_call_measured_step },
    { "measured messages", mg_call_measured_wire },
    { "mt_plan_stage_seconds, mt_plan_data_seconds", mg_call_plan_seconds },
    { "mt_plan_utilisation", mg_call_plan_utilisation },
    { "mt_plan_estimate_of", mg_call_plan_estimate },
    { "mt_plan_best", mg_call_plan_best },
    { "mt_goodput_interval", mg_call_goodput_interval },
    { "mt_goodput_stretch", mg_call_goodput_stretch },
    { "mt_goodput_of", mg_call_goodput_of },
    { "mt_sched", mg_call_sched },
    { "mt_sched_fairness, mt_sched_slowdown", mg_call_sched_fairness },
    { "mt_cluster_run", mg_call_cluster_run },
    { "mt_cluster_train", mg_call_cluster_train },
    { "memory accesses of a run", mg_call_cluster_costs },
    { "ranks on a simulated clock", mg_call_cluster_ranks },
    { NULL, NULL },
};
