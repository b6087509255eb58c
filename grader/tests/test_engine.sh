#!/usr/bin/env bash
# test_engine.sh: make grade-all on other machines. Slurm's programs are stand-ins here, with two nodes that are this machine; so is ssh,
# below GNU parallel. The grades are those of one machine; tasks that die, a node that cannot grade, a killed batch.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root"
build=$root/build/release
if ! echo '#include <sqlite3.h>' | ${CC:-gcc} -E - >/dev/null 2>&1; then
    echo "skipped: libsqlite3-dev is not installed"
    echo "engine: 0 passed, 0 failed" && exit 0
fi
make -s MINE= build/release/bin/grade_all >/dev/null || exit 1
class=$dir/class log=$dir/log
export FAKE=$dir/fake POLL=0.1
mkdir -p "$FAKE" "$dir/programs" "$dir/build/bin"
says() { grep -qF -- "$1" "$log"; }
is() { [ "$1" = "$2" ] || { echo "FAIL: $1 is not $2" && false; }; }
program() { cat >"$dir/programs/$1" && chmod +x "$dir/programs/$1"; }
sql() { # OUT SQL: all rows, a line each
    /usr/bin/python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1] + "/gradebook.sqlite", 10).execute(sys.argv[2]): print(*row)' "$@" 2>/dev/null
}
grades() { sql "$1" 'SELECT key, state, g.points, g.max, step, r.name, verdict, r.points FROM grade g JOIN result r ON grading = g.id ORDER BY 1, 5, 6'; }
all() { PATH=$dir/programs:$PATH "$dir/build/bin/grade_all" --build "$dir/build" --lab 00 --dir "$class" --seed 5eed "$@" >"$log" 2>&1; }

# ---- Slurm's programs: a file JOB_INDEX for each task, `STATE EXIT NODE`; tasks run in two processes, the nodes n1 and n2 ----------------

program sbatch <<'END'
#!/usr/bin/env bash
# $FAKE/dies: tasks that end by a failure of their node; $FAKE/apart: a node that does not share the folders.
echo "$*" >>"$FAKE/sbatch"
[ ! -e "$FAKE/refuses" ] || { echo "sbatch: error: Invalid account" >&2 && exit 1; }
id=$(($(cat "$FAKE/id" 2>/dev/null || echo 100) + 1)) && echo $id >"$FAKE/id" && cat >"$FAKE/$id.sh"
last=$(grep -oE -- '--array=0-[0-9]+' <<<"$*" | grep -oE '[0-9]+$') nodes=()
for node in n1 n2; do [[ $* =~ --exclude=[^\ ]*$node ]] || nodes+=($node); done
put() { echo "$2 $3 $node" >"$FAKE/new.$BASHPID" && mv "$FAKE/new.$BASHPID" "$1"; }
for ((i = 0; i <= last; i++)); do echo PENDING 0 >"$FAKE/${id}_$i"; done
for n in "${!nodes[@]}"; do
    (
        node=${nodes[n]} && trap 'kill $!; exit' TERM
        for ((i = n; i <= last; i += ${#nodes[@]})); do
            to=$FAKE/${id}_$i && [ -e "$to" ] || continue
            put "$to" RUNNING 0
            if [ -e "$FAKE/apart" ] && [ $node = "$(cat "$FAKE/apart")" ]; then put "$to" FAILED 127 && continue; fi
            word=$(sed -n 's/^tasks=(\(.*\))/\1/p' "$FAKE/$id.sh" | cut -d ' ' -f $((i + 1)))
            if grep -sqx "${word%%:*}" "$FAKE/dies"; then
                [ -e "$FAKE/always" ] || sed -i "/^${word%%:*}$/d" "$FAKE/dies"
                put "$to" NODE_FAIL 0 && continue
            fi
            SLURM_ARRAY_TASK_ID=$i SLURMD_NODENAME=$node bash "$FAKE/$id.sh" >>"$FAKE/said" 2>&1 &
            wait $! && put "$to" COMPLETED 0 || put "$to" FAILED $?
        done
    ) </dev/null >/dev/null 2>&1 9>&- &
    echo $! >>"$FAKE/$id.pids"
done
echo $id
END
program squeue <<'END'
#!/usr/bin/env bash
id=$(grep -oE -- '-j [0-9]+' <<<"$*" | cut -c 4-)
cd "$FAKE" && for t in "${id}"_*; do
    read -r state code node <"$t"
    case "$* $state" in *-t\ all*) ;; *PENDING | *RUNNING) ;; *) continue ;; esac
    [ ! -e forgets ] || [ "$state" = PENDING ] || [ "$state" = RUNNING ] || continue
    printf '%-20s%-20s%-20s%-20s%s\n' "$id" "${t#*_}" "$state" $((code * 256)) "$node"
