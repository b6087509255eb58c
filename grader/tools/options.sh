#!/usr/bin/env bash
# options.sh BUILD          writes docs/OPTIONS.md: every option of train_gpt2 with its meaning and default, as --help has them
# options.sh BUILD --check  checks that the page is current
set -euo pipefail
program=$(realpath "$1")/bin/train_gpt2
cd "$(dirname "$0")/../.."
page() {
    cat <<'EOF'
# Options of train_gpt2

`train_gpt2` trains a GPT-2 on a text or a token file. `make train-gpt2 ARGS="--steps 500"` builds and runs it. Every
option of it is here, as `--help` describes it. They are declared in [train_gpt2.c](../minitorch/apps/train_gpt2.c), and in
[recipe.c](../minitorch/train/recipe.c), [saving.c](../minitorch/train/saving.c) and [team.c](../minitorch/train/team.c), whose
groups other programs have, too. This page is written by `grader/tools/options.sh`: do not edit it.

| option | meaning | default |
|---|---|---|
EOF
    # shellcheck disable=SC2016 # the backticks are Markdown's
    ARGP_HELP_FMT=rmargin=1000 "$program" --help | sed -nE '
        s/^ ([A-Z][^:]*):$/| **\1** | | |/p
        s/\|/\\|/g
        s/^ +(-[A-Za-z]), (--[^ ]+) +(.*)/| `\1`, `\2` | \3 |/
        s/^ +(--[^ ]+) +(.*)/| `\1` | \2 |/
        /^\| `/!d
        t clear
        :clear
        s/ \(default: (.*)\) \|$/ | \1 |/; t done
        s/\|$/| |/
        :done
        /--help|--usage/!p'
}
if [ "${2:-}" = --check ]; then
    diff docs/OPTIONS.md <(page) || { echo "docs/OPTIONS.md is not what train_gpt2 --help says: run grader/tools/options.sh build/release" >&2 && exit 1; }
else
    page >docs/OPTIONS.md
fi
