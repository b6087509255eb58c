#!/usr/bin/env bash
# A unit that is missing, or has a syntax error, costs the rows that call it and no others, and each of them says so. Tried with every unit of every lab:
# the rows of its first step. Without ALL=1 a part of the units, drawn by the commit, each in one of the two ways; and two whole grades.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
[ -x "$bin/grade" ] || make -s grader emulator traced
part=${SAMPLE:-6} commit=$(git rev-parse HEAD 2>/dev/null)
[ -z "${ALL:-}" ] || part=1

# grade_without HOW UNIT [STEP]: the reference of its lab with that unit broken; every row must have all its points or name the unit, and one must name it.
grade_without() {
    local how=$1 lab=${2%/*} unit=${2##*/} folder=$dir/$1-${2//\//-}-${3:-whole} out lost
    mkdir "$folder" && cp solutions/"$lab"/*.c* "$folder" && rm "$folder/$unit"
    [ "$how" = missing ] || sed '1i int broken(void) { return }' "solutions/$lab/$unit" >"$folder/$unit"
    out=$("$bin/grade" --lab "${lab%%-*}" --width 0 --build build/release --units "$folder" --report "$folder" --seed 5eed01 --no-speed ${3:+--step "$3"} 2>&1)
    lost=$(grep -E '^ [0-9]{2}\.[0-9]+  .* (TODO|FAIL|CRASH|TIMEOUT|ERROR) ' <<<"$out")
    [ -n "$lost" ] && ! grep -qv " FAIL  .* $unit does not build\$" <<<"$lost" || { echo "$2, $how: $(tail -n 1 <<<"$out")" && return 1; }
}
drawn() { [ $((0x$(md5sum <<<"$commit $1" | cut -c1-4) % part)) = 0 ]; }
try() {
    local unit=$1 how
    for how in missing error; do
        [ "$part" = 1 ] || drawn "$unit $how" || continue
        grade_without $how "$unit" "$(grep -oE -m1 'LAB [0-9.]+ BEGIN' "solutions/$unit" | cut -d' ' -f2)" && echo ok
    done
    return 0
}
units=()
for lab in labs/*/lab.json; do
    lab=${lab#labs/} lab=${lab%/lab.json}
    for unit in solutions/"$lab"/*.c*; do units+=("${unit#solutions/}"); done
done
for ((i = 0; i < ${#units[@]}; i += 2)); do
    try "${units[i]}" >"$dir/0" &
    [ -z "${units[i + 1]:-}" ] || try "${units[i + 1]}" >"$dir/1"
    wait
    while read -r line; do if [ "$line" = ok ]; then ok; else bad "$line"; fi; done < <(cat "$dir"/[01])
done
check "a whole lab without a unit" grade_without missing 02-backprop/softmax.c
check "a whole lab on the device with an error in a unit" grade_without error 06-cuda-kernels/saxpy.cu
# With STEP= a unit that names other steps only is compiled when a row calls it: its messages are shown then.
mkdir "$dir/late" && cp solutions/02-backprop/*.c "$dir/late" && sed '1i int broken(void) { return }
    s/02[.]1/02.2/g' solutions/02-backprop/linear.c >"$dir/late/linear.c"
expect "a unit that a row asks for" 0 "02-backprop/linear.c:1:27: error: " "$bin/grade" --lab 02 --build build/release --units "$dir/late" --step 02.1 --no-speed
finish "units that do not build"