done
END
program sacct <<'END'
#!/usr/bin/env bash
id=$(grep -oE -- '-j [0-9]+' <<<"$*" | cut -c 4-)
cd "$FAKE" && touch asked && for t in "${id}"_*; do read -r state code node <"$t" && echo "$t|$state|$code:0|$node"; done
END
program scancel <<'END'
#!/usr/bin/env bash
echo "$@" >>"$FAKE/scancel"
for id; do
    xargs -r kill <"$FAKE/$id.pids" 2>/dev/null
    for t in "$FAKE/${id}"_*; do grep -qE 'PENDING|RUNNING' "$t" && echo "CANCELLED 0 n1" >"$t"; done
done
true
END
# A grader that cannot begin on the node in $FAKE/bare, in its own words; it repeats its first report on the same units, after SLOW seconds.
cp build/release/bin/grade_all "$dir/build/bin"
cat >"$dir/build/bin/grade" <<END
#!/usr/bin/env bash
[ "\${SLURMD_NODENAME:-none}" != "\$(cat "$FAKE/bare" 2>/dev/null)" ] || { echo "grade: --marking needs a sandbox: none works" && exit 3; }
while [ \$# -gt 0 ]; do case \$1 in --report) to=\$2 ;; --submission) units=\$2 ;; esac; args+=("\${1//"$dir/build"/"$build"}") && shift; done
kept=$dir/kept/\$(cat "\$units"/*.c | cksum | tr -d ' ')
sleep \${SLOW:-0}
[ -e "\$kept" ] && cp "\$kept"/00.* "\$to" && exit
"$build/bin/grade" "\${args[@]}" || exit
[ ! -e "$dir/kept" ] || { cp -r "\$to" "\$kept.\$\$" && { mv -T "\$kept.\$\$" "\$kept" || true; }; }
END
chmod +x "$dir/build/bin/grade"

# ---- the same grades -------------------------------------------------------------------------------------------------

mkdir -p "$class"/{ada,Zoë,empty,view,other}
for student in ada other; do cp solutions/00-tensors/*.c "$class/$student"; done
cp labs/00-tensors/*.c "$class/Zoë"
cp solutions/00-tensors/view.c "$class/view"
sed 's/result.stride\[i\] = .*/result.stride[i] = 1;/' solutions/00-tensors/strides.c >"$class/other/strides.c"
all --out "$dir/one"
check "on this machine" is $? 0
grades "$dir/one" >"$dir/want"
fake() { cat "$FAKE"/*.pids 2>/dev/null | xargs -r kill 2>/dev/null; rm -rf "$FAKE" && mkdir "$FAKE"; }
same() { # OUT: the grades of one machine, one grading for each submission
    grades "$1" | diff "$dir/want" - >"$log.diff" && is "$(sql "$1" 'SELECT count(*), count(DISTINCT submission) FROM grading')" "5 5" || { tail -n 3 "$log.diff" && false; }
}
slurm() { all --engine slurm "$@"; }
mkdir "$dir/kept"
slurm --out "$dir/slurm"
check "with Slurm" is $? 0
check "the same grades" same "$dir/slurm"
check "of one array job" is "$(grep -c -- '--array=0-3 .*--no-requeue' "$FAKE/sbatch")" 1
check "whole nodes are for timed rows" is "$(grep -c exclusive "$FAKE/sbatch")" 0
check "results and reports are private, and nothing is left of tasks" is "$(find "$dir/slurm" -perm /077 -o -name ended -o -name 'task-*' -o -name jobs)" ""
check "with processor time" is "$(sql "$dir/slurm" "SELECT count(*) FROM grading WHERE state = 'graded' AND cpu > 0 AND seconds > 0")" 4
slurm --out "$dir/slurm"
check "a second time nothing is graded" is "$? $(wc -l <"$FAKE/sbatch")" "0 1"

# ---- what fails --------------------------------------------------------------------------------------------------------

fake && printf '%s\n' 0001 0003 >"$FAKE/dies" && touch "$FAKE/forgets"
slurm --out "$dir/dies"
check "tasks whose node dies are queued again" is "$? $(wc -l <"$FAKE/sbatch")" "0 2"
check "by what sacct says, when squeue has forgotten them" [ -e "$FAKE/asked" ]
check "and lose nothing" same "$dir/dies"
fake && echo 0001 >"$FAKE/dies" && touch "$FAKE/always"
slurm --out "$dir/always"
check "three times" is "$? $(wc -l <"$FAKE/sbatch")" "1 3"
check "then it is an error, with Slurm's word" says "ERROR  its task on n1 has ended without a result (Slurm: NODE_FAIL)"
rm "$FAKE/dies" && slurm --out "$dir/always"
check "which the next run mends" is "$? $(sql "$dir/always" "SELECT count(*) FROM grade WHERE state = 'graded'")" "0 4"
for fault in bare apart; do
    fake && echo n2 >"$FAKE/$fault"
    slurm --out "$dir/$fault"
    check "a node is left out: $fault" is "$? $(grep -c -- '--exclude=n2' "$FAKE/sbatch")" "0 1"
    [ $fault = apart ] || check "it is said why" says "n2 gets no more tasks: grade: --marking needs a sandbox: none works"
    [ $fault = bare ] || check "it is said why" says "n2 gets no more tasks: it does not see $root or $dir/apart/00, or a program of them does not run"
    check "the other grades all" same "$dir/$fault"
done
fake && touch "$FAKE/refuses"
slurm --out "$dir/refuses"
check "sbatch has the last word" is "$? $(grep -c 'Invalid account' "$log")" "3 1"
check "and the batch says what failed" says "sbatch has refused the tasks, see above"
rm "$FAKE/refuses" && slurm --out "$dir/refuses" && check "the same command goes on" same "$dir/refuses"
mkdir "$dir/none" && for p in bash env grep; do ln -s "$(command -v $p)" "$dir/none"; done
PATH=$dir/none "$dir/build/bin/grade_all" --build "$dir/build" --lab 00 --dir "$class" --engine slurm --out "$dir/nothing" >"$log" 2>&1
check "no Slurm here" says "ENGINE=slurm needs sbatch, which is not here"
all --engine cloud
check "no such engine" says 'unknown engine "cloud": use slurm or ssh'

# ---- killed and continued ------------------------------------------------------------------------------------------------

fake
SLOW=1 PATH=$dir/programs:$PATH "$dir/build/bin/grade_all" --build "$dir/build" --lab 00 --dir "$class" --seed 5eed --engine slurm --out "$dir/killed" >"$log" 2>&1 &
driver=$!
await $driver '[ "$(sql "$dir/killed" "SELECT count(*) FROM grading WHERE state = \"graded\"")" -ge 1 ]'
{ pkill -KILL -P $driver; kill -KILL $driver && wait $driver; } 2>/dev/null # the batch and its engine.sh
await $$ 'ls "$dir"/killed/00/*/ended/status' # tasks go on without them
slurm --out "$dir/killed"
check "the next run takes what they have left" is "$? $(grep -c . "$FAKE/scancel")" "0 1"
check "nothing is lost, nothing graded twice" same "$dir/killed"
fake
SLOW=1 PATH=$dir/programs:$PATH "$dir/build/bin/grade_all" --build "$dir/build" --lab 00 --dir "$class" --seed 5eed --engine slurm --out "$dir/stopped" >"$log" 2>&1 &
driver=$!
await $driver '[ -s "$FAKE/sbatch" ] && [ -s "$dir/stopped/00/jobs" ]'
kill -TERM $driver && wait $driver
check "an interrupted batch ends its tasks" is "$? $(grep -c . "$FAKE/scancel")" "1 1"
check "with words" says "the same command goes on"
slurm --out "$dir/stopped" && check "it does" same "$dir/stopped"

# ---- timed rows ----------------------------------------------------------------------------------------------------------

mkdir -p "$dir/timed/Ada" && cp labs/01-matmul/*.c "$dir/timed/Ada" # its races are TODO, in no time
fake
PATH=$dir/programs:$PATH build/release/bin/grade_all --lab 01 --dir "$dir/timed" --engine slurm >"$log" 2>&1
check "timed rows have nodes of their own" is "$? $(grep -c -- --exclusive "$FAKE/sbatch") $(wc -l <"$FAKE/sbatch")" "0 1 2"
check "and complete the grading" is "$(sql "$dir/timed.graded" "SELECT state, max(g.id), sum(verdict = 'INCONCLUSIVE'), count(*) FROM grade g JOIN result ON grading = g.id")" "graded 1 0 20"

# ---- ssh -------------------------------------------------------------------------------------------------------------------

all --engine ssh
check "which hosts" says "ENGINE=ssh HOSTS=file"
all --engine ssh --hosts "$dir/nohosts" --out "$dir/ssh"
if command -v parallel >/dev/null; then
    check "no such file" says "reads its machines from the file $dir/nohosts, and there is none"
    program ssh <<'END'
#!/usr/bin/env bash
while [[ ${1:-} == -* ]]; do [[ $1 == -[lopiS] ]] && shift; shift; done
host=${1#*@} && shift && { [ "${1:-}" != -- ] || shift; } && [ "$host" != dead ] || exit 255
echo "$host" >>"$FAKE/ssh"
exec env -u SHELL bash -c "$*"
END
    fake && printf '%s\n' '# the pool' 1/a 1/dead 1/me@b >"$dir/hosts"
    all --engine ssh --hosts "$dir/hosts" --out "$dir/ssh"
    check "with ssh" is $? 0
    check "the same grades" same "$dir/ssh"
    check "from two hosts" is "$(sort -u "$FAKE/ssh" | tr '\n' ' ')" "a b "
    fake && printf '%s\n' 1/a 1/b >"$dir/hosts"
    SLOW=1 PATH=$dir/programs:$PATH "$dir/build/bin/grade_all" --build "$dir/build" --lab 00 --dir "$class" --seed 5eed --engine ssh --hosts "$dir/hosts" --out "$dir/cut" >"$log" 2>&1 &
    driver=$!
    await $driver '[ "$(sql "$dir/cut" "SELECT count(*) FROM grading WHERE state = \"graded\"")" -ge 1 ]'
    { pkill -KILL -P $driver; kill -KILL $driver && wait $driver; } 2>/dev/null # what runs on the hosts goes on there
    all --engine ssh --hosts "$dir/hosts" --out "$dir/cut"
    check "a killed batch goes on" is $? 0
    check "nothing is lost, nothing graded twice" same "$dir/cut"
else
    echo "skipped: parallel is not installed"
fi
check "submissions an hour" is "$(COUNT=1 grader/batch/rate.sh 00 | grep -cE '^00 +[0-9.]+ +[0-9]+ +-?[0-9.]+$')" 1
finish engine
