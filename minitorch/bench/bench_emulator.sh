#!/usr/bin/env bash
# bench_emulator.sh BUILD [PEER] -- the cost of emulation (bench_emulator.cu): untraced, traced with every check, a
# barrier, two cores. PEER: the folder of another emulator with a `build.sh` and a compiler wrapper `cuemucc [fast]`,
# measured in turns with ours; FAIL when it is faster. Figures are CPU seconds of one core, the minimum of all turns.
# Writes build/bench/emulator.csv. There is no bar in seconds, because they differ between machines.
set -euo pipefail
cd "$(dirname "$0")/../.."
emu=$1/emu peer=${2:-${MT_EMULATOR_PEER:-}} out=build/bench turns=${TURNS:-5}
make -s emulator CUDA=emu
mkdir -p $out
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUEMU_LEAKS=0
unit=minitorch/bench/bench_emulator.cu
"$emu/cuemu" --fast $unit -o "$work/ours.untraced"
"$emu/cuemu" $unit -o "$work/ours.traced"
sides=ours
if [ -n "$peer" ]; then
    cp -r "$peer" "$work/peer" && (cd "$work/peer" && rm -rf build && sh build.sh 2>/dev/null)
    sh "$work/peer/cuemucc" fast $unit -o "$work/peer.untraced" && sh "$work/peer/cuemucc" $unit -o "$work/peer.traced"
    sides="ours peer"
fi

# measure SIDE HOW PART THREADS: one more turn, kept as a line "cpu wall work"
measure() {
    CUEMU_THREADS=$4 "$work/$1.$2" "$3" 2>/dev/null >>"$work/$1.$2.$3.$4.log"
}
for ((turn = 0; turn < turns; turn++)); do
    [ ! -t 2 ] || printf 'turn %d of %d ...\r' $((turn + 1)) "$turns" >&2
    for side in $sides; do
        measure $side untraced product 1
        measure $side traced product 1
        measure $side untraced barriers 1
    done
    measure ours untraced blocks 1
    measure ours untraced blocks 2
done

least() { sort -g -k"$2" "$work/$1.log" | head -1 | cut -d' ' -f"$2"; } # FILE FIELD
work_of() { head -1 "$work/$1.log" | cut -d' ' -f3; }
ratio() { awk "BEGIN { printf \"%.${3:-2}f\", $1 / $2 }"; }
say() { # NAME VALUE UNIT
    printf '%-44s %10s %s\n' "$1" "$2" "$3"
    echo "$1,$2,$3" >>$out/emulator.csv
}
echo "what,value,unit" >$out/emulator.csv
untraced=$(least ours.untraced.product.1 1) traced=$(least ours.traced.product.1 1) wait=$(least ours.untraced.barriers.1 1)
say "256^3 tiled product untraced" "$untraced" s
say "256^3 tiled product traced with every check" "$traced" s
say "traced accesses" "$(ratio "$(work_of ours.traced.product.1)" "($traced*1e6)" 1)" "M/s"
say "a barrier for one thread" "$(ratio "$wait*1e9" "$(work_of ours.untraced.barriers.1)" 1)" ns
say "1024 blocks on two workers beside one" "$(ratio "$(least ours.untraced.blocks.1 2)" "$(least ours.untraced.blocks.2 2)")" "times (wall time; wants idle cores)"
verdict=PASS
if [ -n "$peer" ]; then
    for part in untraced.product traced.product untraced.barriers; do
        share=$(ratio "$(least peer.$part.1 1)" "$(least ours.$part.1 1)")
        say "peer's time by ours: $part" "$share" times
        awk "BEGIN { exit !($share < 0.97) }" && verdict=FAIL
    done
fi
echo "bench emulator: traced $traced s ($(ratio "$traced" "$untraced" 1) of untraced; goal 0.6 s on the machine of performance.md), untraced $untraced s, barrier $(ratio "$wait*1e9" "$(work_of ours.untraced.barriers.1)" 1) ns $verdict"
[ $verdict = PASS ]
