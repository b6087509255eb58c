#!/usr/bin/env bash
# The site of `make docs`: it builds without a warning, its links hold, nothing is loaded from elsewhere; a site that
# cannot be built whole leaves the old one as it was.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
export PYTHON=${PYTHON:-/usr/bin/python3}
site=$dir/site

# The sums of hours of SELF_STUDY's paths, "(A to B hours): 00, 01.", are those of the handouts, where all are there.
sums() {
    local line lab labs
    while IFS= read -r line; do
        labs=$(sed 's/.*hours)[*]*://; s/\..*//' <<<"$line")
        if [[ $line == *Everything* ]]; then labs=$(ls labs); fi
        for lab in $(grep -oE '\b[01][0-9]\b' <<<"$labs"); do
            sed -nE 's/^- \*\*Time:\*\* about ([0-9]+) to ([0-9]+) hours.*/\1 \2/p' labs/"$lab"-*/README.md
        done | awk -v said="$(grep -oE '[0-9]+ to [0-9]+ hours' <<<"$line")" '
            { a += $1; b += $2 } END { sum = a " to " b " hours"; if (sum != said) print said ": it is " sum }'
    done < <(grep -E '^- .*\([0-9]+ to [0-9]+ hours\)' docs/SELF_STUDY.md)
}
[ ! -d labs/15-scale ] || expect "sums of hours" 0 "" test "$(sums)" = ""
# Each handout says which steps are core and which are optional, and these are steps of the lab.
steps() {
    local page
    for page in labs/*/README.md; do
        perl -0ne '/^- \*\*Steps:\*\* (all are core\.|(.*?) (?:is|are) optional; the\s+others are core\.)$/ms or print "$ARGV\n";
            for my $step (($2 // "") =~ /\d\d\.\d+/g) { print "$ARGV: no step $step\n" if !/^\|.*\b\Q$step\E\b/m }' "$page"
    done
}
expect "core and optional steps" 0 "" test "$(steps)" = ""
# Each function that NAMES.md gives with a step is written in that step.
unknown=$(grep -oE '`mt_\w+` \([0-9.]+\)' docs/NAMES.md | sed -E 's/`(mt_\w+)` \(([0-9.]+)\)/| \2 | `\1` |/' |
    while read -r row; do grep -qF "$row" docs/MAP.md || echo "$row"; done)
expect "functions and their steps" 0 "" test "$unknown" = ""

# A line of code fits the page, where about 100 columns are seen; what a program prints is as wide as it is.
wide() { awk '/^```/ { fenced = !fenced } !fenced && /^    / && length > 104 { print FILENAME ":" FNR ": " length - 4 " columns" }' README.md labs/*/README.md; }
expect "lines of code" 0 "" test "$(wide)" = ""

# A command at the head of a line of prose was a line of code, before somebody filled its paragraph.
filled() { awk 'FNR == 1 { fenced = 0 } /^```/ { fenced = !fenced } !fenced && /^make [a-z-]+ .*[A-Z]=/ { print FILENAME ":" FNR }' README.md docs/*.md labs/*/README.md; }
expect "code is not filled as prose" 0 "" test "$(filled)" = ""

# Without MkDocs it says what to install. The tree has no .ci/deps, which would install it.
mkdir -p "$dir/small/minitorch/core" "$dir/small/.ci" "$dir/none"
printf 'core\t00\tmemory\nnn/tables.*\t02\t...\n' >"$dir/small/minitorch/stages.tsv"
printf '#!/bin/sh\n' >"$dir/small/.ci/deps" && printf '#!/bin/sh\nexit 1\n' >"$dir/none/python"
chmod +x "$dir"/{small/.ci/deps,none/python}
missing() { PYTHON=$dir/none/python ROOT=$dir/small docs/site/build.sh "$site"; }
expect "no MkDocs" 3 "run: sudo apt-get install mkdocs mkdocs-material" missing
if ! "$PYTHON" -c 'from mkdocs import utils; assert "material" in utils.get_theme_names()' 2>/dev/null; then
    echo "docs: the rest is skipped, MkDocs with Material is not installed: $passed passed, $failed failed"
    [ $failed -eq 0 ]
    exit
fi

expect "the site" 0 "; 0 complaints" docs/site/build.sh "$site"
has() { grep -qE -- "$2" "$site/$1" && echo yes; }
expect "lab 01 is one click from the first page" 0 yes has index.html 'href="labs/01-matmul/index.html"'
expect "and says which file to edit" 0 yes has labs/01-matmul/index.html 'loops\.c'
expect "and what to run" 0 yes has labs/01-matmul/index.html 'make grade LAB=01 STEP=01\.1'
# A handout without hours is not finished.
mapfile -t labs < <(grep -l '^- \*\*Time:' labs/*/README.md | sed "s|README.md|index.html|; s|^|$site/|")
expect "every lab has a figure" 0 "" test -z "$(grep -L 'class="figure"' "${labs[@]}")"
expect "answers of each lab are folded" "$(grep -c . <(printf '%s\n' solutions/*/ANSWERS.md))" "" \
    bash -c 'exit "$(grep -c "<details" "$1")"' - "$site/docs/SELF_STUDY.html"
