# tables.sh -- the named mutants and variants, grader/mutants/NN.txt and grader/variants/NN.txt (table.awk has the form). Sourced
# in the repository's root, with $build.
#
# An entry is known as `02-backprop/name`; it is read and applied once, with all others of its lab.
here_tables=$(realpath "${BASH_SOURCE[0]%/*}")
declare -A unit_of row_of words_of place_of error_of # of each entry; place_of: file and line

# read_tables KIND FOLDER [LAB]: the entries of that kind (mutants, variants) into the array entries, and the rows that their heads
# name into named, also of entries that this machine cannot show; the unit that each makes is FOLDER/ENTRY/UNIT. A lab that cannot be graded here is skipped, with a note, and skipped=yes.
read_tables() {
    local table lab name unit row words flags line error units list
    shopt -s nullglob
    entries=() named=() skipped='' made=$2
    list=$(mktemp)
    for table in grader/"$1"/${3:-[0-9][0-9]}.txt; do
        [ -e "$table" ] || continue
        lab=$(basename "$table" .txt) && lab=$(echo labs/"$lab"-*) && lab=${lab#labs/} && units=(solutions/"$lab"/*.cu)
        if [ -z "$lab" ]; then
            echo "  skipped $table: not graded yet" && skipped=yes && continue
        elif [ ${#units[@]} -gt 0 ] && [ ! -x "$build/emu/cuemu" ]; then
            echo "  skipped $table: $build/emu is missing: install g++ and run make, without CUDA=off"
            skipped=yes && continue
        fi
        awk -v units="solutions/$lab" -v out="$2/$lab" -f "$here_tables/table.awk" "$table" >"$list" || { rm "$list" && return 1; }
        while IFS=$'\037' read -r name unit row words flags line error; do
            named+=("$row")
            runs_here "$table:$line: $name" "$flags" || continue
            name=$lab/$name
            entries+=("$name") unit_of[$name]=$unit row_of[$name]=$row words_of[$name]=$words
            place_of[$name]=$table:$line error_of[$name]=$error
        done <"$list"
    done
    rm "$list"
}

# is_here NEED: a flag of the processor; or nvcc, in a place where grader/build/ptxas.c looks for it.
is_here() {
    case $1 in
    nvcc) [ -x /usr/local/cuda/bin/nvcc ] || [ -x /usr/bin/nvcc ] || [ -x /usr/lib/cuda/bin/nvcc ] ;;
    *) grep -qwm1 "$1" /proc/cpuinfo ;;
    esac
}

# runs_here ENTRY NEEDS: whether all that it needs is here; else a note.
runs_here() {
    local need
    for need in $2; do
        is_here "$need" || { echo "  skipped $1: no $need here" && return 1; }
    done
}

# make_units ENTRY FOLDER: the units of its lab with that change, in FOLDER/NN-name. Prints why not.
make_units() {
    local lab=${1%/*}
    [ -z "${error_of[$1]}" ] || { echo "${error_of[$1]}" && return 1; }
    rm -rf "${2:?}/$lab" && mkdir -p "$2/$lab"
    cp solutions/"$lab"/* "$2/$lab"
    cp "$made/$1/${unit_of[$1]}" "$2/$lab"
}

# is_race ENTRY: whether the row that it names is timed.
is_race() { [[ ${row_of[$1]} == *": speed" ]]; }
