/* files.c -- train.sh, job.slurm and job.yaml of a plan; see files.h. */
#include "plan/files.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/io.h"
#include "cli/cli.h"

int64_t mt_plan_steps(const mt_plan_problem *p)
{
    return (int64_t)ceil(p->tokens / (double)(p->batch * p->time));
}

mt_plan_cost mt_plan_worst(const mt_plan_problem *p, const mt_plan_strategy *s)
{
    mt_plan_cost worst = mt_plan_cost_of(&p->model, s, 0);
    for (int64_t stage = 1; stage < s->pp; stage++) {
        mt_plan_cost cost = mt_plan_cost_of(&p->model, s, stage);
        worst = cost.peak > worst.peak ? cost : worst;
    }
    return worst;
}

typedef struct job {
    const mt_plan_problem *problem;
    const mt_plan_answer *best; /* and `count` in all */
    int64_t count;
    const char *folder;
    int64_t ranks, machines, each; /* ranks of a machine */
    int64_t minutes;
} job;

static void put_options(FILE *out, const job *j)
{
    const mt_plan_strategy *s = &j->best->strategy;
    const mt_plan_model *m = &j->problem->model;
    fprintf(out, "--layers %" PRId64 " --heads %" PRId64 " --width %" PRId64 " --block %" PRId64, m->layers, m->heads,
            m->width, s->time);
    fprintf(out, " --dp %" PRId64 " --pp %" PRId64 " --tp %" PRId64 "%s --zero %" PRId64, s->dp, s->pp, s->tp,
            s->sequence ? " --sp" : "", s->zero);
    fprintf(out, " --recompute %s --dtype %s", mt_plan_again(s->recompute), s->dtype == MT_F32 ? "f32" : "bf16");
    fprintf(out, " --batch %" PRId64 " --micro-batches %" PRId64 " --steps %" PRId64, s->dp * s->samples, s->micro,
            mt_plan_steps(j->problem));
}

static void put_train(FILE *out, const job *j)
{
    fprintf(out,
            "#!/usr/bin/env bash\n"
            "# The plan, on %" PRId64 " %s: %.1f GB of a device, %.4g s a step, %.4g days.\n"
            "# DATA, VOCAB: text or token file, folder of its vocabulary. DEVICE=cpu: ranks are threads of one\n"
            "# process. LAUNCH: what starts the ranks. More options of train_gpt2 may follow.\n"
            "set -euo pipefail\n"
            "device=${DEVICE:-cuda}\n",
            j->ranks, j->problem->device.name, (double)j->best->estimate.peak / 1e9, j->best->estimate.step,
            j->best->estimate.days);
    if (j->ranks > 1)
        fprintf(out,
                "if [ \"$device\" = cuda ]; then launch=${LAUNCH-mpirun -n %" PRId64 "}; "
                "else launch=${LAUNCH-}; fi\n",
                j->ranks);
    else
        fputs("launch=${LAUNCH-}\n", out);
    fputs("exec $launch \"${TRAIN_GPT2:-build/release/bin/train_gpt2}\" --device \"$device\" \\\n    ", out);
    put_options(out, j);
    fputs(" \\\n    ${DATA:+--data \"$DATA\"} ${VOCAB:+--vocab \"$VOCAB\"} --resume=auto \"$@\"\n", out);
}

static void put_slurm(FILE *out, const job *j)
{
    fprintf(out,
            "#!/usr/bin/env bash\n"
            "#SBATCH --job-name=plan\n"
            "#SBATCH --nodes=%" PRId64 "\n"
            "#SBATCH --ntasks=%" PRId64 "\n"
            "#SBATCH --ntasks-per-node=%" PRId64 "\n"
            "#SBATCH --gpus-per-node=%" PRId64 "\n"
            "#SBATCH --time=%" PRId64 "\n"
            "# Minutes of the plan and a tenth. sbatch in the folder of minitorch; a job that was cut off continues\n"
            "# when it is submitted again.\n"
            "set -euo pipefail\n",
            j->machines, j->ranks, j->each, j->each, j->minutes);
    if (j->ranks > 1)
        fprintf(out, "export LAUNCH='mpirun -n %" PRId64 "'\n", j->ranks);
    fprintf(out, "exec bash '%s/train.sh' \"$@\"\n", j->folder);
}

