#!/usr/bin/env bash
# grade.sh [LAB...] -- grades labs (default: all in labs/) in a GitHub workflow: the table into the log and the summary of
# the run, JUnit XML into build/report/, and the points for Classroom's reporter into $GITHUB_OUTPUT.
# It ends with 0 when grading worked, whatever the points; else with 1, and no points are reported, as their sum would lack
# a lab.
set -uo pipefail
cd "$(git rev-parse --show-toplevel)" || exit 1
if [ $# -eq 0 ]; then mapfile -t labs < <(printf '%s\n' labs/*/lab.json | sed -E 's|labs/([0-9]+)-.*|\1|') && set -- "${labs[@]}"; fi
summary=${GITHUB_STEP_SUMMARY:-/dev/null} output=${GITHUB_OUTPUT:-/dev/null} frontend=build/release/bin/frontend failed=0 graded=()
make -s "$frontend" || { echo "::error::$frontend could not be built" && exit 1; }
for lab; do
    log=build/report/$lab.txt
    mkdir -p build/report && rm -f "build/report/$lab".{json,xml}
    # Nothing that is printed here is a command to the runner, until the token is said.
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    echo "::stop-commands::$token"
    make -s grade LAB="$lab" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    echo "::$token::"
    if [ -s "build/report/$lab.json" ]; then
        "$frontend" junit "build/report/$lab.json" >"build/report/$lab.xml"
        { printf '### Lab %s\n\n```text\n' "$lab" && sed 's/```/` ` `/g' "$log" && printf '```\n'; } >>"$summary"
    fi
    if [ "$status" -eq 0 ] && [ -s "build/report/$lab.json" ]; then
        graded+=("build/report/$lab.json")
    else
        failed=$((failed + 1)) && echo "::error::lab $lab could not be graded"
    fi
done
if [ $failed -eq 0 ] && result=$("$frontend" classroom "${graded[@]}"); then
    printf 'result=%s\n' "$(base64 -w0 <<<"$result")" >>"$output"
else
    failed=1
fi
exit $((failed > 0))
