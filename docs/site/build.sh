#!/usr/bin/env bash
# build.sh DIR -- makes the site in DIR, from the pages of this repository; part of make docs. DIR is replaced only by a
# complete site whose links hold. Exit status 3: MkDocs or its theme is missing or too old. ROOT=dir takes another tree.
set -euo pipefail
tools=$(cd "$(dirname "$0")" && pwd)
PYTHON=${PYTHON:-/usr/bin/python3}
[ $# -eq 1 ] && [ -n "$1" ] || { echo "usage: build.sh DIR" >&2; exit 64; }
site=$(realpath -m "$1")
cd "${ROOT:-$tools/../..}"
if [ -e "$site" ] && [ ! -e "$site/search/search_index.json" ]; then
    echo "docs: $site is there and is not a site: choose another folder, or delete it" >&2
    exit 64
fi

# What the pages use: INHERIT in mkdocs.yml and paths of stage.py (MkDocs 1.4, Python 3.9), the theme, its extensions.
usable() {
    "$PYTHON" - 2>/dev/null <<'END'
import markdown, mkdocs, pymdownx.slugs, pygments, yaml
from mkdocs import utils
assert tuple(int(n) for n in mkdocs.__version__.split(".")[:2]) >= (1, 4)
assert "material" in utils.get_theme_names()
END
}
if ! usable; then
    .ci/deps mkdocs mkdocs-material python3-pymdownx || true
    usable || {
        echo "docs: $PYTHON has no MkDocs 1.4 with Material; run: sudo apt-get install mkdocs mkdocs-material" >&2
        exit 3
    }
fi

mkdir -p "$(dirname "$site")"
exec 9>"$site.lock" && flock 9 # two builds take turns
rm -rf "$site".stage.* # of builds that were killed
stage=$(mktemp -d "$site.stage.XXXXXX")
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' INT TERM HUP
"$PYTHON" "$tools/stage.py" "$stage"
"$PYTHON" -W ignore::DeprecationWarning -m mkdocs build --strict -f "$stage/mkdocs.yml" >"$stage/log" 2>&1 ||
    { sed 's/\x1b\[[0-9]*m//g' "$stage/log" | grep -vE '^(INFO|  - |$)' | head -50 >&2; exit 1; }
"$PYTHON" "$tools/check.py" "$stage/site"
chmod 755 "$stage/site"
if [ -e "$site" ]; then mv "$site" "$stage/old"; fi
mv "$stage/site" "$site"
echo "docs: open $site/index.html; for the search: $PYTHON -m http.server -d $site"
