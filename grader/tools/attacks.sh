#!/usr/bin/env bash
# attacks.sh BUILD [NAME...] -- make attacks: checks that attacks on the grader earn no points and do no harm.
#
# grader/attacks/NAME/ holds units that replace those of the solution, or make.sh, which is run in a folder with the
# solution's units and may change them or print the path of an archive. In a unit #include "../NAME/file" becomes that
# file of another attack, @ROOT@ the repository's path, @HERE@ the folder of this script's files, @CANARY@ a file that
# anyone may write.
# The first lines of the unit (or of make.sh) state the expected result:
#
#   attack  02.1 what it is        the one step that is graded, and a remark
#   hopes   ...                    for the reader
#   earns   1                      points at most
#   verdict CRASH|FAIL             of at least one row, one of these; REFUSED: the grader refuses the submission (exit status 2)
#   stops   random shapes          words of rows that must have no points (may be repeated)
#   words   left with exit status  in the grader's output (may be repeated)
#   behind  the list               it uses symbols that units may not use (grader/build/allowed.c): it must be refused for
#                                  that, without a point; then, with the list off, the rest is as stated: the sandbox
#   stopped by ...                 for docs/SECURITY.md
#   slow    ...                    run by name only
#
# For each attack, too: the grader ends by itself and leaves no processes; nothing outside has changed (traces); no output of the attack reaches the terminal or the page as a command; nothing prints "BREACH".
# Limits are those of the lab, reduced: the grader's --root is a copy of labs/ and of the headers.
# SAMPLE=n: where git says that the grader has not changed, one in n of the attacks, drawn by the commit. None is begun after UNTIL.
# SANDBOX=landlock: with the sandbox that containers have (grade --sandbox). ATTACKS=folder, CANARY=file: to work there (tests).
# One run at a time on a machine: a canary is in /tmp, where attacks of other runs may find it.
#
# As root everything runs in a view of the machine in which /tmp, /var/tmp, /dev/shm, the home folder and System V memory
# are private and empty, so that the probe can list all that an attack left there.
set -euo pipefail
if [ "$(id -u)" -eq 0 ] && [ -z "${MT_ATTACKS_VIEW:-}" ] && unshare --mount --ipc true 2>/dev/null; then
    MT_ATTACKS_VIEW=1 exec unshare --mount --ipc "$0" "$@"
fi
[ -n "${MT_ATTACKS_LOCKED:-}" ] || MT_ATTACKS_LOCKED=1 exec flock -o "/tmp/minitorch-attacks.$(id -u).lock" "$0" "$@"
build=$(realpath -m "${1:?usage: attacks.sh BUILD [NAME...]}")
shift
cd "$(dirname "$0")/../.." && . .ci/changed.bash
repo=$PWD here=${ATTACKS:-$repo/build/attacks} canary_in_tmp=${CANARY:-/tmp/minitorch-canary.$(id -u)}
passed=0 failed=0 index=0 failures=() private=()

head_of() { # head_of KEY: the values of this line in the attack's head, one a line
    sed -nE "1,14s#^[/* \#]*$1  *([^ ].*)#\1#p" "$head" | sed -E 's#( *\*/)? *$##'
}

