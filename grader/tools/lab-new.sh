#!/usr/bin/env bash
# lab-new.sh BUILD LAB NAME -- make lab-new: writes the files of a new lab, with one step that is to be replaced by the
# lab's own. It builds and is graded at once (docs/EXTENDING.md). lab-new.txt has the files, each behind a line `==> PATH`:
# NN stands for the number, NAME for the name, and C_NAME for the name in C. The skeleton is made of the unit, and the
# lab's folder of minitorch/ gets its lines in stages.tsv and mt.h.
set -euo pipefail
build=$1 number=$2 name=$3 id=$2-$3
stop() { echo "lab-new: $*" >&2 && exit 2; }
[[ $number =~ ^[0-9][0-9]$ && $name =~ ^[a-z][a-z0-9-]*$ ]] || stop 'write make lab-new LAB=16 NAME=conv: two digits, and small letters, digits and dashes'
! compgen -G "labs/$number-*" >/dev/null || stop "there is a lab $number: $(echo labs/"$number"-*)"
c_name=${name//-/_}
[ ! -e "minitorch/$c_name" ] || stop "there is a folder minitorch/$c_name: choose another name"
sed "s/C_NAME/$c_name/g; s/NAME/$name/g; s/NN/$number/g" grader/tools/lab-new.txt | awk '
    /^==> / { path = $2; folder = path; sub(/\/[^\/]*$/, "", folder); system("mkdir -p " folder); print "wrote " path; next }
    { print > path }'
printf '%s\t%s\t%s\n' "$c_name" "$number" "$name" >>minitorch/stages.tsv
printf '\n/* Lab %s. */\n#include "%s/%s.h"\n' "$number" "$c_name" "$c_name" >>minitorch/mt.h
STRIP=$build/bin/strip grader/tools/skeletons.sh write | grep "labs/$id/"
echo "added minitorch/$c_name to minitorch/stages.tsv and minitorch/mt.h"
