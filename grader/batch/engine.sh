#!/usr/bin/env bash
# engine.sh ENGINE begin|run FOLDER HOSTS COMMAND... -- the tasks of make grade-all on other machines (engine.h).
#
#   begin   says what ENGINE lacks here, and ends the tasks that a killed batch has left
#   run     reads tasks, one a line, starts `COMMAND --task TASK` for each of them on some machine, and prints for each
#           that has ended its submission: `0007` when FOLDER/0007/ended is there, else with the reason, `0007 WHY`
#
#   slurm   an array job for the rows that measure no time, and one with --exclusive for those that do. The variables that
#           sbatch reads choose partition, account and limits: SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT ...
#   ssh     GNU parallel on the machines of HOSTS (--sshloginfile), as many tasks on each as it has processors, or as
#           HOSTS says (4/host); rows that measure time one after the other
#
# A machine on which no grader can start gets no more tasks in this batch. A task that has ended without a result is the
# batch's to queue again. POLL=2: seconds between two looks at Slurm.
set -uo pipefail
engine=$1 verb=$2 folder=$3 hosts=$4
command=("${@:5}")
jobs=() left=$folder/excluded
declare -A open # a task that runs, or waits: its submission
declare -A state # of a task that has ended, as Slurm or parallel has it: "EXIT MACHINE WORDS"

refuse() { echo "grade-all: $*" >&2 && exit 1; }
here() { command -v "$1" >/dev/null || refuse "ENGINE=$engine needs $1, which is not here: $2"; }
exclude() { # MACHINE WHY
    grep -qxF -- "$1" "$left" 2>/dev/null && return
    echo "$1" >>"$left"
    echo "grade-all: $1 gets no more tasks: $2" >&2
}
# What every task begins with, in words for a shell: machines that do not share the folders end with 127.
task() { printf 'cd %q && [ -e %q ] || exit 127; exec' "$(pwd -P)" "$folder/tasks" && printf ' %q' "${command[@]}" --task; }

# why EXIT MACHINE WORDS: of a task without a result. 126 and 127 are those of a shell that cannot find a program.
why() {
    case $1 in
    126 | 127)
        exclude "$2" "it does not see $(pwd -P) or $folder, or a program of them does not run: the machines must share both folders, and have the packages of make deps"
        echo "$2 does not share the folders" ;;
    255) echo "ssh does not reach $2" ;;
    *) echo "its task on $2 has ended without a result (${*:3})" ;;
    esac
}

# Say which tasks have ended. A state of success without a result is a shared folder that shows it later.
collect() { # [LAST]: nothing runs any more
    local n key status words machine
    for n in "${!open[@]}"; do
        if [ -e "$folder/$n/ended/status" ]; then
            read -r key status words words machine <"$folder/$n/ended/status"
            [ "$status" != $((3 << 8)) ] || [ -e "$(echo "$folder/$n/ended/"*.html)" ] || exclude "$machine" "$(tail -n 1 "$folder/$n/ended/log")"
            echo "$n"
        elif [ -n "${state[$n]:-}" ] && { [[ ${state[$n]} != 0\ * ]] || [ $((late[$n] = ${late[$n]:-0} + 1)) -gt 60 ]; }; then
            echo "$n $(why ${state[$n]})"
        elif [ -n "${1:-}" ]; then
            echo "$n its task has vanished"
        else
            continue
        fi
        unset "open[$n]"
    done
}

# ---- Slurm ---------------------------------------------------------------------------------------------------------

slurm_begin() {
    local program id ids=() tries
    for program in sbatch squeue scancel; do here $program "on Debian it is in slurm-client; run make grade-all where jobs are submitted"; done
    [ -s "$folder/jobs" ] && mapfile -t ids <"$folder/jobs"
    for id in "${ids[@]}"; do
        scancel "$id" 2>/dev/null
        for ((tries = 0; tries < 30; tries++)); do [ -n "$(squeue -h -j "$id" 2>/dev/null)" ] && sleep 1; done
    done
    rm -f "$folder/jobs"
}

