#!/usr/bin/env bash
# faults: no checkpoint is lost, and with a save that does not wait for the disk, or does things in another order, some are.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
build=build/release
make -s $build/bin/faults >/dev/null || exit 1
memory=$([ -w /dev/shm ] && echo /dev/shm || echo "$dir") # where fsync costs nothing

$build/bin/faults --quick --dir "$memory" --csv "$dir/waste.csv" >"$dir/log" 2>&1 && ok || bad "the sweep: $(grep -m1 lost: "$dir/log")"
grep -qE '^faults: [0-9]{4,} points, 0 lost$' <<<"$(tail -1 "$dir/log")" && ok || bad "points"
awk -F, 'NR > 1 && $3 > worst[0] { worst[0] = $3 } NR > 1 && (!best || $3 < best) { best = $3; at = $1 }
    END { exit !(at >= -0.5 && at <= 0.5 && worst[0] > 2 * best) }' "$dir/waste.csv" && ok || bad "Young's interval is not the best"
$build/bin/faults --dir "$dir/none" >"$dir/log" 2>&1 && bad "no folder" || ok
grep -qF none/faults "$dir/log" && ok || bad "said"

# broken FILE WHAT EXPRESSION: the same program with this change of a file loses checkpoints.
broken() {
    local name=${1##*/}
    perl -0pe "$3" "$1" >"$dir/$name"
    cmp -s "$dir/$name" "$1" && { bad "$2: the file is not changed"; return; }
    # shellcheck disable=SC2046
    ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O1 -fopenmp -Iminitorch -o "$dir/faults" "$dir/$name" $build/obj/minitorch/bench/faults.o \
        $(find $build/units -name '*.o' ! -path "*/12-checkpoints/${name%.c}.o") $build/libtesting.a $build/libgiven.a -lm -ldl -lcjson >"$dir/log" 2>&1 ||
        { bad "$2: not built"; return; }
    "$dir/faults" --quick --kills 0 --dir "$memory" >"$dir/log" 2>&1 && bad "$2: nothing is lost" || ok
    grep -qE '^faults: [0-9]+ points, [1-9][0-9]* lost' "$dir/log" && ok || bad "$2"
}
commit=solutions/12-checkpoints/commit.c
broken $commit "no fsync of the file" 's/ && io->fsync\(io, file.fd\) == 0//'
broken $commit "no fsync of the folder" 's/ &&\s+io->fsync_dir\(io, folder\) == 0//'
broken $commit "an fsync that failed" 's/io->fsync\(io, file.fd\) == 0/(io->fsync(io, file.fd), true)/'
broken solutions/12-checkpoints/retain.c "the newest valid one is removed" 's/steps\[i\] != spared/true/'
broken minitorch/core/io_posix.c "half of a write" 's/done \+= mt_max\(got, 0\)/done = bytes/'
broken minitorch/core/io_posix.c "an interrupted write" 's/ && errno != EINTR//'
finish faults
