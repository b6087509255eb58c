#!/usr/bin/env bash
# make release: a small one, of labs 00 to 02, with this build's objects. Nothing of the solutions is in it; it builds, a
# skeleton earns nothing, a copied solution everything, and it is named as a copy. What must not be released stops it.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
tree=$dir/course
release() { make -s release LEVELS=native COURSE= "$@"; }
has_not() { ! grep -rlE -- "$1" "${@:2}"; }

cat >"$dir/course.json" <<'TXT'
{ "language_models": "closed",
  "labs": { "00": { "points": 10 },
            "02": { "due": "2026-10-05T12:00Z", "after": "2026-10-05T12:01Z" },
            "01": { "points": 20, "seed": "c0ffee11", "due": "2026-10-05T12:00Z", "after": "2026-10-05T12:01Z", "visibility": { "01.3": "never", "01.4 packed: transposed": "never" } } } }
TXT
expect "no folder" 2 "usage: make release OUT=dir" release
expect "an unknown lab" 2 "there is no lab 99: use some of 00-tensors" release OUT="$dir/x" LABS=99
mkdir -p "$dir/full" && touch "$dir/full/a"
expect "a folder with files" 2 "is not empty" release OUT="$dir/full"
expect "a folder in the repository" 2 "lies in this repository" release OUT=docs/course
expect "a course file that is not valid" 2 "$dir/full/a:1: the file is empty" release OUT="$dir/x" COURSE="$dir/full/a" LABS=00
echo '{ "labs": { "01": { "points": { "01.9": 1 } } } }' >"$dir/row.json" && mkdir -p "$dir/only/bin" && cp build/release/bin/kit "$dir/only/bin"
expect "nor is one whose row is not there; before anything is built" 1 'row.json:1: lab 01 has no "01.9"' \
    env MAKE="echo built" CFLAGS=-O1 COURSE="$dir/row.json" grader/release/release.sh "$dir/only" "$dir/x"
expect "a package for a front end has no such file" 2 'row.json:1: lab 01 has no "01.9"' \
    env COURSE="$dir/row.json" grader/frontends/pack.sh github build/release
rm -r "$dir/only" "$dir/row.json"
expect "it is written" 0 ": 0 found" release OUT="$tree" LABS="00 01 02" COURSE="$dir/course.json"
echo '{ "checks": "source", "labs": { "00": {}, "06": {} } }' >"$dir/source.json"
expect "labs of the device without those between" 0 ": 0 found" release OUT="$dir/device" LABS="00 06" COURSE="$dir/source.json"
expect "a course may have the sources of its checks" 0 "mg_lab_00" cat "$dir/device/grader/checks/00-tensors.c"
check "and no object of them" test ! -e "$dir/device/reference/native/obj"
check "it has what the given code needs of another lab's checks" test -e "$dir/device/grader/checks/04-trip.c"
rm -rf "$dir"/device* "$dir/source.json"
if [ "$(uname -m)" = x86_64 ]; then
    expect "labs without .cu units, for two levels" 0 "" make -s release OUT="$dir/levels" LEVELS="x86-64-v3 x86-64-v4" COURSE= LABS=00
    expect "both are there" 0 "units units" bash -c "cd '$dir/levels/reference' && echo \$(cd x86-64-v3 && ls -d units) \$(cd x86-64-v4 && ls -d units)"
    rm -rf "$dir"/levels*
fi
mkdir -p "$dir/machine/grader/release" "$dir/machine/reference/s390x/units" && cp grader/release/level.sh "$dir/machine/grader/release"
echo 2.36 >"$dir/machine/reference/glibc"
expect "objects for other machines: it is said" 0 "it has objects for s390x, and this machine is $(uname -m)" "$dir/machine/grader/release/level.sh"
echo 9.99 >"$dir/machine/reference/glibc" && mkdir -p "$dir/machine/reference/native/units"
expect "or for a newer glibc" 0 "were made with glibc 9.99, and this machine has $(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" "$dir/machine/grader/release/level.sh"
rm -r "$dir/machine"
expect "nothing else is left there" 0 "course course-after course-instructor course.json full" bash -c "cd '$dir' && echo *"

