#!/usr/bin/env bash
# lab.sh BUILD LAB -- opens a lab: where its handout and its units are, then grades what stands there once.
set -euo pipefail
build=$1 lab=$2 number=${2%%-*}
echo "lab $number: read  labs/$lab/README.md"
shopt -s nullglob
for unit in labs/"$lab"/*.c labs/"$lab"/*.cu; do
    todo=$(grep -c 'MT_TODO(' "$unit" || true)
    echo "        write $unit  ($todo regions to write)"
done
echo "        then  make grade LAB=$number"
echo
exec "$build/bin/grade" --lab "$number" --build "$build" --report build/report