# The folders of the view that are ours alone.
make_view() {
    local folder
    for folder in /tmp /var/tmp /dev/shm "$HOME"; do
        case $repo/ in "$folder"/*) continue ;; esac # the repository would be hidden
        mount -t tmpfs tmpfs "$folder" && private+=("$folder")
    done
    touch /tmp/another-user && chmod 600 /tmp/another-user && chown 12345 /tmp/another-user
}

make_root() {
    rm -rf "$here"
    mkdir -p "$here/root" "$here/canary"
    find minitorch -name '*.h' -o -name '*.cuh' | xargs cp --parents -t "$here/root"
    for lab in labs/*/lab.json; do
        mkdir -p "$here/root/${lab%/*}"
        sed -zE 's/"limits": *\{[^}]*\}/"limits": { "cpu_s": 5, "wall_s": 2, "output_kib": 64 }/' "$lab" >"$here/root/$lab"
    done
    for unit in labs/*/*.cu; do cp "$unit" "$here/root/$unit"; done # whose launchers a stub has (grader/build/stub.c)
    for canary in "$here/canary/file" "$canary_in_tmp"; do
        rm -f "$canary"
        echo "nobody changes this" >"$canary"
        chmod 666 "$canary"
    done
    chmod 777 "$here/canary"
}
trap 'rm -f "$canary_in_tmp"' EXIT

# Files of the repository: with what is built, but not what this script writes, nor what tests that run beside do: their
# reports, and the data that they fetch or make.
listing() { find Makefile README.md .ci docs datasets grader labs minitorch solutions "$build/bin" "$build/units" "$build/worker" -type f ! -path 'datasets/cache/*' -printf '%p %s %T@\n' | sort; }

# traces: what was left or changed outside of the grader's report. Files of attacks are called minitorch-pwned where others
# write, too; in private folders any file counts. The compared parts are the same before and after.
traces() {
    [ ${#private[@]} -eq 0 ] || find "${private[@]}" -xdev -mindepth 1 ! -path "$canary_in_tmp" ! -path /tmp/another-user
    [ -z "${MT_ATTACKS_VIEW:-}" ] || tail -qn +2 /proc/sysvipc/{shm,sem,msg} | sed 's/^/System V object: /'
    listing | diff "$here/listing" - | grep '^[<>]' || true
    find /tmp /var/tmp /dev/shm "$here" "$HOME" -maxdepth 3 -name 'minitorch-pwned*' 2>/dev/null
    find grader labs solutions minitorch -name 'minitorch-pwned*' -o -name results.json
    for canary in "$here/canary/file" "$canary_in_tmp"; do
        [ "$(cat "$canary")" = "nobody changes this" ] || echo "$canary"
    done
    find "$here/canary" -mindepth 1 ! -name file
    find "$out/report" -mindepth 1 ! -name '[0-9][0-9].json' ! -name '[0-9][0-9].html' ! -name '.[0-9][0-9].lock'
}

# prepare NAME: the submission, into $submission.
prepare() {
    local folder=grader/attacks/$1
    mkdir -p "$out/units" "$out/report"
    cp "solutions/$lab"/*.c* "$out/units"
    submission=$out/units
    if [ -e "$folder/make.sh" ]; then
        local made
        made=$(cd "$out/units" && ATTACK=$repo/$folder ROOT=$repo bash "$repo/$folder/make.sh")
        submission=${made:-$submission}
    fi
    for unit in "$folder"/*.c*; do
        if [ -e "$unit" ]; then sed -E "s|^#include \"\.\./(.*)\"|cat grader/attacks/\1|e; s|@ROOT@|$repo|g; s|@HERE@|$here|g; s|@CANARY@|$canary_in_tmp|g" "$unit" >"$out/units/${unit##*/}"; fi
    done
}

