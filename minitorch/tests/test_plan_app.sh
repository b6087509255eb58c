#!/usr/bin/env bash
# test_plan_app.sh -- the program plan: its table, what it refuses, and what it writes. test_plan_run.sh runs that, test_plan_jobs.sh has it checked.
. "$(dirname "$0")/../../.ci/check.bash"
# refused WORDS ARGUMENT...: exit status 1 or 64 (a wrong command line), and these words.
refused() {
    local rc=0 words=$1 said
    shift
    said=$("$bin/plan" -o "$dir/none" "$@" 2>&1) || rc=$?
    { [ $rc = 1 ] || [ $rc = 64 ]; } && grep -qF -- "$words" <<<"$said" && ok || bad "$*: $rc, $said"
}

"$bin/plan" --model gpt2-xl --cluster 8xA100 --days 7 -o "$dir/xl" >"$dir/log" 2>&1 && ok || bad xl
[ "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9] +(none|selective|block) ' "$dir/log")" -ge 2 ] && ok || bad "table: $(cat "$dir/log")"
grep -qE 'a step takes \+[0-9.]+.* s: work' "$dir/log" && ok || bad "why others lose: $(cat "$dir/log")"
for file in plan.svg train.sh job.slurm job.yaml; do [ -s "$dir/xl/$file" ] && ok || bad "no $file"; done
[ -z "$(find "$dir/xl" -name '*.tmp')" ] && ok || bad "a temporary file is left"
python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$dir/xl/plan.svg" && ok || bad "plan.svg is not XML"
mkdir "$dir/full" && mkdir "$dir/full/plan.svg"
"$bin/plan" -o "$dir/full" >"$dir/log" 2>&1 && bad "plan.svg is a folder" || ok

# Replicas on two machines: what a hierarchical all-reduce would take. On one machine there is none.
"$bin/plan" --cluster 16xA100 --dp 16 --zero 0 -o "$dir/two" >"$dir/log" 2>&1
awk '/^Its gradients, if nothing hides them: .* s by a ring, .* s with --all-reduce hierarchical:8$/ { found = $7 > 2 * $12 } END { exit !found }' "$dir/log" && ok || bad "a hierarchy: $(cat "$dir/log")"
"$bin/plan" --cluster 8xA100 --dp 8 --zero 0 -o "$dir/two" >"$dir/log" 2>&1 && ! grep -q hierarchical "$dir/log" && ok || bad "a hierarchy in one machine"