static void put_yaml(FILE *out, const job *j)
{
    fprintf(out,
            "# Each machine of the plan is a pod of one Job, so that a gang scheduler (Kueue, Volcano) starts all\n"
            "# or none. The image has minitorch and mpirun; of several machines, also sshd, and a headless\n"
            "# Service \"plan\" names them. With --out on a volume, a Job that was cut off continues when it is\n"
            "# applied again.\n"
            "apiVersion: batch/v1\n"
            "kind: Job\n"
            "metadata:\n"
            "  name: plan\n"
            "spec:\n"
            "  completionMode: Indexed\n"
            "  completions: %" PRId64 "\n"
            "  parallelism: %" PRId64 "\n"
            "  backoffLimit: 0\n"
            "  activeDeadlineSeconds: %" PRId64 "\n"
            "  template:\n"
            "    spec:\n"
            "      restartPolicy: Never\n"
            "      subdomain: plan\n"
            "      containers:\n"
            "        - name: train\n"
            "          image: minitorch:latest\n"
            "          resources:\n"
            "            limits:\n"
            "              nvidia.com/gpu: %" PRId64 "\n"
            "          command: [\"bash\", \"-c\"]\n"
            "          args:\n"
            "            - |\n",
            j->machines, j->machines, 60 * j->minutes, j->each);
    if (j->machines > 1)
        fputs("              [ \"$JOB_COMPLETION_INDEX\" = 0 ] || exec /usr/sbin/sshd -D\n", out);
    fputs("              exec ", out);
    if (j->ranks > 1)
        fprintf(out, "mpirun -n %" PRId64, j->ranks);
    for (int64_t m = 0; m < j->machines && j->machines > 1; m++)
        fprintf(out, "%splan-%" PRId64 ".plan:%" PRId64, m ? "," : " -host ", m, j->each);
    fputs(j->ranks > 1 ? " build/release/bin/train_gpt2 --device cuda " : "build/release/bin/train_gpt2 --device cuda ",
          out);
    put_options(out, j);
    fputs(" --resume=auto\n", out);
}

static void put_picture(FILE *out, const job *j)
{
    mt_plan_svg(out, j->problem, j->best, j->count);
}

static const struct {
    const char *name;
    void (*put)(FILE *, const job *);
} files[] = {
    { "train.sh", put_train }, { "job.slurm", put_slurm }, { "job.yaml", put_yaml }, { "plan.svg", put_picture }
};

/* All of them, and only then is an older plan replaced: a full disk leaves that whole. */
static mt_status write_files(const job *j)
{
    char path[MT_COUNT(files)][4096];
    mt_file_writer file[MT_COUNT(files)];
    mt_status status = MT_OK;
    int opened = 0;
    for (; opened < MT_COUNT(files); opened++) {
        mt_file_writer *f = &file[opened];
        snprintf(path[opened], sizeof path[opened], "%s/%s", j->folder, files[opened].name);
        status = mt_file_writer_open(f, path[opened]);
        if (status != MT_OK)
            break;
        files[opened].put(f->out, j);
        if (fflush(f->out) != 0 || ferror(f->out)) {
            status = mt_file_writer_end(f, false);
            break;
        }
    }
    for (int i = 0; i < opened; i++)
        if (status == MT_OK)
            status = mt_file_writer_close(&file[i]);
        else
            mt_file_writer_abandon(&file[i]);
    return status;
}

mt_status mt_plan_save(const char *folder, const mt_plan_problem *p, const mt_plan_answer *answers, int64_t count)
{
    const mt_plan_strategy *s = &answers->strategy;
    if (strpbrk(folder, "'\n"))
        return mt_fail(MT_ERR_ARGUMENT, "--out %s: choose a name without quotes and new lines", folder);
    job j = { .problem = p, .best = answers, .count = count, .folder = folder, .ranks = s->dp * s->pp * s->tp };
    j.each = mt_min(j.ranks, p->device.machine);
    j.machines = mt_ceil_div(j.ranks, j.each);
    j.minutes = (int64_t)ceil(fmin(1e9, answers->estimate.days * 1440 * 1.1)) + 1;
    MT_TRY(mt_cli_folder(folder));
    return write_files(&j);
}