# complaints NAME CODE: a description of everything that is wrong; its first line is the score.
judge() {
    local code=$1 verdict earns said rows=()
    verdict=$(head_of verdict) earns=$(head_of earns)
    mapfile -t rows < <(head_of stops)
    case $code in
    124) echo "the grader hangs" && return ;;
    125) echo "processes are left: $(tail -1 "$out/log")" && return ;;
    esac
    if [ "$verdict" = REFUSED ]; then
        if [ "$code" -eq 2 ]; then echo "REFUSED" >"$out/said"; else echo "exit status $code, wanted 2"; fi
    elif [ "$code" -ne 0 ] && ! { [ "$code" -eq 3 ] && [ "$verdict" = ERROR ]; }; then
        echo "the grader ended with status $code: $(tail -1 "$out/log")"
    elif ! "$build/bin/attacked" "$out/report/${step%%.*}.json" "$earns" "$verdict" "${rows[@]}" >"$out/said"; then
        cat "$out/said" && echo
    elif [ "$(grep -cE '^grade [0-9][0-9]: ' "$out/log")" -ne 1 ] || [[ ! $(tail -1 "$out/log") =~ ^grade\ [0-9][0-9]:\  ]]; then
        echo "the machine-readable line is not the last one, or not alone"
    fi
    while read -r said; do
        [ -z "$said" ] || grep -qF -- "$said" "$out/log" || echo "the grader's output does not say \"$said\""
    done < <(head_of words)
    if grep -q BREACH "$out/log"; then grep -m1 BREACH "$out/log"; fi
    if grep -q $'\033' "$out/log"; then echo "a control character reached the terminal"; fi
    [ ! -e "$out/report/${step%%.*}.json" ] || "$build/bin/frontend" junit "$out/report/${step%%.*}.json" >"$out/junit"
    if grep -hsiE '(^|[[:space:]]|"|>)::|##(vso|teamcity)?\[' "$out/log" "$out/junit"; then echo "a command to the runner of a CI service reached a log"; fi
    if grep -qsi '<script>evil' "$out/report"/*.html; then echo "a script reached the page"; fi
    traces | sed 's/^/left or changed: /'
}

run_grader() { # run_grader [OPTION]
    "$build/bin/contain" 120 "$build/bin/grade" --quiet --width 0 --root "$here/root" --build "$build" --lab "${step%%.*}" \
        --step "$step" --submission "$submission" --report "$out/report" ${SANDBOX:+--sandbox "$SANDBOX"} "$@" >"$out/log" 2>&1 </dev/null
}

# listed CODE: what is wrong where the list of symbols should have refused the unit.
listed() {
    if [ "$1" -ne 0 ] || ! grep -q 'which units may not' "$out/log" || [[ ! $(tail -1 "$out/log") =~ :\ 0/[0-9]+\  ]]; then
        echo "not refused by the list of symbols: status $1, $(tail -1 "$out/log")"
    fi
}

attack() {
    local name=$1 code=0 start=$SECONDS submission
    head=grader/attacks/$name/make.sh
    [ -e "$head" ] || head=$(echo grader/attacks/"$name"/*.c* | cut -d' ' -f1)
    out=$here/$name step=$(head_of attack | cut -d' ' -f1)
    lab=$(basename solutions/"${step%%.*}"-*)
    local complaints="" behind
    behind=$(head_of behind)
    index=$((index + 1))
    prepare "$name"
    listing >"$here/listing"
    if [ -n "$behind" ]; then
        run_grader || code=$?
        complaints=$(listed $code)
        code=0
    fi
    run_grader ${behind:+--any-symbol} || code=$?
    complaints+=$(judge $code)
    report "$name" "$complaints" "$(cat "$out/said" 2>/dev/null)" $((SECONDS - start))
}

# report NAME COMPLAINTS SAID SECONDS
report() {
    local word=ok
    if [ -z "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) word=WORKED; fi
    printf '  [%2d/%d] %-7s %-22s %s  (%d s)\n' $index "$total" $word "$1" "$3" "$4"
    [ -z "$2" ] || failures+=("$1: $(head -1 <<<"$2")")
    [ -z "$2" ] || { sed "s|^|grader/attacks/$1: |" <<<"$2" && echo "    see build/attacks/$1/log"; } >&2
}

# Without bubblewrap (hidden in a mount namespace) the grader takes Landlock and says so; without both it warns and
# continues, but with --marking it refuses. An ordinary user hides it in a user namespace, where the grader is root and
# there is nobody else to become.
without_sandbox() {
    local start=$SECONDS complaints="" out=$here/without-sandbox units=solutions/02-backprop
    local hidden=(unshare --mount) grade=("$build/bin/grade" -q --root "$here/root" --build "$build" -l 02 --step 02.8 -s "$units")
    [ "$(id -u)" -eq 0 ] || hidden=(unshare --map-root-user --mount)
    index=$((index + 1))
    mkdir -p "$out"
    hide() { "${hidden[@]}" sh -c 'mount --bind /dev/null /usr/bin/bwrap && exec "$@"' hide "$@"; }
    if ! hide true 2>/dev/null; then
        report "without-sandbox" "" "not tried: no mount namespace here" 0
        return
    fi
    local kind=(--sandbox none)
    ! "${grade[@]}" --sandbox landlock >"$out/log" 2>&1 || kind=()
    hide "${grade[@]}" "${kind[@]}" >"$out/log" 2>&1 || complaints="local grading ended with status $?"
    grep -qE "warning: (no sandbox|confined by Landlock)" "$out/log" || complaints+=" no warning"
    grep -q "^grade 02: 6/6" "$out/log" || complaints+=" not graded"
    hide "${grade[@]}" --marking >"$out/log" 2>&1 || complaints+=" Landlock is not a sandbox for marking"
    hide "${grade[@]}" --sandbox none --marking >"$out/log" 2>&1 && complaints+=" marking went on"
    grep -q "needs a sandbox" "$out/log" || complaints+=" marking does not say why"
    hide "${grade[@]}" --sandbox bubblewrap >"$out/log" 2>&1 && complaints+=" bubblewrap without bubblewrap"
    report "without-sandbox" "$complaints" "Landlock instead; without both, marking refused" $((SECONDS - start))
}

[ -z "${MT_ATTACKS_VIEW:-}" ] || make_view
make_root
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    mapfile -t names < <(cd grader/attacks && printf '%s\n' * | grep -vxF -f <(grep -lE '^[/* #]*slow ' */* | cut -d/ -f1; echo -))
fi
if [ $# -eq 0 ]; then
    [ "${SAMPLE:-1}" -eq 1 ] || changed .ci labs minitorch/core grader ':!grader/checks' ':!grader/mutants' ':!grader/variants' ':!grader/tests' ||
        mapfile -t names < <(printf '%s\n' "${names[@]}" | one_in "$SAMPLE")
    [ -z "${UNTIL:-}" ] || mapfile -t names < <(printf '%s\n' "${names[@]}" | one_in 1)
    names+=(without-sandbox)
fi
total=${#names[@]}
for name in "${names[@]}"; do
    ! time_is_up || break
    if [ "$name" = without-sandbox ]; then without_sandbox; else attack "$name"; fi
done
[ $index -eq $total ] || echo "  the time was up: $((total - index)) of $total attacks were not tried"
[ $failed -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "attacks: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
