#!/usr/bin/env bash
# release.sh BUILD OUT [LABS] -- make release: writes a course's repository for students into OUT, and what they must not have into OUT-instructor.
# For a lab with "after" in the course file the reference's objects go into OUT-after/NN, to be copied into OUT later; OUT has skeletons in their place.
#
# OUT is the stage after the last of the labs named (all without LABS; make stage): framework and grader, with nothing of later labs. Of the labs named it has handouts, skeletons and checks. The reference's units are objects for each of LEVELS
# (default: x86-64-v3 x86-64-v4 aarch64), and so are checks and oracles, unless the course file has "checks": "source"; the level for a machine is chosen when it builds (level.sh). LEVELS=native takes units of BUILD, which run here only: quick, for tests.
# Nothing is left in OUT if anything fails.
set -euo pipefail
[ $# -ge 2 ] && [ -n "$2" ] || { echo "usage: make release OUT=dir [LABS=\"00 01 02\"]" >&2 && exit 2; }
out=$(realpath -m "$2") wanted=${3:-} levels=${LEVELS:-x86-64-v3 x86-64-v4 aarch64}
cd "$(dirname "$0")/../.."
build=$1 here=grader/release course=${COURSE:-} jobs=$(nproc)
read -ra cc <<<"${CC:-gcc}"
read -ra flags <<<"${CFLAGS:?make release gives CFLAGS}"

stop() { echo "release: $*" >&2 && exit 1; }
say() { echo "release: $*"; }
for folder in "$out" "$out-instructor" "$out-after"; do
    [ ! -e "$folder" ] || { [ -d "$folder" ] && [ -z "$(ls -A "$folder")" ]; } || stop "$folder is not empty: name a new folder"
    [[ $folder != "$PWD"/* ]] || [[ $folder == "$PWD"/build/* ]] || stop "$folder lies in this repository: name a folder outside"
done
git rev-parse -q --verify HEAD >/dev/null 2>&1 || stop "this is not a git repository with a commit: a release takes its tracked files"
labs=()
for name in ${wanted:-$(cd labs && printf '%s\n' */lab.json | sed 's/-.*//')}; do
    lab=$(cd labs && compgen -G "${name%%-*}-*/lab.json") || stop "there is no lab $name: use some of $(cd labs && echo */ | tr -d /)"
    labs+=("${lab%/lab.json}")
done
[ -n "$course" ] || course=$([ ! -e course.json ] || echo course.json)
after=$([ -z "$course" ] || "$build/bin/kit" after "$course") || exit 1 # all of the file is read before anything is built
[ ! -d minitorch/emulator ] || make -s emulator
mkdir -p "$(dirname "$out")"
work=$(mktemp -d) tree=$out.$$
trap 'rm -rf "$tree" "$work"' EXIT
last=$(printf '%s\n' "${labs[@]%%-*}" | sort -n | tail -n 1)
$here/stage.sh "$build" "$tree" "$last" >"$work/said" || exit 1
chmod 755 "$tree"

# By cp: tar fails if a file gets another link while it is read, as the grader gives headers and objects.
copy_to() { xargs -0r cp -a --parents -t "$1"; }

# ---- the labs ----------------------------------------------------------------------------------------------------
mv "$tree/solutions" "$work/solutions"
mapfile -t units < <(cd "$work" && find solutions -name '*.c' -o -name '*.cu' | sort) # whose objects it has
of_these=$(cd "$work/solutions" && printf '%s|' *)
for lab in "$tree"/labs/*/; do
    lab=$(basename "$lab")
    [[ " ${labs[*]} " == *" $lab "* ]] || rm -r "$tree/labs/$lab"
done
rm "$tree/grader/tools/labs.sh" "$tree/grader/tools/strip.c"
cp -r $here/student/. "$tree"
cp "$here/level.sh" --parents "$tree"
cp $here/students.md.txt "$tree/README.md" # its links hold there
read -r models form < <([ -z "$course" ] && echo tutor objects || "$build/bin/kit" parts "$course")
cat $here/agents/{head,"$models",tail}.txt >"$tree/AGENTS.md"
[ -e "$tree/minitorch/apps/train_mnist.c" ] || sed -i '/make train-mnist/d' "$tree/README.md"
printf '!/reference/**/*.o\n' >>"$tree/.gitignore"
mkdir "$tree/reference" "$work/arm" "$work/given"
find "$tree/minitorch" -name '*.mk' -exec sed -i -E '/^## make (cluster|gpu-check)\b/d' {} + # what needs the sources

# Checks: those of the labs, and the others that these need, also for the given code that they call. Objects say what that is,
# but for those whose source is no longer there.
(cd "$build/obj" && find grader/checks minitorch -name '*.o' ! -path 'minitorch/apps/*' ! -path 'minitorch/bench/*' ! -path 'minitorch/tests/*' |
    while read -r object; do [ ! -e "$OLDPWD/${object%.o}.c" ] || echo "$object"; done | xargs nm -A -P -g) |
    awk -v numbers=" $(printf '%s\n' "${labs[@]}" | cut -c1-2 | xargs) " '
    { file = $1; sub(/\.o:$/, "", file); all[file] = 1 }
    $3 ~ /^[UwV]$/ { needs[file] = needs[file] " " $2; next }
    { has[$2] = file }
    END {
        for (f in all) if (f ~ /^grader/) { lab = substr(f, 15, 2); if (lab !~ /[0-9]/ || index(numbers, " " lab " ")) chosen[f] = todo[++n] = f }
        for (i = 1; i <= n; i++) {
            count = split(needs[todo[i]], name, " ")
            for (j = 1; j <= count; j++)
                if (name[j] in has && !(has[name[j]] in chosen)) chosen[has[name[j]]] = todo[++n] = has[name[j]]
        }
        for (i = 1; i <= n; i++) if (todo[i] ~ /^grader/) print todo[i] ".c"
    }' >"$work/checks"
for ((i = 0; i < 5; i++)); do # their headers, and the headers of these
    xargs grep -ho '"checks/[^"]*"' <"$work/checks" | tr -d '"' | sed 's,^,grader/,' | sort -u - "$work/checks" >"$work/more"
    cp "$work/more" "$work/checks"
done
(cd "$tree" && comm -23 <(ls grader/checks/* | sort) <(sort "$work/checks") | xargs -r rm)
if [ -n "$course" ]; then
    "$build/bin/kit" hidden "$course" >"$work/hidden"
    grep -E "^($(printf '%.2s|' "${labs[@]}")none)	" "$work/hidden" >"$work/mine" || true
    perl $here/hide.pl "$tree/grader/checks" <"$work/mine"
    "$build/bin/kit" students "$course" "$tree/course.json" "${labs[@]%%-*}"
fi

# ---- texts: labs/ in place of solutions/ ---------------------------------------------------------------------------
perl -0pi -e 'BEGIN { %keep = map { substr($_, 0, 2) => 1 } splice @ARGV, 1 } s/\n## Lab (\d\d).*?(?=\n## Lab|\z)/$keep{$1} ? $& : ""/gse;' "$tree/docs/MAP.md" "${labs[@]}"
(cd "$tree" && find docs labs minitorch grader README.md \( -name '*.md' -o -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -path 'minitorch/bench/*.sh' \) -print0 |
    xargs -0 perl -ni -e 'next if /^Answers for instructors:/; s{\bsolutions/}{labs/}g; print')
mkdir "$tree/reference/skeletons" && (cd "$tree/labs" && find . -name '*.c' -o -name '*.cu' | sort | xargs cp --parents -t "$tree/reference/skeletons")
$here/pages.sh "$tree"
mkdir -p "$tree/.github" && ln -s ../AGENTS.md "$tree/.github/copilot-instructions.md"

# ---- the reference's units, checks and oracles as objects ------------------------------------------------------------
skipped=() said=() closed=()
for unit in "${units[@]}"; do
    name=${unit#solutions/}
    mkdir -p "$tree/reference/${name%/*}"
    echo "/* Unit $name of the reference: in a release it is an object, which make takes in place of this file. */" >"$tree/reference/$name"
done
(cd solutions && ../"$build/bin/kit" digests "${units[@]#solutions/}") >"$tree/reference/digests"
grep -E "^units/(${of_these%|})/" "$build/defined" >"$tree/reference/defined"

# commands COMPILER FLAGS...: lines `compiler flags -c unit.c -o object` for all C units, as the Makefile compiles them.
commands() {
    local unit name
    for unit in "${units[@]}"; do
        [[ $unit == *.c ]] || continue
        name=${unit#solutions/} name=${name%.c}.o
        echo "$* -g0 -c $unit -o $tree/reference/$level/units/$name"
        [ ! -e "labs/${name%/*}/lab.json" ] || echo "$* -fsanitize=thread -O1 -g0 -fstack-protector-strong -c $unit -o $tree/reference/$level/counted/$name"
    done
}
# Checks and oracles say what every function must return. They are compiled from the release's own texts, without the hidden rows.
[ "$form" = source ] || mapfile -t closed < <(cd "$tree" && ls grader/checks/*.c minitorch/testing/*oracle*.c 2>/dev/null)
compile_closed() { # COMPILER FLAGS...: the flags of the Makefile, -O1 for those that run fast
    local file
    for file in "${closed[@]}"; do
        mkdir -p "$tree/reference/$level/obj/${file%/*}"
        echo "cd $tree && $* -w -g0 $([[ $file == *oracle* || $file != */[0-9]* ]] || echo -O1) -c $file -o reference/$level/obj/${file%.c}.o"
    done | xargs -P "$jobs" -d '\n' -I{} bash -c '{}' || stop "a check does not compile for $level"
}
for level in $levels; do
    case $level in
    native)
        for kind in units counted cuda-emu/units; do
            objects=$tree/reference/$level/${kind%/units}
            [ ! -d "$build/$kind" ] || mkdir -p "$objects"
            [ ! -d "$build/$kind" ] || (cd "$build/$kind" && find . -name '*.o' -print0 | perl -0ne "print if m{^\./(${of_these%|})/}" | copy_to "$objects")
        done
        compile_closed "${cc[@]}" -march=native "${flags[@]}"
        continue
        ;;
    aarch64)
        command -v aarch64-linux-gnu-gcc >/dev/null || { skipped+=("aarch64: install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross") && continue; }
        ln -sfn /usr/include/cjson "$work/arm/cjson"
        compiler=(aarch64-linux-gnu-gcc -march=armv8-a -isystem "$work/arm")
        ;;
    x86-64-v3 | x86-64-v4)
        [ "$(uname -m)" = x86_64 ] || { skipped+=("$level: make it on a machine with such a processor") && continue; }
        compiler=("${cc[@]}" "-march=$level")
        ;;
    *) stop "unknown level $level: use x86-64-v3, x86-64-v4, aarch64 or native" ;;
    esac
    (cd "$tree/reference" && for folder in [0-9]*; do mkdir -p "$level/"{units,counted}"/$folder"; done)
    commands "${compiler[@]}" "${flags[@]}" -fmacro-prefix-map=solutions=reference |
        xargs -P "$jobs" -d '\n' -I{} bash -c '{}' || stop "a unit does not compile for $level"
    compile_closed "${compiler[@]}" "${flags[@]}"
    if [[ $level == x86* && "${units[*]}" == *.cu* ]]; then # .cu units: by the emulator, and by nvcc for all of its architectures
        for unit in "${units[@]}"; do
            [[ $unit == *.cu ]] || continue
            name=${unit#solutions/} name=${name%.cu}.o
            mkdir -p "$tree/reference/$level/"{cuda-emu,cuda-nvcc}"/${name%/*}"
            echo "$build/emu/cuemu --fast -Iminitorch -c $unit -o $tree/reference/$level/cuda-emu/$name"
            [ -z "${NVCC:-}" ] || echo "$NVCC -O3 -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90 -Iminitorch -c $unit -o $tree/reference/$level/cuda-nvcc/$name"
        done | if [ -e "$work/cuda" ]; then cat >/dev/null; else xargs -P "$jobs" -d '\n' -I{} bash -c '{}'; fi || stop "a .cu unit does not compile"
        if [ -e "$work/cuda" ]; then cp -r "$(cat "$work/cuda")"/cuda-* "$tree/reference/$level"; else echo "$tree/reference/$level" >"$work/cuda"; fi
        [ -n "${NVCC:-}" ] || skipped+=("$level, CUDA=nvcc: install nvcc; CUDA=emu works")
    fi
done
for file in "${closed[@]}"; do
    printf '/* %s: in a release it is an object, which make takes in place of this file. */\n#error "reference/ has no object of %s for this machine: ask for a release that has it"\n' "$file" "$file" >"$tree/$file"
done
getconf GNU_LIBC_VERSION | sed 's/.* //' >"$tree/reference/glibc"
find "$tree/reference" -mindepth 1 -type d -empty -delete
[ -n "$(ls -d "$tree"/reference/*/units 2>/dev/null)" ] || stop "no level could be made: ${skipped[*]}"
# What linking needs stays: global names.
while IFS= read -r -d '' object; do
    strip=strip
    [[ $object != */aarch64/* ]] || strip=aarch64-linux-gnu-strip
    $strip --strip-unneeded -R .comment -R .note.gnu.property "$object"
done < <(find "$tree/reference" -name '*.o' -print0)

# ---- the second part: objects that are handed out after a lab's last submission --------------------------------------
later=$work/after
mkdir "$later"
for folder in "$tree"/reference/*/units; do # a level is known by its folder, even when all of its objects come later
    echo "Objects of the reference's units." >"${folder%/*}/README"
done
while IFS=$'\t' read -r number date; do
    lab=$(cd "$work/solutions" && compgen -G "$number-*") || continue # not of this release
    for folder in "$tree"/reference/{,*/*/}"$lab"; do
        [ -d "$folder" ] || continue
        to=$later/$number/${folder#"$tree/"}
        mkdir -p "${to%/*}" && mv "$folder" "$to"
    done
    mkdir -p "$tree/reference/$lab"
    for unit in solutions/"$lab"/*.c*; do
        "$build/bin/strip" "$unit" "$tree/reference/$lab/${unit##*/}" && sed -i 's,\bsolutions/,labs/,g' "$tree/reference/$lab/${unit##*/}"
    done
    said+=("$out-after/$number: the objects of lab $number, after $date: cp -r $out-after/$number/. $out")
done < <([ -z "$after" ] || echo "$after")

# ---- proof, and what instructors keep -------------------------------------------------------------------------------
git archive HEAD minitorch ':!minitorch/emulator/tests' ':(glob)grader/*.[ch]' grader/{build,sandbox,rows,course,report,checks,worker} | tar -C "$work/given" -xf -
perl $here/prove.pl "$tree" "$work/given" solutions/*/*.c solutions/*/*.cu || stop "these lines would give solutions away: change the file, or the line outside of the regions"
left=$(cd "$tree" && find . \( -name ANSWERS.md -o -name 'mutants' -o -name attacks -o -name variants -o -name solutions -o -name equivalent -o -name 'cluster-hidden*' \) -print)
[ -z "$left" ] || stop "these must not be released: $left"

keep=$(mktemp -d "$out-instructor.XXXXXX") && chmod 755 "$keep"
trap 'rm -rf "$tree" "$work" "$keep"' EXIT
perl $here/prove.pl "$later" "$work/given" solutions/*/*.c solutions/*/*.cu >"$work/proof" || stop "the second part gives solutions away: $(cat "$work/proof")"
for lab in "${labs[@]}"; do
    git ls-files -z "solutions/$lab" grader/{mutants,variants,mutate/equivalent}/"${lab%%-*}.txt" "grader/checks/${lab%%-*}-*" | copy_to "$keep"
done
[ -z "$course" ] || { cp "$course" "$keep/course.json" && cp "$work/hidden" "$keep/hidden-rows.tsv"; }
cat >"$keep/README.md" <<TXT
# Instructor's part of a release

Not for students: \`solutions/\` with the answers to the handouts' questions, all rows of the checks (\`grader/checks/\`), mutants and variants$([ -z "$course" ] || echo ", the course file with its seeds (\`course.json\`), the rows that students do not have (\`hidden-rows.tsv\`)").

Released from commit $(git rev-parse HEAD)$(git diff --quiet HEAD || echo " with changes that are not committed") on $(date -u +%F): ${labs[*]}.
Grade with a clone of that commit: its checks have all rows, and \`make grade COURSE=course.json\` the course's points.
TXT
rmdir "$out" "$out-instructor" "$out-after" 2>/dev/null || true
mv -T "$keep" "$out-instructor" && mv -T "$tree" "$out"
[ -z "$after" ] || mv -T "$later" "$out-after"
for words in "${skipped[@]}"; do say "left out: $words"; done
for words in "${said[@]}"; do say "$words"; done
say "$out: ${#labs[@]} labs, reference for $(cd "$out/reference" && ls -d */units | cut -d/ -f1 | xargs), $(du -sh "$out" | cut -f1); $out-instructor: the key"
