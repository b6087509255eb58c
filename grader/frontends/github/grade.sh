#!/usr/bin/env bash
# grade.sh [LAB...] -- grades labs (default: all in labs/) in a GitHub workflow: points and table of each into the log and the
# summary of the run, HTML pages, JSON and JUnit XML into build/report/. Where Classroom 50 runs it (autograder.py), it also
# writes ./result.json.
# It ends with 0 when grading worked, whatever the points; else with 1 and without a result.json, as its sum would lack a lab.
set -uo pipefail
cd "$(git rev-parse --show-toplevel)" || exit 1
if [ $# -eq 0 ]; then mapfile -t labs < <(printf '%s\n' labs/*/lab.json | sed -E 's|labs/([0-9]+)-.*|\1|') && set -- "${labs[@]}"; fi
summary=${GITHUB_STEP_SUMMARY:-/dev/null} frontend=build/release/bin/frontend failed=0 graded=()
rm -f result.json
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
        points=$(sed -n "s|^grade $lab: \([0-9.-]*/[0-9.]*\).*|\1|p" "$log" | tail -n 1)
        { printf '### Lab %s: %s points\n\n```text\n' "$lab" "$points" && sed 's/```/` ` `/g' "$log" && printf '```\n'; } >>"$summary"
    fi
    if [ "$status" -eq 0 ] && [ -s "build/report/$lab.json" ]; then
        graded+=("build/report/$lab.json")
    else
        failed=1 && echo "::error::lab $lab could not be graded"
    fi
done
if [ $failed -eq 0 ] && [ -n "${CLASSROOM:-}" ]; then
    submitted=$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ) # by which it is late or not, also when graded again
    DATETIME=$submitted "$frontend" classroom50 "${graded[@]}" >.result.json && mv .result.json result.json || failed=1
fi
exit $failed
