# ranks.bash -- for tests of several ranks: a text, runs of train_gpt2, their losses beside those of one rank; ranks that are
# processes, and what happens when one fails. The test says `finish NAME`.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$bin/../../.." build/release/bin/{train_gpt2,profile,check_mpi,check_nccl} >/dev/null || exit 1
bad() { failed=$((failed + 1)) && echo "FAIL $*: $(grep -m1 "^train_gpt2: " "$dir/log" || grep -m1 . "$dir/log")"; }
said() { grep -qE -- "$*" "$dir/log" && ok || bad "not \"$*\""; }
# run FOLDER FLAG...: a new run there, or with --resume the one that is there. Rows of metrics.csv are of evaluations only.
run() { timeout -k 5 300 "$bin/train_gpt2" "${flags[@]}" --log-every 0 $([[ $* == *--resume* ]] || echo --overwrite) "${@:2}" -o "$dir/$1" >"$dir/log" 2>&1 && ok || bad "$*"; }
# refused WORDS FLAG...
refused() {
    "$bin/train_gpt2" "${flags[@]}" -o "$dir/none" "${@:2}" >"$dir/log" 2>&1 && bad "ran with ${*:2}" || said "$1"
}
# drift FOLDER FOLDER: the largest difference of two losses and that of two norms of gradients (of the norm, where it is above 1),
# in millionths; rows with other numbers of samples are far away.
rows=5 rate=2e-3 # of evaluations, without that before the first step; that of train_gpt2
drift() { paste -d, "$dir/$1/metrics.csv" "$dir/$2/metrics.csv" | awk -F, -v rows=$rows 'function far(a, b) { return a > b ? a - b : b - a }
    function most(a, b) { return a > b ? a : b }
    NR > 1 { loss = most(loss, $1 == $10 ? most(far($2, $11), far($3, $12)) : 1e6); norm = most(norm, $7 * $16 > 0 ? far($7, $16) / most(1, $7) : 0) }
    END { print NR == rows + 2 ? int(1e6 * loss + 0.5) " " int(1e6 * norm + 0.5) : "999999999 999999999" }'; }
# near FOLDER [WORDS]: on several ranks the sums of gradients are rounded in another order: by at most N 2^-24 of the sum of the ranks'
# absolute values. A learning rate that is 2^-20 larger or smaller moves each update by more, for up to 8 ranks. What this does to
# losses and norms shows how large their noise is (in bf16, where a value is rounded up or down, it does not depend on the size of
# the disturbance). The bound is four times the larger of the two, for a maximum over all rows, and one digit of what is printed.
# In 16 bits each factor of a gradient's products is off by up to 2^-8 (bf16) or 2^-11 (f16), whatever moves it: the least bound of
# the norm, of which two runs would differ by twice as much if all roundings went the same way. A loss is a mean over 32 targets or
# more, whose logits of about 1 are off by as much in random directions: 2^-8 or 2^-11 over the root of 32.
bounds() {
    local loss=2 norm=2
    case "${flags[*]}" in *bf16*) loss=690 norm=3906 ;; *f16*) loss=86 norm=488 ;; esac
    awk "BEGIN { split(\"$moved\", m, \" \"); a = 4 * m[1] + 2; b = 4 * m[2] + 2; print (a > $loss ? a : $loss), (b > $norm ? b : $norm) }"
}
within() { [ "${1% *}" -le "${2% *}" ] && [ "${1#* }" -le "${2#* }" ]; }
near() {
    got=$(drift one "$1")
    within "$got" "$(bounds)" && ok || bad "${2:-$1}: loss and norm of the gradients are $got millionths from one rank, the bounds are $(bounds)"
}
# one_rank: the run that the others are compared with, and how far its losses and norms move.
one_rank() {
    run one
    run more --lr "$(awk "BEGIN { printf \"%.9g\", $rate * (1 + 2 ^ -20) }")"
    run less --lr "$(awk "BEGIN { printf \"%.9g\", $rate * (1 - 2 ^ -20) }")"
    moved=$(printf '%s\n' "$(drift one more)" "$(drift one less)" | awk '{ a = $1 > a ? $1 : a; b = $2 > b ? $2 : b } END { print a, b }')
}
# stopped FLAG...: Ctrl-C: all ranks end after the same step, and the run can be continued.
stopped() {
    "$bin/train_gpt2" "${flags[@]}" --steps 100000 "$@" -o "$dir/stopped" >"$dir/log" 2>&1 &
    local victim=$!
    await $victim '[ -e "$dir/stopped/metrics.csv" ] && [ "$(wc -l <"$dir/stopped/metrics.csv")" -ge 3 ]'
    kill -INT $victim 2>/dev/null || kill -TERM $victim
    wait $victim
    said 'stopped after step [0-9]+; --resume continues there'
}

