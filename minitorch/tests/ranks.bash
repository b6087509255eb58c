# ranks.bash -- for tests of train_gpt2 on several ranks: a text, runs, and their losses beside those of one rank. The test says `finish NAME`.
set -uo pipefail
bin=$(cd "$(dirname "$0")/../.." && pwd)/build/release/bin
make -s -C "$bin/../../.." build/release/bin/{train_gpt2,profile} >/dev/null || exit 1
dir=$(mktemp -d) passed=0 failed=0
trap 'rm -rf "$dir"' EXIT
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)) && echo "FAIL $*: $(grep -m1 "^train_gpt2: " "$dir/log" || tail -1 "$dir/log")"; }
said() { grep -qE -- "$*" "$dir/log" && ok || bad "not \"$*\""; }
finish() { echo "$1: $passed passed, $failed failed" && exit $((failed > 0)); }
# run FOLDER FLAG...
run() { "$bin/train_gpt2" "${flags[@]}" "${@:2}" -o "$dir/$1" >"$dir/log" 2>&1 && ok || bad "$*"; }
# refused WORDS FLAG...
refused() {
    "$bin/train_gpt2" "${flags[@]}" -o "$dir/none" "${@:2}" >"$dir/log" 2>&1 && bad "ran with ${*:2}" || said "$1"
}
# drift FOLDER FOLDER: the largest difference of two losses, in millionths; rows with other numbers of samples are far away.
drift() { paste -d, "$dir/$1/metrics.csv" "$dir/$2/metrics.csv" | awk -F, 'function far(a) { return a < 0 ? -a : a }
    NR > 1 { d = $1 == $7 ? far($2 - $8) : 1e6; e = far($3 - $9); m = d > m ? d : m; m = e > m ? e : m }
    END { printf "%.0f", NR == 6 ? 1e6 * m : 1e12 }'; }
# near FOLDER: on several ranks the sums of gradients are rounded in another order: by at most N 2^-24 of the sum of the ranks'
# absolute values. A learning rate that is 2^-20 larger or smaller moves each update by more, for up to 8 ranks. What this does to
# the losses shows how large their noise is (in bf16, where a value is rounded up or down, it does not depend on the size of the
# disturbance). The bound is four times the larger of the two, for a maximum over ten losses, and one digit of what is printed.
near() {
    local got
    got=$(drift one "$1")
    [ "$got" -le $((4 * moved + 2)) ] && ok || bad "$1: $got millionths from one rank, the bound is $((4 * moved + 2))"
}
# one_rank: the run that the others are compared with, and how far its losses move.
one_rank() {
    run one
    run more --lr 2.0000019e-3
    run less --lr 1.9999981e-3
    moved=$(printf '%s\n' "$(drift one more)" "$(drift one less)" | sort -n | tail -1)
}
# stopped FLAG...: Ctrl-C: all ranks end after the same step, and the run can be continued.
stopped() {
    "$bin/train_gpt2" "${flags[@]}" --steps 100000 "$@" -o "$dir/stopped" >"$dir/log" 2>&1 &
    local victim=$!
    until [ -e "$dir/stopped/metrics.csv" ] && [ "$(wc -l <"$dir/stopped/metrics.csv")" -ge 2 ]; do sleep 0.01; done
    kill -INT $victim 2>/dev/null || kill -TERM $victim
    wait $victim
    said 'stopped after step [0-9]+; --resume continues there'
}
for i in $(seq 400); do echo "line $i: the cat sat on mat $((i * 7 % 13)) and saw $((i % 5)) mice"; done >"$dir/text"
