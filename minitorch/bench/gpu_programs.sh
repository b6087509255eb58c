#!/usr/bin/env bash
# gpu_programs.sh OUT [NAME ...] -- a part of make gpu-check: the emulator's own test programs on a GPU, where NVIDIA's tools
# judge them. CUDA=emu: in the emulator, as a test of this script.
#
# Each program of good/ must be right on the device, and memcheck and racecheck of compute-sanitizer must find nothing in
# it. Each of bugs/ runs under memcheck, racecheck, initcheck and synccheck. A row for each program in which these
# disagree with the emulator goes to OUT/programs.md, a line for each program to OUT/programs.json, as soon as it is known.
# NAME: good/saxpy, bugs/tail (default: all). Ends with 1 if a program of good/ is wrong on the device.
set -uo pipefail
out=$(realpath "$1") CUDA=${CUDA:-nvcc}
shift
cd "$(dirname "$0")/../.." && root=$PWD
PATH+=:/usr/local/cuda/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd minitorch/emulator/tests || exit 2
[ $# -gt 0 ] || set -- $(ls -d good/*.cu good/*/ bugs/*.cu | sed 's/\.cu$//; s|/$||')
printf '## Test programs of the emulator\n\n| program | the emulator | on the device |\n|---|---|---|\n' >"$out/programs.md"
: >"$out/programs.json"

built() { # NAME PROGRAM
    local files=("$1".cu)
    [ ! -d "$1" ] || files=("$1"/*.cu "$1"/*.c)
    case $CUDA in
    emu) "$root/build/release/emu/cuemu" "${files[@]}" -o "$2" ;;
    *) nvcc -std=c++17 --extended-lambda -lineinfo -arch=native -w "${files[@]}" -lcublas -o "$2" ;;
    esac
}

# found TOOL PROGRAM: `TOOL finds an error`, `TOOL: no end`, or nothing.
found() {
    timeout 20 compute-sanitizer --tool "$1" --error-exitcode 99 "$2" >"$2.$1" 2>&1
    case $? in
    99) echo "$1 finds an error" ;;
    124) echo "$1: no end" ;;
    esac
}

# judged NAME: a row if the emulator and the device disagree; a line of JSON in any case.
judged() {
    local name=$1 program=$work/${1//\//-} kinds="no error" tools=() tool finding findings=()
    if [ "${name%%/*}" = bugs ]; then
        kinds=$(sed -n 's/.*BUG: *//p' "$name.cu" | tr ' ' '\n' | sort -u | paste -sd' ')
        tools=(memcheck racecheck initcheck synccheck)
    else
        tools=(memcheck racecheck)
    fi
    if ! built "$name" "$program" >"$program.log" 2>&1; then
        findings=("does not compile: $(grep -m 1 error "$program.log" | tr -d '|"\\')")
    elif [ "${name%%/*}" = good ] && ! timeout 20 "$program" >"$program.log" 2>&1; then
        findings=("is wrong: $(head -1 "$program.log" | tr -d '|"\\')")
        echo "$name" >>"$work/wrong"
    elif command -v compute-sanitizer >/dev/null; then
        for tool in "${tools[@]}"; do
            finding=$(found "$tool" "$program")
            [ -z "$finding" ] || findings+=("$finding")
            [[ $finding != *"no end" ]] || break
        done
        [ "${name%%/*}" = good ] || [ ${#findings[@]} -gt 0 ] || findings=("no tool finds an error")
        [ "${name%%/*}" = good ] || [[ ${findings[0]} != *"finds an error" ]] || echo "$name" >>"$work/both"
    fi
    finding=$(printf '%s, ' "${findings[@]}") && finding=${finding%, }
    echo "{\"name\": \"$name\", \"emulator\": \"$kinds\", \"device\": \"$finding\"}" >>"$out/programs.json"
    [[ -z $finding || ( $name == bugs/* && $finding == *"finds an error"* ) ]] || echo "| $name | $kinds | $finding |" >>"$out/programs.md"
}
export -f judged built found
export out work root CUDA
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'judged {}'

wrong=$(cat "$work/wrong" 2>/dev/null | wc -l) good=$(printf '%s\n' "$@" | grep -c ^good/)
said="$((good - wrong)) of $good programs without a mistake are right on the device"
[ $good -eq $# ] || said+="; in $(cat "$work/both" 2>/dev/null | wc -l) of $(($# - good)) with one a tool finds an error"
command -v compute-sanitizer >/dev/null || said+="; compute-sanitizer is not there"
printf '\n%s\n' "$said" >>"$out/programs.md"
echo "$said"
[ "$wrong" -eq 0 ]
