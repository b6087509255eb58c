#!/usr/bin/env bash
# The packages for Gradescope and Autolab, each run in the folders that the service has and under its limits: bubblewrap
# makes a root folder of /usr, /etc and these. The results are checked against the schemas in grader/frontends/.
# Gradescope's also when the grader is killed, was not built, or got nothing; with user namespaces and without. Rows that
# the grader could not run are a grade nowhere. GitHub's script runs in a release: test_release.sh.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
build=$PWD/build/release lab=00 packs=$dir/packs
export TO=$packs
python=/usr/bin/python3 from=grader/frontends

has() { grep -qF -- "$1" "$2"; } # has WORDS FILE
if "$python" -c 'import jsonschema' 2>/dev/null; then
    valid() { "$python" -W ignore -m jsonschema -i "$1" $from/gradescope/results.schema.json; }
else
    echo "not checked against the schema: python3-jsonschema is not installed; only that it is JSON"
    valid() { "$python" -m json.tool "$1" >/dev/null; }
fi
score() { "$python" -c 'import json, sys; print(json.load(open(sys.argv[1])).get("score", "none"))' "$1"; }
of_all() { "$python" -c 'import json, sys; print(sum(t["max_score"] for t in json.load(open(sys.argv[1]))["tests"]))' "$1"; }

# "${container[@]}" [OPTION...] COMMAND: in a root folder without this repository.
container=(bwrap --unshare-pid --die-with-parent --tmpfs / --ro-bind /usr /usr --ro-bind /etc /etc --symlink usr/bin /bin
           --symlink usr/lib /lib --symlink usr/lib64 /lib64 --tmpfs /tmp --proc /proc --dev /dev)
# What Docker gives root, without the right to make namespaces; an ordinary user has none of it.
rights=()
[ "$(id -u)" -ne 0 ] || for right in CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP SYS_CHROOT; do rights+=(--cap-add "CAP_$right"); done
if ! "${container[@]}" true 2>"$dir/log"; then
    echo "not tried: bubblewrap does not work here: $(head -1 "$dir/log")"
    echo "frontends: 1 passed, 0 failed"
    exit
fi

# ---- Gradescope ----
box=$dir/autograder
$from/pack.sh gradescope "$build" $lab 5 >"$dir/log" 2>&1
mkdir -p "$box"/{source,submission,results}
unzip -q "$packs/gradescope-$lab.zip" -d "$box/source"
cp "$box/source/run_autograder" "$box"
for part in solutions/00-tensors/view.c labs/00-tensors/lab.json grader/grade.c Makefile .ci/deps; do
    check "the zip has $part" [ -e "$box/source/minitorch/$part" ]
done
check "setup.sh can be executed" [ -x "$box/source/setup.sh" ]
for part in grader/attacks grader/mutants grader/variants grader/tests minitorch/tests; do
    check "the zip has no $part" [ ! -e "$box/source/minitorch/$part" ]
done
mkdir -p "$box/source/minitorch/build/release"

