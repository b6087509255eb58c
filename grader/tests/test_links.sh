#!/usr/bin/env bash
# links.sh: a link to a missing file and a missing identifier are reported with their line; a correct tree passes.
set -uo pipefail
cd "$(dirname "$0")/../.."
tool=$PWD/grader/tools/links.sh
ROOT=$(mktemp -d)
export ROOT
trap 'rm -rf "$ROOT"' EXIT
mkdir -p "$ROOT"/{docs,src}
echo 'int mt_add(int a);' >"$ROOT/src/add.h"
passed=0 failed=0
# expect NAME STATUS WORDS: the page on standard input gives STATUS and WORDS.
expect() {
    local out rc=0
    cat >"$ROOT/docs/page.md"
    out=$("$tool" 2>&1) || rc=$?
    if [ $rc -eq "$2" ] && grep -qF -- "$3" <<<"$out"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) && printf 'FAIL %s: exit %d, printed:\n%s\n' "$1" $rc "$out"
    fi
}

expect "a correct page" 0 "links: 2 links and 2 names in 1 pages; 0 complaints" <<'EOF'
`mt_add` in [add.h](../src/add.h), `mt_add` [add.h](../src/add.h#L1), [elsewhere](https://example.org/no), [here](#top)
EOF
expect "a missing file" 1 "docs/page.md:2: there is no src/sub.h" <<'EOF'
text
[sub.h](../src/sub.h)
EOF
expect "a missing identifier" 1 "docs/page.md:1: src/add.h has no \`mt_sub\`" <<'EOF'
`mt_sub` in [add.h](../src/add.h)
EOF
expect "only a part of a name" 1 "src/add.h has no \`mt_ad\`" <<'EOF'
`mt_ad` in [add.h](../src/add.h)
EOF
expect "a link over two lines" 1 "docs/page.md:2: there is no docs/none.md" <<'EOF'
[two
words](none.md)
EOF
expect "code blocks are no links" 0 "0 links" <<'EOF'
```c
f[i](none.md)
```
EOF
echo "links: $passed passed, $failed failed"
[ $failed -eq 0 ]
