/* 15-oracle.h -- the checker's own cost of a step and estimate of a run, written from lists of arrays and messages. */
#pragma once

#include "plan/planner.h"

/* mg_plan_cost -- as mt_plan_cost_of; mg_plan_kept, mg_plan_chain -- as mt_plan_kept, mt_plan_chain. */
mt_plan_cost mg_plan_cost(const mt_plan_model *model, const mt_plan_strategy *strategy, int64_t stage);
int64_t mg_plan_kept(const mt_plan_model *model, const mt_plan_strategy *strategy);

/* mg_plan_stage_seconds, mg_plan_data_seconds, mg_plan_estimate -- as those of planner.h. */
double mg_plan_stage_seconds(const mt_plan_problem *p, const mt_plan_strategy *s, const mt_plan_cost *c,
                             int64_t layers);
double mg_plan_data_seconds(const mt_plan_problem *p, const mt_plan_strategy *s, const mt_plan_cost *c, double busy);
mt_plan_estimate mg_plan_estimate(const mt_plan_problem *p, const mt_plan_strategy *s);
