#!/usr/bin/env bash
# test_metrics_port.sh -- --metrics-port: figures in Prometheus's text format while a run goes on; ports that may not be; clients that
# send half a request or far too much, that never read, or are a hundred; and the bits of the run stay those of one without it.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
run=''
trap '[ -z "$run" ] || kill "$run" 2>/dev/null; rm -rf "$dir"' EXIT
yes 'figures of a run, while it runs' | head -400 >"$dir/text"
# train NAME OPTION...: rank 0 and another one.
train() {
    exec "$bin/train_gpt2" --data "$dir/text" --layers 2 --heads 2 --width 32 --block 32 --batch 8 --eval-every 100000 --eval-batches 1 \
        --ranks 2 --threads 2 -q --out "$dir/$1" "${@:2}"
}
# get PATH: the answer, its head included; nothing if nobody answers.
get() {
    (exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'GET %s HTTP/1.1\r\nHost: x\r\n\r\n' "$1" >&3 && timeout 5 cat <&3) 2>/dev/null
}
value() { sed -nE "s/^minitorch_$1 //p" <<<"$page"; }

for port in $(shuf -i 20000-29999 -n 20); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
done
train on --steps 100000 --metrics-port "$port" >"$dir/log" 2>&1 &
run=$!
has_page() { page=$(get /metrics) && grep -q '^minitorch_loss ' <<<"$page"; }
await $run has_page
grep -q '^HTTP/1.0 200 OK' <<<"$page" && grep -q '^Content-Type: text/plain; version=0.0.4' <<<"$page" && ok || bad "no page: $page, $(tail -3 "$dir/log")"
for name in step lr grad_norm first_step start_time_seconds samples_total samples_per_second loss tokens_per_second mfu_ratio communication_ratio \
    memory_bytes memory_peak_bytes; do
    [[ $(value $name) =~ ^[0-9.e+-]+$ ]] && grep -q "^# TYPE minitorch_$name " <<<"$page" && ok || bad "no $name: $page"
done
awk -v t="$(value tokens_per_second)" -v s="$(value samples_per_second)" -v c="$(value communication_ratio)" -v m="$(value memory_bytes)" \
    -v p="$(value memory_peak_bytes)" 'BEGIN { exit !(t / s > 31.99 && t / s < 32.01 && c >= 0 && c <= 1 && m > 0 && m <= p) }' && ok || bad "figures: $page"
if command -v promtool >/dev/null; then
    sed '1,/^\r$/d' <<<"$page" | promtool check metrics >"$dir/promtool" 2>&1 && [ ! -s "$dir/promtool" ] && ok || bad "promtool: $(cat "$dir/promtool")"
else
    echo "skipped: promtool check metrics (package prometheus)"
fi
grep -q '^HTTP/1.0 404 ' <<<"$(get /metricsx)" && ok || bad "metricsx"
grep -q '^HTTP/1.0 404 ' <<<"$(get /../../etc/passwd)" && ok || bad "a path"
grep -q '^HTTP/1.0 405 ' <<<"$( (exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'POST /metrics HTTP/1.1\r\n\r\n' >&3 && timeout 5 cat <&3) 2>/dev/null)" && ok || bad "POST"

# Hostile clients, all at once; an honest one is answered meanwhile.
exec 4<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /met' >&4                                           # half a request
exec 5<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /metrics HTTP/1.1\r\n\r\n' >&5                      # never reads
(exec 6<>"/dev/tcp/127.0.0.1/$port" && { printf 'GET / HTTP/1.1\r\nX: ' && head -c 1000000 /dev/zero | tr '\0' a; } >&6) 2>/dev/null
(exec 6<>"/dev/tcp/127.0.0.1/$port" && head -c 100000 /dev/urandom >&6) 2>/dev/null
many=()
for ((i = 0; i < 100; i++)); do exec {fd}<>"/dev/tcp/127.0.0.1/$port" && many+=("$fd"); done
before=$(value step)
page=$(get /metrics)
[ "$(value step)" -gt "$before" ] && ok || bad "beside hostile clients: $page"
for fd in "${many[@]}" 4 5; do exec {fd}>&-; done
kill -0 "$run" 2>/dev/null && ok || bad "the run has ended: $(tail -3 "$dir/log")"

