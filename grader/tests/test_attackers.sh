#!/usr/bin/env bash
# A few attacks as an ordinary user, in each sandbox (make attacks runs all of them as whoever runs the tests), and
# docs/SECURITY.md names every attack.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
build=build/release
chmod 755 "$dir"
expect "docs/SECURITY.md has every attack" 0 "1 passed" grader/tools/security.sh --check

# What a busy machine delays is not ended for that: a command with a second of processor time, beside four busy processes.
one=$(taskset -pc $$ | sed -E 's/.*: ([0-9]+).*/\1/')
beside() { # NAME STATUS SECONDS COMMAND
    local rc=0
    # shellcheck disable=SC2016
    taskset -c "$one" bash -c 'for i in 1 2 3 4; do "$0/busy" arithmetic & done; "$0/contain" "$1" sh -c "$2"; exit $?' \
        "$bin" "$3" "$4" >/dev/null 2>&1 || rc=$?
    check "$1: $rc" [ $rc -eq "$2" ]
}
beside "a busy machine only delays" 137 2 'ulimit -t 1; while :; do :; done'
beside "what computes for ever is ended" 124 1 'while :; do :; done'
beside "what sleeps is ended" 124 1 'exec sleep 300'

user=()
if [ "$(id -u)" -eq 0 ]; then
    user=(setpriv --reuid 54321 --regid 54321 --clear-groups)
    mkdir "$dir/home" && chown 54321 "$dir/home"
else
    mkdir "$dir/home"
fi
as_user() { "${user[@]}" env -u MT_ATTACKS_LOCKED HOME="$dir/home" ATTACKS="$dir/home/attacks" SANDBOX="$1" grader/tools/attacks.sh $build "${@:2}"; }
if ! "${user[@]}" test -r "$root/$build/bin/grade"; then
    echo "not tried as an ordinary user: others cannot read this folder"
else
    expect "bubblewrap" 0 "attacks: 4 passed" as_user bubblewrap kills reads-files archive-links without-sandbox
    if "${user[@]}" $build/bin/grade -q --root . --build $build --lab 00 --step 00.1 --units solutions/00-tensors --sandbox landlock >/dev/null 2>&1; then
        expect "Landlock" 0 "attacks: 6 passed" as_user landlock kills reads-files starts-again network assembles-files searches-for-files
    else
        echo "not tried behind Landlock: this kernel has none"
    fi
fi
finish attackers