expect "no folder of ours" 1 "" bash -c "cd '$tree' && ls -d solutions grader/mutants grader/attacks grader/variants grader/tests docs/INSTRUCTORS.md docs/CLAIMS.md 2>/dev/null | grep ."
expect "its labs" 0 "00-tensors 01-matmul 02-backprop" bash -c "cd '$tree/labs' && echo *"
expect "handouts, headers and the map name labs/" 0 "" has_not 'solutions/' "$tree/labs" "$tree/docs" "$tree/minitorch" --include=*.md --include=*.h --include=*.c
expect "nothing of later labs" 0 "00-tensors cli core kernels" bash -c "cd '$tree' && echo reference/native/units/* | sed 's,reference/native/units/,,g' | tr '\n' ' ' && ls -d minitorch/{core,cli,kernels,autograd,data,ckpt,dist,plan} 2>/dev/null | sed 's,.*/,,' | xargs"
expect "no step of another lab in the map" 0 "" has_not '^## Lab 03' "$tree/docs/MAP.md"
expect "no hidden row" 0 "" has_not '"tiled"|read transposed tile|packing removes the transpose|c0ffee11' "$tree" --exclude-dir=reference --include=*.c --include=*.json --include=*.md
expect "nor in an object" 0 "" has_not 'read transposed tile|packing removes the transpose' "$tree/reference"
expect "checks and oracles are objects" 1 "" bash -c "cd '$tree' && grep -L '^#error' grader/checks/*.c | grep ."
expect "in which the other rows are" 0 "01-matmul.o" grep -rlE 'rows begin lda, ldb and ldc elements apart' "$tree/reference/native/obj/grader/checks"
expect "no formula of an oracle is left" 0 "" has_not 'sech' "$tree" --include=*.c --include=*.h
expect "no seed" 0 "" has_not '"seed"' "$tree/course.json"
expect "the key is beside it" 0 "packed: transposed" bash -c "cd '$tree-instructor' && ls solutions/01-matmul/ANSWERS.md grader/checks/01-matmul.c grader/{mutants,variants,mutate/equivalent}/01.txt && tr '\t' ' ' <hidden-rows.tsv | sed 's/packed transposed/packed: transposed/' && grep c0ffee11 course.json"
expect "what comes later is in the second part" 0 "reference/native/counted/02-backprop/linear.o" bash -c "cd '$dir/course-after/02' && find . -name linear.o"
expect "and in no other" 1 "" bash -c "find '$tree' ! -path '*/obj/*' \( -path '*reference*02-backprop*' -o -path '*01-matmul*' \) -name '*.o' | grep ."
expect "students see when" 0 '"after":	"2026-10-05T12:01:00Z"' cat "$tree/course.json"
expect "objects name no variable of theirs" 0 "" bash -c "! nm '$dir/course-after/01/reference/native/units/01-matmul/matmul.o' | grep -E ' [trdb] ' | grep -v '\.'"
expect "its skeletons are kept as they are" 1 "" bash -c "cd '$tree' && diff -rq reference/skeletons labs | grep -v '^Only in labs'"
expect "links lead somewhere" 0 "0 complaints" env ROOT="$tree" grader/tools/links.sh
pages() { find "$tree" -name '*.md' ! -path '*/emulator/*' -print0 | xargs -0 "$@"; }
expect "no page is named that is not there" 0 "" bash -c "comm -23 <(grep -rohE '\b[A-Z_]{4,}\.md' '$tree' --include=*.md | sort -u) <({ ls '$tree/docs' && echo README.md ANSWERS.md AGENTS.md; } | tr ' ' '\n' | sort) | grep . && exit 1 || exit 0"
expect "no remark is left without its link" 123 "" pages grep -nE '\((results|all figures|[a-z_]+\.md)\)|^the emulator\.$'
expect "commands are there" 0 "" bash -c "comm -23 <(find '$tree' -name '*.md' -print0 | xargs -0 grep -ohP '(\`|^    )make [a-z][a-z-]*(?![\w/.-])' | grep -oE '[a-z][a-z-]*' | grep -vx make | sort -u) <(make -C '$tree' -pRrq DEPENDENCIES= : 2>/dev/null | grep -oE '^[a-z][a-z-]*:' | tr -d : | sort -u) | grep . && exit 1 || exit 0"
expect "lines are counted there" 0 "  00-tensors                   -     1 lines (reference:  95)  could not be graded" bash -c "cd '$tree' && cp labs/00-tensors/view.c '$dir/view.c' && echo 'static int one;' >>labs/00-tensors/view.c && GRADE=false grader/tools/progress.sh build/release; cp '$dir/view.c' labs/00-tensors"
expect "git takes the objects" 0 "view.o" bash -c "cd '$tree' && git init -q && git add -A && git ls-files reference/native/units/00-tensors"

