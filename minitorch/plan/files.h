/* files.h -- a plan as files: a picture, the command that trains so, and jobs for Slurm and Kubernetes; and a cluster
 * that is read from text. For apps/plan.c.
 *
 *     mt_plan_problem problem = { ... };
 *     status = mt_plan_cluster(&problem, "8xA100");            // or the path of a JSON file
 *     ... mt_plan_best ...
 *     status = mt_plan_save("build/run/plan", &problem, answers, count); */
#pragma once

#include "plan/planner.h"

#include <stdio.h>

MT_C_BEGIN

struct cJSON;

/* mt_plan_cluster -- device and devices of a problem from "NxDEVICE", or from a file
 *     { "device": "A100", "devices": 64, "memory_gb": 40, "network_gb_s": 12.5, "dollars_hour": 2.5 }
 * Optional are all but the first two: half_tflops, single_tflops, memory_gb, link_gb_s, network_gb_s, latency_us,
 * memory_gb_s, machine, dollars_hour, watts replace the table's values (1 GB: 1e9 bytes). MT_ERR_ARGUMENT, with what to
 * write: there is no such device, number or key; *problem is then unchanged. */
mt_status mt_plan_cluster(mt_plan_problem *problem, const char *text);

/* mt_plan_cluster_json -- the same from JSON; where: the file and the place in it, for messages. */
mt_status mt_plan_cluster_json(mt_plan_problem *problem, const struct cJSON *json, const char *where);

/* mt_plan_steps -- steps of the run. */
int64_t mt_plan_steps(const mt_plan_problem *problem);

/* mt_plan_worst -- the cost of the stage that needs the most memory. */
mt_plan_cost mt_plan_worst(const mt_plan_problem *problem, const mt_plan_strategy *strategy);

/* mt_plan_save -- plan.svg of all answers (at most 8, the best first), and train.sh, job.slurm and job.yaml of the
 * first. Each file is replaced in one step. Fails: MT_ERR_IO. */
mt_status mt_plan_save(const char *folder, const mt_plan_problem *problem, const mt_plan_answer *answers,
                       int64_t count);

/* mt_plan_svg -- the picture: memory of a device by category, and a step of the first answer. */
void mt_plan_svg(FILE *out, const mt_plan_problem *problem, const mt_plan_answer *answers, int64_t count);

/* mt_plan_again -- a kind of recomputation as train_gpt2 --recompute names it. */
static inline const char *mt_plan_again(mt_recompute recompute)
{
    return recompute == MT_RECOMPUTE_NONE ? "none" : recompute == MT_RECOMPUTE_SELECTIVE ? "selective" : "block";
}

MT_C_END
