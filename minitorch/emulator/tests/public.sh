#!/usr/bin/env bash
# public.sh DIR-OF-CUEMU [NAME ...] -- how much public CUDA code compiles unchanged: every program of public.txt, or of
# the repositories whose name contains a NAME. The code comes from GitHub, or from MT_PUBLIC, a folder of git
# repositories (owner+name, owner+name.git or owner+name/repo), and is removed afterwards; KEEP=dir keeps it, with a log
# beside each file. A .cu file that another one includes does not count as a program. Prints "K of N" for each
# repository, and the errors of the others by frequency. It is not part of the tests: it needs the network and some
# minutes.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cuemu=$(cd "$1" && pwd)/cuemu
shift
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
work=$(cd "$work" && pwd)

# git_dir OWNER/NAME COMMIT: where the commit is
git_dir() {
    local name=${1/\//+} dir
    for dir in "${MT_PUBLIC:-/nowhere}/$name"{,.git,/repo}; do
        git -C "$dir" cat-file -e "$2^{commit}" 2>/dev/null && echo "$dir" && return
    done
    git init -q --bare "$work/$name.git" && git -C "$work/$name.git" fetch -q --depth 1 "https://github.com/$1" "$2" &&
        echo "$work/$name.git"
}

# check_out DIR COMMIT TREE: the sources; what else a repository holds may be missing in a mirror
check_out() {
    export GIT_DIR=$1 GIT_WORK_TREE=$3 GIT_INDEX_FILE=$work/index
    mkdir -p "$3" && rm -f "$GIT_INDEX_FILE" && git read-tree "$2" &&
        git ls-files -z | grep -zE '\.(cuh?|c|cc|cpp|cxx|h|hh|hpp|inl)$' | git checkout-index -z --stdin --prefix="$3/" 2>/dev/null
    local files
    files=$(find "$3" -name '*.cu' | wc -l)
    unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
    [ "$files" -gt 0 ]
}

compile() {
    local file=$1 flags=()
    IFS=, read -ra flags <<<"$2"
    [ "$2" != - ] || flags=()
    timeout 120 "$cuemu" --fast -O0 -w "${flags[@]}" -c "$file" -o "$file.o" >"$file.log" 2>&1 && rm -f "$file.o" && echo ok
}
export -f compile
export cuemu

compiled=0 programs=0 logs=()
while read -r repository commit most flags files; do
    [[ $repository != \#* ]] || continue
    [ $# = 0 ] || [[ " $* " == *" ${repository#*/} "* ]] || continue
    tree=$work/${repository/\//+}
    dir=$(git_dir "$repository" "$commit") && check_out "$dir" "$commit" "$tree" || { echo "$repository: not to be had" && continue; }
    cd "$tree" || exit 1
    included=$(grep -rhoE '^ *#include +[<"][^">]*\.cu[">]' --include='*.c*' --include='*.h*' . | sed -E 's/.*[<"](.*)[">]/\1/; s|.*/||' | sort -u)
    mapfile -t list < <(find . -name '*.cu' | sed 's|^\./||' | grep -P "$files" | LC_ALL=C sort |
        awk -F/ 'NR == FNR { skip[$0]; next } !($NF in skip)' <(printf '%s\n' "$included") -)
    if [ "$most" != - ] && [ "${#list[@]}" -gt "$most" ]; then
        mapfile -t list < <(printf '%s\n' "${list[@]}" | awk -v n="${#list[@]}" -v most="$most" 'int(NR * most / n) > int((NR - 1) * most / n)')
    fi
    good=$(printf '%s\0' "${list[@]}" | xargs -0 -P 2 -I{} bash -c 'compile "$1" "$2"' sh {} "$flags" | wc -l)
    echo "$repository: compiled as they are $good of ${#list[@]}"
    compiled=$((compiled + good)) programs=$((programs + ${#list[@]}))
    for file in "${list[@]}"; do logs+=("$tree/$file.log"); done
    cd "$work" || exit 1
done <"$here/public.txt"

echo
echo "what stopped the others, by hits (the first error of each):"
for log in ${logs[@]+"${logs[@]}"}; do
    [ -e "${log%.log}.o" ] || grep -m1 -hoE '(fatal )?error: .*' "$log"
done | sed -E 's/(fatal )?error: //; s/ \(did you mean.*\?\)//; s/^(.{100}).*/\1/' | sort | uniq -c | sort -rn | head -"${TOP:-40}"
echo
echo "total: compiled as they are $compiled of $programs ($((100 * compiled / (programs ? programs : 1))) %)"