# Built from what this repository has built already, but for what differs: the list of labs, and checks without hidden rows.
mkdir -p "$tree/build/release" && cp -r build/release/{obj,worker,emu,lib*.a,*.members} "$tree/build/release/" 2>/dev/null
rm -f "$tree"/build/release/obj/grader/{labs,checks/01-matmul}.*
find "$tree/build" -type f -exec touch {} +
expect "its page for language models has the course's policy" 0 "explain, review, write or correct anything that belongs to a lab" cat "$tree/.github/copilot-instructions.md"
check "what gdb and an editor use" test -e "$tree/grader/tools/printers.py" -a -e "$tree/.vscode/launch.json" -a -e "$tree/docs/WORKLOG.md"
expect "and where hints are" 0 "## Where hints are" cat "$tree/AGENTS.md"
expect "it builds" 0 "" make -s -C "$tree" build/release/bin/grade build/release/defined build/release/worker/launch
expect "with the objects of the reference" 0 "" cmp "$tree/build/release/units/00-tensors/view.o" "$tree/reference/native/units/00-tensors/view.o"
cp -r "$tree/reference/native/counted" "$tree/build/release/"
grade() { (cd "$tree" && build/release/bin/grade --no-speed --quiet --width 0 --lab "$@"); }
expect "a skeleton earns nothing" 0 "grade 00: 0/10 TODO=" grade 00
expect "nor does this one" 0 "grade 01: 0/" grade 01
expect "a solution earns all points" 0 "grade 00: 10/10" grade 00 --units "$root/solutions/00-tensors"
expect "and is named as a copy" 0 "00-tensors/view.c is a copy of the reference" grade 00 --units "$root/solutions/00-tensors"
expect "but not a unit of few lines" 1 "" bash -c "build/release/bin/kit digests solutions/*/*.c | grep -E '00-tensors/copy.c|03-autograd/(tape|backward).c'"
mkdir "$dir/own" && for unit in "$root"/solutions/00-tensors/*.c; do sed 's/\bshape\b/form/g; s/\t/ /g' "$unit" >"$dir/own/${unit##*/}"; done
expect "so is one with other names" 0 "00-tensors/strides.c is a copy" grade 00 --units "$dir/own"
# The workflow for GitHub, in this repository: the files that make github adds, and nothing of ours beside them.
TO=$dir/packs grader/frontends/pack.sh github build/release >"$dir/log" && cp -r "$dir/packs/github/.github" "$tree"
(cd "$tree" && GIT_COMMITTER_DATE=2026-10-05T14:00:00+0200 git -c user.name=s -c user.email=s@example.org commit -qm submission)
github() { (cd "$tree" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u CLASSROOM GITHUB_STEP_SUMMARY="$dir/summary" "$@"); }
expect "GitHub: graded" 0 "grade 00: 0/10 TODO=" github .github/grade.sh 00
expect "GitHub: the summary has the points" 0 "### Lab 00: 0/10 points" cat "$dir/summary"
expect "GitHub: and the table" 0 "grade 00: 0/10 TODO=" cat "$dir/summary"
expect "GitHub: a page and a file of JUnit" 0 "<testsuites>" cat "$tree/build/report/00.html" "$tree/build/report/00.xml"
expect "GitHub: nothing for Classroom 50 elsewhere" 1 "" test -e "$tree/result.json"
expect "GitHub: a lab that cannot be graded fails the workflow" 1 "::error::lab 77 could not be graded" github .github/grade.sh 00 77
# As the runner of Classroom 50 starts the bundle: in the student's checkout, with these variables.
cp -r "$dir/packs/github/classroom50" "$dir/bundle" && sed -i 's/^LABS = .*/LABS = sys.argv[1:]/' "$dir/bundle/autograder.py"
classroom50() {
    github env CLASSROOM=spring ASSIGNMENT=tensors USERNAME=ada SUBMISSION_TAG=submit/1 COMMIT_URL=https://x/commit/1 RELEASE_URL=https://x/1 \
        /usr/bin/python3 "$dir/bundle/autograder.py" "$@"
}
expect "Classroom 50: graded" 0 "grade 00: 0/10 TODO=" classroom50 00
expect "Classroom 50: result.json has its keys, and points in hundredths" 0 "classroom50/result/v1 spring tensors ada submit/1 https://x/commit/1 https://x/1 https://x/commit/1 2026-10-05T12:00:00Z 0 1000 [0, 1000]" \
    /usr/bin/python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