expect "hours of each lab" "${#labs[@]}" "" \
    bash -c 'exit "$(grep -cE "^<td>[0-9]+&nbsp;to&nbsp;[0-9]+</td>" "$1")"' - "$site/docs/SELF_STUDY.html"
unknown() {
    grep -oE '^\| [0-9.]+ \| `\w+`' docs/MAP.md | grep -oE '\w+`' | tr -d '`' | sort -u >"$dir/taught"
    grep -rhoE '(id)="mt_\w+"' "$site/api" | grep -oE 'mt_\w+' | sort -u | comm -23 "$dir/taught" -
}
expect "every taught function is in the API" 0 "" test -z "$(unknown)"
expect "with its lab, unit and checks" 0 yes has api/kernels/kernels.h.html 'Lab 02\.1</a>: .*linear\.c</a>; checks: linear'
expect "and in the index of the search" 0 yes has search/search_index.json mt_layernorm_fwd_cpu
# A search finds a lab before the headers, with a theme that knows such settings.
boost() { "$PYTHON" docs/site/stage.py "$dir/stage" && sed -n 2p "$dir/stage/pages/$1" | sed 's/.*"boost": \([0-9.]*\).*/boost \1/'; }
expect "a search weighs a lab" 0 "boost 4" boost labs/13-data-parallel/README.md
expect "and a header less" 0 "boost 0.25" boost api/dist/ddp.h.md
expect "every folder of the framework is in the API" 0 "" test -z "$(cut -f1 minitorch/stages.tsv | grep -v / |
    while read -r folder; do grep -q "id=\"$folder\"" "$site/api/index.html" || echo "$folder"; done)"
expect "a contract is text" 0 yes has api/core/tensor.h.html 'keeps the storage alive, not the tensor it was made from'

# A small tree: each thing that may be wrong in it.
cd "$dir/small" || exit 1
build() { ROOT=$dir/small "$OLDPWD/docs/site/build.sh" "$dir/small site"; }
mkdir docs && echo '# Style' >docs/STYLE.md && echo '# Map' >docs/MAP.md
cat >minitorch/mt.h <<'END'
/* Memory. */
#include "core/a.h"
END
cat >minitorch/core/a.h <<'END'
/* a.h -- the header <of> this *tree*. */
#pragma once
#ifdef X
#define MT_LONG(x) \
    do { x; } while (0)
#endif

/* ---- all kinds ---- */

/* mt_first -- a `{` in a string, and & < >.
 *   x  [n] f32
 * Two lines. */
void mt_first(float *x, int64_t n);
static inline char mt_second(void)
{
    return '{';
}
typedef void mt_kind(int x);
mt_kind mt_third, mt_fourth; /* after them */
typedef struct mt_pair {
    int a[3], b;
} mt_pair;
typedef enum { MT_ONE, MT_TWO = 2 } mt_number;
extern const int mt_table[], (*mt_pointer)(void);
END
printf '# Start\n\nSee [a](minitorch/core/a.h), `mt_second()` and [there](#start).\n' >README.md
expect "a small tree" 0 "; 0 complaints" build
for name in MT_LONG mt_first mt_second mt_kind mt_third mt_fourth mt_pair MT_TWO mt_number; do
    expect "$name" 0 "" grep -q "id=\"$name\"" "$dir/small site/api/core/a.h.html"
done
expect "no bodies" 1 "" grep -q "return" "$dir/small site/api/core/a.h.html"
expect "signs of HTML" 0 "" grep -q 'in a string, and &amp; &lt; &gt;' "$dir/small site/api/core/a.h.html"
expect "a link to a function" 0 "" grep -q 'href="api/core/a.h.html#mt_second"' "$dir/small site/index.html"
cp "$dir/small site/index.html" "$dir/before"
while IFS='|' read -r text status words; do
    printf '# Start\n\n%s\n' "$text" >README.md
    expect "$text" "$status" "$words" build
    expect "the site is still whole" 0 "" cmp "$dir/before" "$dir/small site/index.html"
done <<'END'
[gone](docs/GONE.md)|1|contains a link to 'docs/GONE.md' which is not found
[gone](#gone)|1|index.html: index.html has no #gone
<a href="no/page.html">gone</a>|1|there is no no/page.html
<img src="https://example.org/x.png">|1|loads https://example.org/x.png
<div style="background: url(//example.org/y.png)"></div>|1|loads //example.org/y.png
END
expect "nothing half-built stays" 0 "none small small site small site.lock site site.lock before" \
    bash -c 'cd "$1" && set -- none small* site* before && echo "$*"' - "$dir"
mkdir "$dir/mine" && touch "$dir/mine/thesis.txt"
expect "a folder that is not a site" 64 "is not a site" "$OLDPWD/docs/site/build.sh" "$dir/mine"
expect "is left alone" 0 "" test -e "$dir/mine/thesis.txt"
finish docs
