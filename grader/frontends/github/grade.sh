#!/usr/bin/env bash
# grade.sh [LAB...] -- grades labs (default: all in labs/) in a GitHub workflow: the table into the log and the summary of
# the run, JUnit XML into build/report/, and the points for Classroom's reporter into $GITHUB_OUTPUT.
# It ends with 0 when grading worked, whatever the points.
set -uo pipefail
cd "$(git rev-parse --show-toplevel)" || exit 1
if [ $# -eq 0 ]; then mapfile -t labs < <(printf '%s\n' labs/*/lab.json | sed -E 's|labs/([0-9]+)-.*|\1|') && set -- "${labs[@]}"; fi
summary=${GITHUB_STEP_SUMMARY:-/dev/null} output=${GITHUB_OUTPUT:-/dev/null} failed=0 graded=()
for lab; do
    log=build/report/$lab.txt
    mkdir -p build/report && rm -f "build/report/$lab".{json,xml}
    make -s grade LAB="$lab" 2>&1 | tee "$log"
    if [ ! -s "build/report/$lab.json" ]; then
    # Nothing that is printed here is a command to the runner, until the token is said.
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    echo "::stop-commands::$token"
        failed=$((failed + 1)) && echo "::error::lab $lab could not be graded"
        continue
    fi
    build/release/bin/frontend junit "build/report/$lab.json" >"build/report/$lab.xml"
    graded+=("build/report/$lab.json")
    { printf '### Lab %s\n\n```text\n' "$lab" && sed 's/```/` ` `/g' "$log" && printf '```\n'; } >>"$summary"
done
[ ${#graded[@]} -eq 0 ] || printf 'result=%s\n' "$(build/release/bin/frontend classroom "${graded[@]}" | base64 -w0)" >>"$output"
exit $((failed > 0))