tests = j.pop("tests")
assert all(list(t) == ["test-name", "passed", "score", "max-score"] for t in tests) and tests[0]["test-name"] == "00.1" and tests[0]["passed"] is False
assert all(type(t[k]) is int for t in tests for k in ("score", "max-score"))
print(*j.values(), [sum(t[k] for t in tests) for k in ("score", "max-score")])' "$tree/result.json"
expect "Classroom 50: the keys" 0 '{"schema":"classroom50/result/v1","classroom":"spring","assignment":"tensors","owner":"ada","submission":' cat "$tree/result.json"
expect "Classroom 50: no result where a lab cannot be graded" 1 "::error::lab 77 could not be graded" classroom50 00 77
expect "Classroom 50: none at all" 1 "" test -e "$tree/result.json"
expect "a skeleton is not a copy" 1 "" bash -c "cd '$tree' && build/release/bin/grade --lab 00 --quiet | grep 'copy of the reference'"
# Until the second part of lab 01 is there, its race has no rival, and programs have the student's units.
expect "a race is the instructor's" 0 "handed out later: your instructor measures it" bash -c "cd '$tree' && build/release/bin/grade --quiet --width 0 --lab 01 --step 01.5 --units '$root/solutions/01-matmul'"
expect "programs have the student's units" 0 "build/release/mine/01-matmul/matmul.o" make -n -C "$tree" DEPENDENCIES= build/release/bin/by_hand
expect "of a later lab only" 0 "build/release/units/00-tensors/view.o" make -n -C "$tree" DEPENDENCIES= build/release/bin/by_hand
cp -r "$dir/course-after/01/." "$tree"
expect "the second part is taken" 0 "" make -s -C "$tree" build/release/{units,counted}/01-matmul/{loops,matmul}.o build/release/defined
expect "in place of what was built" 0 "" cmp "$tree/build/release/units/01-matmul/matmul.o" "$tree/reference/native/units/01-matmul/matmul.o"
expect "and programs have it" 1 "" bash -c "make -n -C '$tree' DEPENDENCIES= build/release/bin/by_hand | grep mine/01-matmul"
expect "the reference's objects earn all that is not measured" 0 "INCONCLUSIVE=2" grade 01 --units reference/01-matmul
expect "a hidden row is not there" 1 "" bash -c "cd '$tree' && build/release/bin/grade --lab 01 --quiet | grep tiled"

# A line of a solution anywhere stops it.
line=$(grep -m1 -n 'apart != n \* stride' solutions/00-tensors/copy.c | cut -d: -f2-)
[ -n "$line" ] || bad "the line of copy.c is another one now"
planted() { perl grader/release/prove.pl "$dir/plant" minitorch solutions/*/*.c; }
mkdir "$dir/plant" && printf 'a\nb %s c\n' "$line" >"$dir/plant/page.md"
expect "in a page" 1 "page.md:2: a line of a solution, solutions/00-tensors/copy.c" planted
printf '\1\2\3%s\0\4' "${line// /}" >"$dir/plant/page.md"
expect "in an object" 1 "page.md:1: a line" planted
echo 'for (int64_t i = 0; i < n; i++)' >"$dir/plant/page.md"
expect "a line of given code does not" 0 ": 0 found" planted
gzip -c "$0" >"$dir/plant/page.gz"
expect "what cannot be searched does" 1 "page.gz:1: packed" planted

finish release
