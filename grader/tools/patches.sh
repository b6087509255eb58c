# patches.sh -- the named mutants, grader/mutants/NN-name/what-is-wrong.patch, for mutants.sh and seeds.sh. Sourced in the
# repository's root, with $build.
#
# First line of a patch: `# catches: 02.6 softmax: large logits` (step, words of the row's name), then a unified diff of one
# unit of solutions/NN-name/. A second line `# says: words` names what the row's text must contain: the message for this error.
# A line `# needs: avx512_bf16 sse4a` names flags of the processor (/proc/cpuinfo; only AMD's have sse4a) without which no row
# rejects this mutant.

# find_patches [LAB]: into the array patches. A lab that cannot be graded here is skipped, with a note, and skipped=yes.
find_patches() {
    local folder units patch
    shopt -s nullglob
    patches=() skipped=
    for folder in grader/mutants/"${1:+$1-}"*/; do
        if [ ! -d "labs/$(basename "$folder")" ]; then
            echo "  skipped ${folder%/}: not graded yet" && skipped=yes && continue
        fi
        units=(solutions/"$(basename "$folder")"/*.cu)
        if [ ${#units[@]} -gt 0 ] && [ ! -x "$build/emu/cuemu" ]; then
            echo "  skipped ${folder%/}: $build/emu is missing: install g++ and run make, without CUDA=off"
            skipped=yes
        else
            for patch in "$folder"*.patch; do
                if runs_here "$patch"; then patches+=("$patch"); fi
            done
        fi
    done
}

# runs_here PATCH: whether the processor has all that it needs; else a note.
runs_here() {
    local flag
    for flag in $(sed -n '1,3s/^# needs: //p' "$1"); do
        grep -qwm1 "$flag" /proc/cpuinfo || { echo "  skipped $1: no $flag here" && return 1; }
    done
}

# apply PATCH FOLDER: the folder's copy of the one unit that the patch names; prints why not.
apply() {
    local unit said
    unit=$(sed -nE 's|^\+\+\+ ([^\t]*/)?([^/\t]+).*|\2|p' "$1")
    [[ $unit =~ ^[^[:space:]]+$ ]] || { echo "does not patch exactly one unit" && return 1; }
    # The unit is in the folder, whatever the path in the patch; git must not treat build/ as a part of its repository.
    said=$(sed -E "s|^--- .*|--- a/$unit|; s|^\+\+\+ .*|+++ b/$unit|; /^(diff|index) /d" "$1" |
        (cd "$2" && GIT_CEILING_DIRECTORIES=${PWD%/*} git apply -p1 - 2>&1)) || { head -3 <<<"$said" | tr '\n' ' ' && return 1; }
    ! cmp -s "$2/$unit" "solutions/${2##*/}/$unit"
}

# make_mutant PATCH FOLDER: the units of its lab with that mistake, in FOLDER/NN-name; sets wanted, the step and the row, step
# and says. Prints why not.
make_mutant() {
    local lab=${1%/*} first='' second=''
    lab=${lab##*/} says='' wanted='' step=''
    { IFS= read -r first && IFS= read -r second; } <"$1" || true
    [[ ! $second =~ ^#\ says:\ +(.*) ]] || says=${BASH_REMATCH[1]}
    [[ ! $first =~ ^#\ catches:\ +([0-9]{2}\.[0-9]+.*) ]] || wanted=${BASH_REMATCH[1]}
    [ -n "$wanted" ] || { echo "its first line must be: # catches: 02.6 softmax: large logits" && return 1; }
    step=${wanted%% *}
    rm -rf "${2:?}/$lab" && mkdir -p "$2/$lab"
    cp solutions/"$lab"/* "$2/$lab"
    apply "$1" "$2/$lab" || { echo "does not apply to solutions/$lab: make a new patch" && return 1; }
}

# is_race PATCH: whether the row that it names is timed.
is_race() {
    local first
    read -r first <"$1" && [[ $first == *": speed" ]]
}