# ---- ranks that are processes
mpirun=(mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca odls_base_sigkill_timeout 0 -n)
ranks() { timeout -k 5 100 "${mpirun[@]}" "$@" >"$dir/log" 2>&1; }
# each_rank PROGRAM WORDS: on 1, 2 and 3 ranks each rank says this. Where MPI is not installed, it says how to install it.
each_rank() {
    local n
    if [[ $(ldd "$bin/$1") != *libmpi* ]]; then
        "$bin/$1" >"$dir/log" 2>&1 && bad "ran without MPI" || said 'install the packages libopenmpi-dev and openmpi-bin'
        echo "Open MPI is not installed: ranks that are processes are not tested" && finish "$1"
    fi
    for n in 1 2 3; do ranks $n "$bin/$1" && [ "$(grep -c "$2\$" "$dir/log")" -eq $n ] && ok || bad "$1 on $n ranks"; done
}
shared() { find /dev/shm -type f ! -name 'bxfi_*' 2>/dev/null | sort; } # not Criterion's, whose tests run beside this one
nothing_left() {
    shared | diff "$dir/before" - >"$dir/log" && ok || bad "left in /dev/shm"
    [ $killed -gt 0 ] || [ -z "$(ls -A "$dir/tmp")" ] && ok || bad "left in /tmp: $(ls -A "$dir/tmp")"
}
shared >"$dir/before"
# ended PROGRAM...: mpirun, or what becomes it. Within 60 s all ranks have ended, not with status 0. mpirun of Open MPI 4.1.4 itself
# now and then does not end, or crashes, once it has ended all ranks: so it is killed after 10 s ($killed: how often), and then its
# files stay.
killed=0
ranks_run() { grep -qv '^Z' <(ps -o stat= --ppid "$1"); }
ended() {
    local tries seen=0 gone=0
    "$@" >"$dir/log" 2>&1 &
    local job=$!
    for ((tries = 0; tries < 600; tries++)); do
        kill -0 $job 2>/dev/null || break
        if ranks_run $job; then seen=1 gone=0; else gone=$((gone + seen)); fi
        [ $gone -lt 10 ] || break # for a second: mpirun has other children before the ranks
        sleep 0.1
    done
    ranks_run $job && bad "$*: a rank has not ended" || ok
    for ((tries = 0; tries < 100; tries++)); do kill -0 $job 2>/dev/null || break; sleep 0.1; done
    kill -KILL $job 2>/dev/null && killed=$((killed + 1))
    wait $job 2>/dev/null && bad "$*: status 0" || ok
    sed -zi 's/ exited on\nsignal/ exited on signal/g' "$dir/log" # one line in Open MPI 4, two in 5
}
# ends WORDS PROGRAM...: the same, and what was said. DEADLINE in an argument is $deadline. Who sees a fault first, says it, and the
# words have to allow for each rank that can. On a busy machine a rank that is only late can be blamed before, or one that gave up
# be seen before its words are: then once more, with a deadline that is 8 times as long.
ends() {
    local words=$1 program=("${@:2}") seconds
    for seconds in "$deadline" $((8 * deadline)); do
        rm -rf "$dir"/broken-*
        ended "${program[@]//DEADLINE/$seconds}"
        grep -qE -- "$words" "$dir/log" && break
        grep -qE "within $seconds s|has aborted its communicator" "$dir/log" || break
    done
    said "$words"
}
# fault PROGRAM NAME WORDS [FLAG...]: three ranks, of which rank 1 does something else.
fault() { ends "$3" "${mpirun[@]}" 3 "$bin/$1" --fault "$2" --deadline DEADLINE "${@:4}"; }
# fault_at RANK:MESSAGE:HOW PROGRAM...: with that happening to a rank (preload/fault_at.c); mpirun's own files are in $dir/tmp.
fault_at() {
    [ -e "$dir/fault_at.so" ] || ${CC:-gcc} -std=gnu11 -O1 -shared -fPIC -o "$dir/fault_at.so" "$bin/../../../minitorch/tests/preload/fault_at.c" -ldl
    mkdir -p "$dir/tmp" && TMPDIR="$dir/tmp" FAULT_AT="$1" LD_PRELOAD="$dir/fault_at.so" exec "${@:2}"
}
# broken RANK:MESSAGE:HOW FLAG...: train_gpt2, so; it ends, with $words.
broken() {
    local rank=${1%%:*} op='(send|receive|all_[a-z]*|reduce_scatter|broadcast|barrier|nccl[A-Z][a-zA-Z]*|the (start|end))'
    case ${1##*:} in
    kill) words="rank $rank .*signal 9|$op.*rank $rank (has ended|did not.*)" ;;
    exit) words="^ *Process name: .*,$rank\]|$op.*rank $rank (has ended|did not.*)" ;;
    stop) words="rank [0-9]+: .*$op.*(rank $rank|another rank) (did not take part|has not called).*" ;;
    short) words="rank [0-9]+: .*expects [0-9]+ bytes, and rank [0-9]+ sends ([0-9]+|more)" ;;
    esac
    ends "$words" fault_at "$1" "$bin/train_gpt2" "${flags[@]}" --deadline DEADLINE -o "$dir/broken-$1" "${@:2}"
}
for i in $(seq 400); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
