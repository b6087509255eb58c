#!/usr/bin/env bash
# bench_access: each order reads each window once, with as many jumps as it must have, whatever the disk cache holds; what it does
# where no page can be given up; what it refuses; nothing is left.
. "$(dirname "$0")/../../.ci/check.bash"
make -s -C "$root" build/release/bin/bench_access >/dev/null || exit 1
mkdir "$dir/disk"
access() { "$bin/bench_access" --megabytes 1 --rounds 2 --dir "$dir/disk" "$@" >"$dir/log" 2>&1; }
row() { awk -F, -v way="$1" -v column="$2" '$1 == way { print $column }' "$dir/csv"; }
empty() { [ -z "$(ls -A "$1")" ]; }
# 1 MiB of windows of 4096 bytes, 16 to a shard.
access --shard 16 --csv "$dir/csv" && grep -q '^bench_access: PASS ' "$dir/log" && empty "$dir/disk" && ok || bad "a run"
for way in sequential 'shuffled shards' 'random windows' 'small files'; do
    [ "$(row "$way" 2)" = 256 ] && grep -q "^$way  *256 " "$dir/log" && ok || bad "reads: $way $(row "$way" 2)"
done
[ "$(row sequential 3)" = 0 ] && [ "$(row 'small files' 3)" = 256 ] && ok || bad "jumps: $(cat "$dir/csv")"
# Of 16 shuffled shards few follow their neighbour; of 256 shuffled windows the mean is one.
[ "$(row 'shuffled shards' 3)" -le 15 ] && [ "$(row 'shuffled shards' 3)" -ge 8 ] && ok || bad "shards: $(cat "$dir/csv")"
[ "$(row 'random windows' 3)" -le 255 ] && [ "$(row 'random windows' 3)" -ge 240 ] && ok || bad "windows: $(cat "$dir/csv")"
[ "$(row sequential 5)" = 1.0000 ] && [ "$(row sequential 7)" = 1.0000 ] && ok || bad "ratios: $(cat "$dir/csv")"
# A shard of all windows is the file in its order; the last shard may be smaller; windows that do not divide the file.
access --shard 256 --csv "$dir/csv" && [ "$(row 'shuffled shards' 3)" = 0 ] && ok || bad "one shard"
access --shard 100 --window 5000 --csv "$dir/csv" && [ "$(row 'shuffled shards' 2)" = 209 ] && [ "$(row 'shuffled shards' 3)" -le 2 ] && ok || bad "a rest"
# A file system in memory keeps its pages, and the output says so.
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && shm=$(mktemp -d /dev/shm/access.XXXXXX); then
    access --dir "$shm" && grep -q 'up to 100 % stayed in memory, so the cold speeds are not the disk' "$dir/log" && empty "$shm" && ok || bad "in memory"
    rmdir "$shm"
fi
expect "no window" 64 "from 512 to 1048576" "$bin/bench_access" --window 7
expect "no folder" 1 "--dir names another folder" "$bin/bench_access" --megabytes 1 --dir /proc/self
full() { trap '' XFSZ && ulimit -f 100 && exec "$bin/bench_access" --megabytes 1 --dir "$dir/disk"; }
expect "no room" 1 "--megabytes makes the files smaller" full
empty "$dir/disk" && ok || bad "left: $(ls "$dir/disk")"
# Ctrl-C leaves nothing.
"$bin/bench_access" --megabytes 1 --rounds 1000 --dir "$dir/disk" >"$dir/log" 2>&1 &
await $! '[ -n "$(ls "$dir/disk")" ]'
kill -TERM $! && wait $!
[ $? -eq 143 ] && empty "$dir/disk" && ok || bad "stopped: $(ls "$dir/disk")"
finish access