# Another plan in the place of an older one. No room, for the first or for a later file: the older one is whole. kill -9, at any
# moment: each file is that of the one or of the other.
sums() { (cd "$1" && sha256sum -- *.s* job.yaml); }
full() {
    mount -t tmpfs -o size=64k none "$dir/disk" && cp "$dir/xl"/* "$dir/disk" || exit 9
    head -c 100000 /dev/zero >"$dir/disk/fill" 2>/dev/null
    for room in 0 1 2; do # pages
        truncate -s $(($(stat -c %s "$dir/disk/fill") - 4096 * (room > 0))) "$dir/disk/fill"
        "$bin/plan" -o "$dir/disk" >"$dir/log" 2>&1 && exit 1
        grep -q 'No space left on device; make room there' "$dir/log" && [ "$(sums "$dir/disk")" = "$(sums "$dir/xl")" ] &&
            [ "$(ls -A "$dir/disk")" = "fill
$(ls -A "$dir/xl")" ] || exit 1
    done
}
export -f full sums
export dir bin
mkdir "$dir/disk"
if unshare -Urm true 2>/dev/null; then unshare -Urm bash -c full && ok || bad "a full disk"; else echo "skipped: a full disk, since nothing can be mounted here"; fi
cp -r "$dir/xl" "$dir/kill" && "$bin/plan" -o "$dir/kill" >"$dir/log" 2>&1
{ sums "$dir/kill" && sed -i "s,$dir/xl,$dir/kill," "$dir/xl/job.slurm" && sums "$dir/xl"; } >"$dir/either"
for ((i = 0; i < 12; i++)); do
    if ((i % 2)); then "$bin/plan" -o "$dir/kill" >/dev/null & else "$bin/plan" --model gpt2-xl --cluster 8xA100 --days 7 -o "$dir/kill" >/dev/null & fi
    sleep "0.0$((i * 7))" && kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    [ -z "$(sums "$dir/kill" | grep -vxFf "$dir/either")" ] && ok || bad "half a file after kill -9: $(ls -l "$dir/kill")"
done

# The known devices: FLOP a byte is the quotient of the two figures beside it, and each has a source; a price is known, or not.
"$bin/plan" --devices >"$dir/log" && [ "$(wc -l <"$dir/log")" -eq 9 ] && awk '{ r = $2 / $10; bad += r > 1.01 * $12 || r < 0.99 * $12 || NF < 18 }
    END { exit bad }' "$dir/log" && ok || bad "--devices: $(cat "$dir/log")"
"$bin/plan" --cluster 8xB200 -o "$dir/b200" >"$dir/log" && grep -q '^Dollars are 0, because' "$dir/log" && ok || bad "no price"
"$bin/plan" -o "$dir/a100" >"$dir/log" && grep -q '^A100: .* 153 FLOP a byte; NVIDIA' "$dir/log" && ! grep -q '^Dollars' "$dir/log" && ok || bad "a price"

# What cannot be, with what would.
refused 'It takes' --model gpt2-xl --cluster 1xV100 --days 1
refused 'With 64 devices' --model gpt3 --cluster 32xA100
refused 'It costs $' --model gpt2-xl --dollars 3
refused 'use one of V100, A100, H100, H200' --cluster 8xB300
refused 'write a whole number' --cluster 0.5xA100
refused 'write a whole number' --cluster 0xA100
refused 'write NxDEVICE' --cluster "$dir/nothing.json"
refused 'use toy, gpt2' --model layers=3,depth=2
refused 'heads that divide the width' --model layers=3,heads=3,width=10
refused 'use toy, gpt2' --model gpt5
refused 'longer than' --time 4096
refused 'use bf16' --dtype f16
refused 'no speed of a TPUv5p in f32 is published: use --dtype bf16' --dtype f32 --cluster 8xTPUv5p
refused 'none, selective or block' --recompute all
refused 'a plan counts to' --model layers=100,heads=100,width=65500 --cluster 1xV100
json() { printf '%s' "$1" >"$dir/c.json"; }
json '{"device": "A100", "devices": 8, "network_gb_s": 12.5, "memory_gb": 40}'
"$bin/plan" --cluster "$dir/c.json" -o "$dir/json" >"$dir/log" 2>&1 && ok || bad json
# Energy is days x devices x watts; none is printed where watts are not known.
json '{"device": "A100", "devices": 4, "watts": 250}'
"$bin/plan" --cluster "$dir/c.json" -o "$dir/json" >"$dir/log" 2>&1
awk '/^Energy/ { kwh = $7; devices = $9 } $1 ~ /^[0-9]/ && !days && NF == 14 { days = $(NF - 1) }
     END { want = days * 24 * devices * 0.25; exit !(kwh > 0 && kwh > want * 0.999 && kwh < want * 1.001) }' "$dir/log" &&
    ok || bad "energy: $(grep Energy "$dir/log")"
json '{"device": "A100", "devices": 4, "watts": 0}'
"$bin/plan" --cluster "$dir/c.json" -o "$dir/json" >"$dir/log" 2>&1
[ "$(grep -c Energy "$dir/log")" -eq 0 ] && ok || bad "energy of no watts"
while IFS='|' read -r text words; do
    json "$text"
    refused "$words" --cluster "$dir/c.json"
done <<'END'
{"devices": 8}|"device" is missing
{"device": "A100"}|"devices" is missing
{"device": "B9", "devices": 8}|use one of V100
{"device": "A100", "devices": 8.5}|write a whole number
{"device": "A100", "devices": 8, "link_gb_s": 0}|"link_gb_s": write a number above 0
{"device": "A100", "devices": 8, "dollars_hour": -1}|from 0 to 1000000000
{"device": "A100", "devices": 8, "memory_gb": 1e12}|at most 1000000000
{"device": "A100", "devices": 8, "dolars": 1}|there is no key "dolars"
{"device": "A100", "devices": 8, "devices": 9}|"devices" stands there twice
[8]|not a JSON object
{"device": |this is not JSON, near
END

refused 'leave one of them out' --cluster 2xV100 --dp 3
refused 'leave one of them out' --cluster 2xV100 --pp 2 --zero 2
finish plan_app
