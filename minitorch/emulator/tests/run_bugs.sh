#!/usr/bin/env bash
# run_bugs.sh DIR-OF-CUEMU [NAME ...] -- every program in bugs/ has one mistake; the emulator must name it and nothing
# else.
#
# A line with the comment `// BUG: kind` must be reported as that kind of error (several kinds: each of them;
# warning-kind: as a warning); an error at any other line is a failure. `// SAYS: words`: the report must contain these
# words. RUN: a command that runs programs of another processor. Ends with "N passed, N failed".
set -uo pipefail
export CUEMU_LEAKS=0
here=$(cd "$(dirname "$0")" && pwd)
cuemu=$(cd "$1" && pwd)/cuemu
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here/bugs"

# The findings of a report, one "line kind" per row; a race may be reported at either of its lines. A racing store may
# also see another worker's equal value and be reported as harmless: where there is an error, a warning of its kind is
# ignored.
reported() {
    "${PYTHON:-/usr/bin/python3}" - "$1" "$2" <<'PY'
import json, os, sys
errors = json.load(open(sys.argv[1]))["errors"]
told = {(e["kind"], e["file"], e["line"]) for e in errors if e["severity"] == "error"}
for e in errors:
    if e["severity"] == "error" or (e["kind"] in ("race", "sync") and (e["kind"], e["file"], e["line"]) not in told):
        prefix = "warning-" if e["severity"] == "warning" else ""
        inside = e["file"] and os.path.basename(e["file"]) == sys.argv[2]
        print(e["line"] if inside else 0, prefix + e["kind"])
PY
}

check() {
    local name=$1 file=$1.cu
    if ! "$cuemu" "$file" -o "$work/$name" >"$work/$name.log" 2>&1; then
        echo "FAIL $name: does not compile" && head -5 "$work/$name.log"
        return 1
    fi
    CUEMU_TIMEOUT=2 CUEMU_JSON="$work/$name.json" timeout 600 ${RUN:-} "$work/$name" >/dev/null 2>"$work/$name.log"
    local status=$?
    [ $status != 124 ] || { echo "FAIL $name: did not end" && return 1; }
    grep -n 'BUG:' "$file" | sed -E 's/^([0-9]+):.*BUG: *(.*)/\1 \2/' |
        while read -r line kinds; do for kind in $kinds; do echo "$line $kind"; done; done | sort -u >"$work/$name.want"
    reported "$work/$name.json" "$file" | sort -u >"$work/$name.got"
    local says
    says=$(sed -n 's|.*// SAYS: ||p' "$file")
    if [ -n "$says" ] && ! grep -qF -- "$says" "$work/$name.log"; then
        echo "FAIL $name: not said: $says" && sed 's/^/     /' "$work/$name.log" | head -12
        return 1
    fi
    if cmp -s "$work/$name.want" "$work/$name.got"; then
        echo "ok   $name: $(tr '\n' ',' <"$work/$name.got" | sed 's/,$//')"
        return 0
    fi
    echo "FAIL $name: wanted $(tr '\n' ',' <"$work/$name.want") got $(tr '\n' ',' <"$work/$name.got")"
    sed 's/^/     /' "$work/$name.log" | head -12
    return 1
}
export -f check reported
export cuemu work

[ $# -gt 0 ] || { set -- *.cu && set -- "${@%.cu}"; }
passed=$(printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'check {} >"$work/{}.out" && echo ok; cat "$work/{}.out" >&2' | wc -l)
echo "$passed passed, $(($# - passed)) failed"
[ "$passed" = $# ]