# gradescope SUBMISSION [OPTION...]: what the service does for one submission. NOT_BUILT=1: setup.sh had failed.
gradescope() {
    local built=(--ro-bind "$build" /autograder/source/minitorch/build/release)
    rm -rf "$box"/submission "$box"/results/* && cp -r "$1" "$box/submission"
    "${container[@]}" --bind "$box" /autograder ${NOT_BUILT:-"${built[@]}"} "${@:2}" /autograder/run_autograder >"$dir/log" 2>&1 || true
}
result=$box/results/results.json full=$(mkdir "$dir/none" && echo 0)

gradescope solutions/00-tensors "${rights[@]}"
check "a solution: valid" valid "$result"
full=$(of_all "$result")
cp "$result" "$dir/full.json"
check "a solution: all points, $(score "$result") of $full" [ "$(score "$result")" = "$full" ]
check "nothing else is left" [ "$(ls -A "$box/results")" = results.json ]

mkdir "$dir/broken" && cp solutions/00-tensors/*.c "$dir/broken" && echo '"no C' >"$dir/broken/view.c"
gradescope "$dir/broken" --unshare-user --uid 1000 --disable-userns
check "without namespaces: valid" valid "$result"
check "without namespaces: behind Landlock" has "Landlock" "$result"
check "a unit that does not compile: its message" has "view.c:1" "$result"
check "a unit that does not compile: some points" [ "$(score "$result")" != 0 ]

# Workers that cannot start: every row is the grader's own failure.
cannot_start=(--ro-bind /usr/bin/false /autograder/source/minitorch/build/release/worker/launch)
gradescope solutions/00-tensors "${cannot_start[@]}"
check "rows that the grader could not run: valid" valid "$result"
check "rows that the grader could not run: no grade" has '"graded":	false' "$result"
check "rows that the grader could not run: no score, not even of a row" bash -c "! grep -q '\"score\"' '$result'"
check "rows that the grader could not run: said" has "This is not a grade" "$result"
no_grade=$dir/no-grade.json && cp "$result" "$no_grade"
check "no grade for Classroom 50 either" [ "$("$build/bin/frontend" classroom50 "$no_grade" 2>&1; echo $?)" = "frontend: $no_grade is not a grade (the grader could not run some rows: grade again)
1" ]
"$build/bin/frontend" junit "$no_grade" >"$dir/no-grade.xml"
check "errors for JUnit" bash -c "grep -q 'errors=\"[1-9]' '$dir/no-grade.xml' && ! grep -q '<failure' '$dir/no-grade.xml'"

# Another container's processes of the user that programs drop root for.
if [ "$(id -u)" -eq 0 ]; then
    others=()
    for _ in {1..70}; do
        setpriv --reuid=65534 --regid=65534 --clear-groups sleep 300 &
        others+=($!)
    done
    "$build/bin/grade" --sandbox landlock --marking -q -l 00 --step 00.1 --units solutions/00-tensors >"$dir/log" 2>&1 || true
    check "processes of other containers take no thread away" grep -q '^grade 00: \(.*\)/\1$' "$dir/log"
    kill "${others[@]}"
    wait "${others[@]}" 2>/dev/null || true
fi

gradescope "$dir/none" "${rights[@]}"
check "nothing submitted: valid" valid "$result"
check "nothing submitted: no score" [ "$(score "$result")" = none ]
check "nothing submitted: said" has "Nothing could be graded" "$result"
NOT_BUILT=--clearenv gradescope solutions/00-tensors
check "not built: valid" valid "$result"
check "not built: said" has "is not built" "$result"

# A grader that prints what JSON cannot hold, and then ends in several ways.
instead() { printf '#!/bin/bash\nprintf "\\033[2J \\"\\\\\\\\ \\377\\001 end\\\\n"\n%s\n' "$1" >"$dir/instead" && chmod +x "$dir/instead"; }
bind=(--ro-bind "$dir/instead" /autograder/source/minitorch/build/release/bin/grade)
for ending in 'kill -9 $$' 'exit 3' 'kill -9 $PPID; sleep 1'; do
    instead "$ending"
    gradescope solutions/00-tensors "${bind[@]}"
    check "a grader that ends by $ending: valid" valid "$result"
    check "a grader that ends by $ending: no grade" has '"graded": false' "$result"
done
instead 'touch /autograder/results/began; sleep 60'
rm -f "$box"/results/*
"${container[@]}" --bind "$box" /autograder --ro-bind "$build" /autograder/source/minitorch/build/release "${bind[@]}" \
    /autograder/run_autograder >"$dir/log" 2>&1 &
all=$!
await $all '[ -e "$box/results/began" ]'
kill -9 $all
wait $all 2>/dev/null || true
check "a container that is killed: valid" valid "$result"
check "a container that is killed: said" has "was stopped before it finished" "$result"

# ---- Autolab ----
hand=$dir/autolab
$from/pack.sh autolab "$build" $lab 5 >"$dir/log" 2>&1
mkdir "$hand" && cp "$packs/autolab-$lab/autograde.tar" "$hand" && cp "$packs/autolab-$lab/autograde-Makefile" "$hand/Makefile"
# As Autolab's job runner (Tango's autodriver) starts it: an ordinary user without namespaces, at most 100 processes and files
# of 100 MiB. Autolab's make is below no other, as this one is in make test.
autolab() {
    (cd "$hand" && unset MAKELEVEL MAKEFLAGS MFLAGS && ulimit -u 100 -f 102400 &&
        "${container[@]}" --unshare-user --uid 1000 --disable-userns --bind "$hand" /autolab --chdir /autolab make) >"$dir/log" 2>&1 || true
}
tar cf "$hand/handin.tar" -C solutions/00-tensors .
autolab
sum='import json, sys; j = json.loads(sys.stdin.read()); print(sum(j["scores"].values()) if j["scores"] else "none", *j.get("scoreboard", []))'
check "Autolab: the last line has the points" [ "$(tail -1 "$dir/log" | "$python" -c "$sum")" = "$full $full" ]
"$build/bin/frontend" autolab "$no_grade" >"$dir/log"
check "Autolab: no score where rows could not be run" [ "$(cat "$dir/log")" = '{"scores": {}}' ]
echo "no archive" >"$hand/handin.tar"
autolab
check "Autolab: no archive, no grade" [ "$(tail -1 "$dir/log" | "$python" -c "$sum")" = none ]
check "Autolab: and why" has "There is no grade" "$dir/log"

# ---- GitHub, Classroom 50, JUnit ----
$from/pack.sh github "$build" >"$dir/log"
check "a workflow" [ -s "$packs/github/.github/workflows/grade.yml" ]
check "a devcontainer" "$python" -m json.tool "$packs/github/.devcontainer/devcontainer.json" "$dir/json"
if "$python" -c 'import yaml' 2>/dev/null; then
    check "the workflow is YAML, and runs scripts that exist" "$python" - "$packs/github" <<'PY'
import os, sys, yaml
steps = yaml.safe_load(open(sys.argv[1] + "/.github/workflows/grade.yml"))["jobs"]["grade"]["steps"]
runs = [s["run"].split()[0] for s in steps if "run" in s]
sys.exit(not all(os.path.exists(r) or os.path.exists(sys.argv[1] + "/" + r) or r == "sudo" for r in runs))
PY
fi
check "Classroom 50: a variable that is not set is named" [ "$(env -u CLASSROOM "$build/bin/frontend" classroom50 "$dir/full.json" 2>&1)" = "frontend: the variable CLASSROOM is not set: Classroom 50's runner sets it, or set it yourself" ]
xml() { if command -v xmllint >/dev/null; then xmllint --noout --schema $from/junit.xsd "$1" 2>"$dir/log"; else "$python" -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1"; fi; }
check "JUnit of a grade" xml "$dir/no-grade.xml"
"$python" - "$dir/hostile.json" <<'PY'
import json, sys
text = "\x1b[2J\x01\x7f ]]> <a b='c'>&amp;\"\uffff\ufffe\u202e \n\t é"
rows = [{"number": text, "name": text, "score": 1, "max_score": 2, "output": text, "extra_data": {"verdict": v}}
        for v in ("PASS", "FAIL", "CRASH", "TIMEOUT", "TODO", "INCONCLUSIVE", "REVIEW", "ERROR", text)]
json.dump({"score": 3, "execution_time": 1.5, "output": text, "tests": rows, "extra_data": {"lab": text}}, open(sys.argv[1], "w"))
PY
"$build/bin/frontend" junit "$dir/hostile.json" >"$dir/hostile.xml"
check "JUnit of hostile text" xml "$dir/hostile.xml"
check "one pass, one failure, four errors, three skipped" has 'tests="9" failures="1" errors="4" skipped="3"' "$dir/hostile.xml"
for bad in "$dir/nothing.json" "$dir/hostile.xml" /dev/null; do
    check "no grade: $bad" [ "$("$build/bin/frontend" junit "$bad" 2>&1; echo $?)" = "frontend: $bad is not a grade (NN.json of grade --report)
1" ]
done
for wrong in "gradescope $build 99" "gradescope $build $lab 1" "elsewhere $build $lab"; do
    # shellcheck disable=SC2086
    check "refused: $wrong" [ "$($from/pack.sh $wrong >"$dir/log" 2>&1; echo $?)" = 2 ]
done
finish frontends
