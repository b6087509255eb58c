#!/usr/bin/env bash
# links.sh: a link to a missing file and a missing identifier are reported with their line; a correct tree passes.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root"
tool=$PWD/grader/tools/links.sh
export ROOT=$dir
mkdir -p "$ROOT"/{docs,src}
echo 'int mt_add(int a);' >"$ROOT/src/add.h"
# expect NAME STATUS WORDS: the page on standard input gives STATUS and WORDS.
expect() {
    local out rc=0
    cat >"$ROOT/docs/page.md"
    out=$("$tool" 2>&1) || rc=$?
    if [ $rc -eq "$2" ] && grep -qF -- "$3" <<<"$out"; then ok; else bad "$1: exit $rc, said: $out"; fi
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
expect "code blocks are not links" 0 "0 links" <<'EOF'
```c
f[i](none.md)
```
EOF
finish links
