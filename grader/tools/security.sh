#!/usr/bin/env bash
# security.sh [--check] -- make security: writes the table of attacks into docs/SECURITY.md, from the first lines of each
# attack in grader/attacks/ (grader/tools/attacks.sh describes them); with --check compares only.
set -euo pipefail
cd "$(dirname "$0")/../.."
page=docs/SECURITY.md new=$(mktemp)
trap 'rm -f "$new"' EXIT

# say KEY: its value in the head of $file, without the lines of other keys; a cell of a table.
say() { sed -nE '1,14s#^[/* ]*'"$1"'  *([^ ].*)#\1#p' "$file" | sed -E 's#( *\*/)? *$##; s#\|#\\|#g; s#<#\&lt;#g; s#_#\\_#g; s#\*#\\*#g' | head -1; }
table() {
    local name step tried
    printf '| attack | what it tries | what it hopes | what stops it |\n| --- | --- | --- | --- |\n'
    for folder in grader/attacks/*/; do
        name=$(basename "$folder") file=$folder/make.sh
        [ -e "$file" ] || file=$(echo "$folder"*.c* | cut -d' ' -f1)
        sed -E 's/^# //' "$file" >"$new.head" && file=$new.head
        tried=$(say attack) step=${tried%% *}
        [ -n "$(say "stopped by")" ] || { echo "security: grader/attacks/$name does not say what stops it: \"stopped by ...\"" >&2 && exit 1; }
        printf '| %s | %s: %s | %s | %s |\n' "$name" "$step" "$(sed -E 's/^[0-9.]+ +//' <<<"$tried")" "$(say hopes)" "$(say "stopped by")"
        rm -f "$new.head"
    done
}
begin='<!-- attacks: make security -->' end='<!-- end of attacks -->'
{ sed "/^$begin\$/q" $page && echo && table && echo && sed -n "/^$end\$/,\$p" $page; } >"$new"
if cmp -s "$new" $page; then
    echo "security: 1 passed, 0 failed"
elif [ "${1:-}" = --check ]; then
    diff $page "$new" | head -5
    echo "FAIL the table of attacks in $page is not current: run make security"
    echo "security: 0 passed, 1 failed"
    exit 1
else
    cat "$new" >$page
    echo "security: $page is written"
fi
