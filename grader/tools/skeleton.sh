#!/usr/bin/env bash
# skeleton.sh BUILD LAB/UNIT -- prints a unit's skeleton: what strip makes of the solution, or where there is none, in a release, the file that make release left in reference/skeletons/.
set -euo pipefail
if [ -d solutions ]; then "$1/bin/strip" "solutions/$2" -; else cat "reference/skeletons/$2"; fi