# Ports that may not be; nothing is trained.
refused() {
    local said rc=0
    said=$(train none --steps 1 --metrics-port "$1" 2>&1) || rc=$?
    [ $rc -ne 0 ] && [ $rc -lt 128 ] && grep -qF -- "$2" <<<"$said" && ! grep -q '^ *step ' <<<"$said" && ok || bad "port $1: $rc, $said"
}
refused "$port" 'Address already in use; choose another port'
[ -z "$(find "$dir/none" -name 'step-*')" ] && ok || bad "trained beside a port that is taken"
for wrong in 80 0 65536 -1 x ''; do refused "$wrong" 'metrics-port'; done
kill "$run" && wait "$run" 2>/dev/null
run=''
[ -z "$(get /metrics)" ] && ok || bad "somebody answers after the end"

# What follows a run does not end it, and ends with it.
lost() { await $$ '[ -z "$(get /metrics)" ]'; }
train alone --steps 100000 --metrics-port "$port" --tensorboard >"$dir/log" 2>&1 &
run=$!
await $run has_page
for process in /proc/[0-9]*; do
    grep -qzF -- "$dir/alone" "$process/cmdline" 2>/dev/null && [[ $(<"$process/comm") = follow ]] && kill "${process#/proc/}"
done
rows=$(wc -l <"$dir/alone/steps.csv")
lost && await $run '[ "$(wc -l <"$dir/alone/steps.csv")" -gt "$rows" ]' && ok || bad "the run ended: $(tail -3 "$dir/log")"
"$bin/follow" --metrics-port "$port" "$dir/alone" &
follower=$!
await $follower '[ -n "$(get /metrics)" ]'
grep -q ^minitorch_mfu <<<"$(get /metrics)" && ok || bad "by hand"
kill -9 "$run" && wait "$run" 2>/dev/null
run=''
timeout 10 tail --pid=$follower -f /dev/null && lost && ok || bad "what followed the run goes on"
said=$( (ulimit -f 0 && "$bin/follow" --tensorboard "$dir/alone") 2>&1) && bad "no room" || ok
[ "$said" = 'follow: events for TensorBoard: File too large' ] && ok || bad "no room: $said"

# Beside a run without figures of each step: what metrics.csv has.
train plain --steps 100000 --eval-every 1 >"$dir/log" 2>&1 &
run=$!
await $run '[ "$(wc -l <"$dir/plain/metrics.csv")" -gt 1 ]'
"$bin/follow" --metrics-port "$port" "$dir/plain" &
await $! '[ -n "$(get /metrics)" ]'
page=$(get /metrics)
[[ $(value val_loss) =~ ^[0-9.]+$ && $(value step) =~ ^[0-9]+$ ]] && ok || bad "of metrics.csv: $page"
kill "$run" && wait "$run" 2>/dev/null
run=''
lost || bad "it goes on"

# The same bits, and the port is free again at once.
(train with --steps 20 --metrics-port "$port") >"$dir/log" 2>&1 && ok || bad "again: $(tail -3 "$dir/log")"
(train without --steps 20) >"$dir/log" 2>&1 && ok || bad "without: $(tail -3 "$dir/log")"
(cd "$dir/with/step-20" && find . -type f ! -name 'manifest.json' -exec sha256sum {} + | sort) >"$dir/sums"
[ -s "$dir/sums" ] && (cd "$dir/without/step-20" && sha256sum --quiet -c "$dir/sums") >"$dir/log" 2>&1 && ok || bad "other bits: $(cat "$dir/log")"
finish metrics_port