declare -A number # JOB_INDEX: the submission
# submit OPTION... -- TASK...: an array job, of at most 1000 tasks (Slurm's MaxArraySize is 1001 by default).
submit() {
    local options=() id i tasks
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    while [ $# -gt 0 ]; do
        tasks=("${@:1:1000}") && shift ${#tasks[@]}
        [ ! -s "$left" ] || options+=("--exclude=$(paste -sd, "$left")")
        id=$({ echo '#!/bin/bash' && printf 'tasks=(%s)\n' "${tasks[*]}" && echo "$(task) \"\${tasks[SLURM_ARRAY_TASK_ID]}\""; } |
            sbatch --parsable --array="0-$((${#tasks[@]} - 1))" --no-requeue --ntasks=1 --job-name=grade-all --output=/dev/null \
                --chdir=/ "${options[@]}") || refuse "sbatch has refused the tasks, see above${options[*]:+ (${options[*]})}"
        id=${id%%;*} && jobs+=("$id") && echo "$id" >>"$folder/jobs"
        for i in "${!tasks[@]}"; do number[${id}_$i]=${tasks[i]%%:*}; done
    done
}

# JOB_INDEX STATE EXIT MACHINE of the tasks that Slurm knows: squeue forgets them some minutes after their end.
known() {
    local id said
    for id in "${jobs[@]}"; do
        if said=$(squeue -h -r -t all -j "$id" -O ArrayJobID:20,ArrayTaskID:20,State:20,exit_code:20,NodeList:200 2>/dev/null) && [ -n "$said" ]; then
            awk '{ print $1 "_" $2, $3, ($4 < 256 ? $4 : int($4 / 256)), $5 }' <<<"$said" # as wait() has it
        else
            sacct -n -X -P -j "$id" -o JobID,State,ExitCode,NodeList 2>/dev/null | sed -E 's/ by [0-9]+//; s/\|/ /g; s/ ([0-9]+):[0-9]+ / \1 /'
        fi
    done
}

slurm_run() {
    local task word code machine unknown=0 said
    trap 'scancel "${jobs[@]}" 2>/dev/null; exit 143' TERM INT HUP
    mapfile -t rows < <(printf '%s\n' "$@" | grep :rows:)
    mapfile -t timed < <(printf '%s\n' "$@" | grep :timed:)
    submit -- "${rows[@]}"
    submit --exclusive -- "${timed[@]}"
    while [ ${#open[@]} -gt 0 ]; do
        sleep "${POLL:-2}" & wait $!
        said=$(known)
        if [ -n "$said" ]; then unknown=0; else unknown=$((unknown + 1)); fi
        while read -r task word code machine; do
            case $word in
            COMPLETED | FAILED | CANCELLED* | TIMEOUT | NODE_FAIL | OUT_OF_MEMORY | BOOT_FAIL | DEADLINE | PREEMPTED | REVOKED | SPECIAL_EXIT)
                [ "$word" = COMPLETED ] || [ "$code" != 0 ] || code=1
                state[${number[$task]:-none}]="$code ${machine:-a node} Slurm: $word" ;;
            esac
        done <<<"$said"
        if [ $unknown -lt 150 ]; then collect; else collect last; fi
    done
    rm -f "$folder/jobs"
}

# ---- GNU parallel over ssh -----------------------------------------------------------------------------------------

ssh_begin() {
    here parallel "on Debian it is in the package parallel"
    here ssh "on Debian it is in openssh-client"
    [ -s "$hosts" ] || refuse "ENGINE=ssh reads its machines from the file $hosts, and there is none: HOSTS=file, a line for each: [N/][user@]host, N graders"
}

# over JOBS TASK...: by bash, for which task() is written, whatever the login shell is there
over() {
    local slots=$1 seq host start runtime send receive code signal rest pid
    shift
    [ $# -gt 0 ] || return
    grep -vE '^ *(#|$)' "$hosts" | { if [ -s "$left" ]; then grep -vE "(^|[/@])($(paste -sd'|' "$left"))$"; else cat; fi; } >"$folder/hosts"
    [ -s "$folder/hosts" ] || refuse "no machine of $hosts is left, see above"
    printf '%s\n' "$@" | PARALLEL_SHELL=/bin/bash setpriv --pdeathsig KILL parallel --will-cite --sshloginfile "$folder/hosts" --jobs "$slots" --retries 3 \
        --joblog "$folder/joblog" "$(task) {}" >&2 &
    pid=$!
    trap 'kill $pid; sleep 0.2; kill $pid; exit 143' TERM INT HUP # the second signal ends what runs
    while kill -0 $pid 2>/dev/null; do
        sleep 1 & wait $!
        collect
    done
    wait $pid
    while read -r seq host start runtime send receive code signal rest; do
        [[ $rest =~ --task\ \'?([0-9]+): ]] && state[${BASH_REMATCH[1]}]="$code $host exit status $code"
    done <"$folder/joblog"
}

ssh_run() {
    mapfile -t rows < <(printf '%s\n' "$@" | grep :rows:)
    mapfile -t timed < <(printf '%s\n' "$@" | grep :timed:)
    over 100% "${rows[@]}"
    over 1 "${timed[@]}"
    collect last
}

# ---- all of it -----------------------------------------------------------------------------------------------------

declare -A late # looks at a task that has ended well and whose result is not there yet
"${engine}_begin"
if [ "$verb" = begin ]; then
    rm -rf "$folder"/*/task-* "$left"
    exit 0
fi
mapfile -t tasks
for t in "${tasks[@]}"; do open[${t%%:*}]=1; done
"${engine}_run" "${tasks[@]}"
