# changed.bash -- what `make test` leaves to CI: tests of files that a commit has not touched. Sourced in the repository.

# changed PATH...: whether git says that these files changed since the merge base with the main branch (on it: since the
# last commit's parent), committed or not. Where there is no git, or no history, nothing has.
changed() {
    local main base=
    for main in origin/HEAD origin/main main; do base=$(git merge-base HEAD $main 2>/dev/null) && break; done
    if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
        base=$(git rev-parse -q --verify HEAD~1 2>/dev/null) || return 1
    fi
    ! git diff --quiet "$base" -- "$@" || [ -n "$(git ls-files --others --exclude-standard -- "$@" | head -1)" ]
}

# time_is_up: whether it is later than UNTIL, in seconds since 1970; without UNTIL it never is.
time_is_up() { [ -n "${UNTIL:-}" ] && [ "$(date +%s)" -ge "$UNTIL" ]; }

# one_in N: of the lines read, one in N, drawn by the commit.
one_in() {
    local lines
    mapfile -t lines
    printf '%s\n' "${lines[@]}" | shuf -n $(((${#lines[@]} + $1 - 1) / $1)) --random-source=<(yes "$(git rev-parse HEAD 2>/dev/null)")
}
