# changed.bash -- which tests a run owes whole, and which of the others it draws. Sourced in the repository.

# base_commit: what changes are compared with: the merge base with the main branch; on it the last commit's parent, or with
# SINCE=hours (.ci/run) the last commit that is so much older: many may land at once, and a clone may have nothing else.
base_commit() {
    local main base=
    for main in origin/HEAD origin/main main; do base=$(git merge-base HEAD $main 2>/dev/null) && break; done
    if [ -n "$base" ] && [ "$base" != "$(git rev-parse HEAD)" ]; then
        echo "$base"
    elif [ -n "${SINCE:-}" ]; then
        git rev-list -1 --min-age=$(($(commit_time) - SINCE * 3600)) HEAD 2>/dev/null
    else
        git rev-parse -q --verify HEAD~1 2>/dev/null
    fi || true
}

# changed PATH...: whether git says that these files changed since then, committed or not. Where there is no such commit,
# nothing has changed; with SINCE everything.
changed() {
    local base
    base=$(base_commit)
    [ -n "$base" ] || { [ -n "${SINCE:-}" ] && return; return 1; }
    ! git diff --quiet "$base" -- "$@" || [ -n "$(git ls-files --others --exclude-standard -- "$@" | head -1)" ]
}

# commit_time: when the commit was made, in seconds since 1970; 0: there is none.
commit_time() { git show -s --format=%ct HEAD 2>/dev/null || echo 0; }

# time_is_up: whether it is later than UNTIL, in seconds since 1970; without UNTIL it never is.
time_is_up() { [ -n "${UNTIL:-}" ] && [ "$(date +%s)" -ge "$UNTIL" ]; }

# one_in N: of the lines read, one in N, drawn by the commit.
one_in() {
    local lines
    mapfile -t lines
    printf '%s\n' "${lines[@]}" | shuf -n $(((${#lines[@]} + $1 - 1) / $1)) --random-source=<(yes "$(git rev-parse HEAD 2>/dev/null)")
}
