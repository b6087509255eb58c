#!/usr/bin/env bash
# make lab-new, and the page of docs/EXTENDING.md about a lab: in a copy of the tree its files are written and its commands run, in its order.
# What a command shows there it must print. FULL=1: all systematic mutants, not 6 of them.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
tree=$dir/tree
mkdir -p "$tree/build"
git ls-files -z | xargs -0 cp -a --parents -t "$tree" 2>/dev/null
cp -a build/release "$tree/build"
cd "$tree" && git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm "A course" || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS SAMPLE UNTIL
export LEVELS=native

for wrong in "LAB=16" "NAME=conv" "LAB=6 NAME=conv" "LAB=16 NAME=Conv" "LAB=16 NAME=../x"; do
    # shellcheck disable=SC2086
    expect "$wrong" 2 "write make lab-new LAB=16 NAME=conv" make lab-new $wrong
done
expect "a number that is taken" 2 "there is a lab 15: labs/15-scale" make lab-new LAB=15 NAME=conv
expect "a folder that is taken" 2 "there is a folder minitorch/optim" make lab-new LAB=16 NAME=optim
expect "nothing is written" 0 "" test -z "$(git status --porcelain)"

# The section as steps: `file PATH` and its lines, each behind a blank; `run COMMAND`; `says LINE`.
awk '/^```/ { open = !open; if (ours && open) print "file " path; next }
    !open && /^## / { ours = $0 == "## A lab" }
    !ours { next }
    open { print " " $0; next }
    /^`[^`]+`:$/ { path = substr($0, 2, length - 3) }
    /^    (make|git) ?/ { sub(/^ +/, ""); print "run " $0; next }
    /^    / { gsub(/ +/, " "); print "says" $0 }' docs/EXTENDING.md >"$dir/steps"
said=$dir/log command=''
squeezed() { tr -s ' ' <"$said" | sed 's/^ //; s/ $//'; }
while IFS= read -r step; do
    case $step in
    "file "*) path=${step#file } && : >"$path" ;;
    " "*) printf '%s\n' "${step# }" >>"$path" ;;
    "run "*)
        command=${step#run }
        [ -n "${FULL:-}" ] || [[ $command != "make mutate "* ]] || command+=' ARGS="--sample 6"'
        if eval "${command//\/tmp\/course/$dir/course}" >"$said" 2>&1 </dev/null; then ok; else bad "$command"; fi
        [[ $command != *lab-new* ]] || { git add . && git -c user.name=a -c user.email=a@b commit -qm "A new lab"; }
        ;;
    "says "*)
        [[ $command != *--sample* ]] || step="says mutate 16: 6 of 6 killed, "
        squeezed | grep -F -- "${step#says }" >"$dir/found" && ok || bad "$command does not print: ${step#says }"
        ;;
    esac
done <"$dir/steps"
own=$(git add . && git diff --cached --numstat HEAD -- . ':!docs' ':!labs/*.c' | awk '{ s += $1 } END { print s }')
check "the lab is at most 200 lines, not $own" [ "$own" -le 200 ]
expect "the course has it" 0 "grade 16: 0/12 TODO=3" bash -c "cd '$dir/course' && make -s FLAGS_release='-O0 -march=native' grader && build/release/bin/grade --quiet --lab 16"
finish lab-new
