#!/usr/bin/env bash
# test_plan_jobs.sh -- the jobs that the program plan writes: job.slurm as Slurm sees it (sbatch --test-only; a controller of its own,
# with nodes that need not be there), and job.yaml by the fields that Kubernetes publishes (data/kubernetes_job.json).
. "$(dirname "$0")/../../.ci/check.bash"
plan=$bin/plan
end_slurm() {
    local id
    for id in ctld munged; do [ ! -s "$dir/$id.pid" ] || kill "$(cat "$dir/$id.pid")" 2>/dev/null; done
    sleep 0.2
    rm -rf "$dir"
}
trap end_slurm EXIT
chmod 755 "$dir"

"$plan" --model gpt2-xl --cluster 8xA100 --days 7 -o "$dir/xl" >"$dir/log" 2>&1 && ok || bad xl
"$plan" --model gpt3 --cluster 128xH100 --batch 256 --tokens 1e9 -o "$dir/gpt3" >"$dir/log" 2>&1 && ok || bad gpt3
"$plan" --model toy --cluster 1xV100 --batch 8 --tokens 1e6 -o "$dir/toy" >"$dir/log" 2>&1 && ok || bad toy
jobs=(xl gpt3 toy)
for job in "${jobs[@]}"; do bash -n "$dir/$job/job.slurm" && bash -n "$dir/$job/train.sh" && ok || bad "bash -n $job"; done

# ---- Slurm: 16 nodes of 8 GPUs, which are clouds that nobody has to start
configuration() {
    cat <<EOF
ClusterName=plan
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$1
SlurmUser=root
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/ctld
SlurmctldPidFile=$dir/ctld.pid
SlurmctldLogFile=$dir/ctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
GresTypes=gpu
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=3600
NodeName=p[1-16] CPUs=8 RealMemory=1000 Gres=gpu:8 State=CLOUD
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
}

slurm() {
    mkdir "$dir/munge" "$dir/ctld"
    configuration $((20000 + $$ % 10000)) >"$dir/slurm.conf"
    echo CgroupPlugin=cgroup/v1 >"$dir/cgroup.conf" # which is not used, but looked for
    head -c 64 /dev/urandom >"$dir/munge/key" && chmod 400 "$dir/munge/key" && chown -R munge "$dir/munge"
    runuser -u munge -- munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
        --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" 2>"$dir/munged.log" || return
    cp "$dir/munge/pid" "$dir/munged.pid"
    export SLURM_CONF=$dir/slurm.conf
    slurmctld || return
    await $$ 'timeout 5 scontrol ping | grep UP >/dev/null'
}

if [ "$(id -u)" = 0 ] && command -v sbatch >/dev/null && command -v slurmctld >/dev/null && command -v munged >/dev/null; then
    if slurm; then
        for job in "${jobs[@]}"; do
            timeout 10 sbatch --test-only "$dir/$job/job.slurm" >"$dir/log" 2>&1 && grep -q 'to start at' "$dir/log" && ok || bad "sbatch $job: $(cat "$dir/log")"
        done
        grep -qE 'using 128 processors on nodes p\[1-16\]' <<<"$(sbatch --test-only "$dir/gpt3/job.slurm" 2>&1)" && ok || bad "gpt3 is not on 16 nodes"
        # What no node has is refused, so that the tests above say something.
        for change in 's/gpus-per-node=8/gpus-per-node=9/' 's/--nodes=1$/--nodes=17/; s/ntasks=8/ntasks=136/'; do
            sed "$change" "$dir/xl/job.slurm" >"$dir/wrong"
            sbatch --test-only "$dir/wrong" >"$dir/log" 2>&1 && bad "Slurm takes $change" || ok
        done
    else
        bad "Slurm has not begun: $(cat "$dir"/ctld.log "$dir/munged.log" 2>/dev/null | grep -iE 'error|fatal' | head -3)"
    fi
else
    echo "skipped: sbatch --test-only (needs root, slurm-wlm and munge)"
fi

# ---- Kubernetes
if python3 -c 'import jsonschema, yaml' 2>/dev/null; then
    for job in "${jobs[@]}"; do
        python3 - "$(dirname "$0")/data/kubernetes_job.json" "$dir/$job/job.yaml" <<'END' && ok || bad "$job/job.yaml"
import copy, json, jsonschema, sys, yaml
check = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))
job = yaml.safe_load(open(sys.argv[2]))
wrong = [e.message for e in check.iter_errors(job)]
spec = job["spec"]
pod = spec["template"]["spec"]
if spec["completions"] != spec["parallelism"] or "train_gpt2" not in pod["containers"][0]["args"][0]:
    wrong.append("not all machines at once, or not train_gpt2")
for path, value in (("completions", None), ("paralelism", 2), ("backoffLimit", -1), ("activeDeadlineSeconds", "7 days")):
    other = copy.deepcopy(job)
    if value is None:
        del other["spec"][path]
    else:
        other["spec"][path] = value
    if check.is_valid(other):
        wrong.append("the schema takes %s %s" % (path, value))
for line in wrong:
    print(line)
sys.exit(bool(wrong))
END
    done
else
    echo "skipped: job.yaml by its schema (needs python3-jsonschema and python3-yaml)"
fi
finish plan_jobs
