#!/usr/bin/env bash
# shown.sh reports every outdated line of a page, and nothing else.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
printf '\x1e\n%s\n' "$(printf '%s\n' '  kernel   requests' 'sweeps 52  [######......] 50 %  2 s left' 'saxpy  1024' '| source line' 'relu 512' '' 'relu: PASS 2 rows')" >"$dir/printed"
printf '%s\t%d\t0\t%s\n' "$dir/page.md" 3 'make count' >"$dir/commands"
cat >"$dir/right.md" <<'END'
# A page

    make count    # a comment
    relu: PASS 2 rows

```text
kernel   requests
saxpy      1024    # one for each warp
...
relu        512
```

## Measured

On a machine of 2026-01-31:

```text measured
saxpy 7.25
...
relu: FAIL 3 rows
```

```text record
nobody prints this
```

```text message
page.c:3: `deadlock: 3 threads wait, and no thread is left to wake them`
```

A formula, and code:

    y = a x + y

```c
int relu;
```
END
shown() { sed "$1" "$dir/right.md" >"$dir/page.md" && grader/tools/shown.sh "$dir/printed" "$dir/commands" "$dir/page.md"; }
expect "a right page" 0 "shown: 2 outputs compared, 1 without their numbers; 1 messages and 0 quotes found in the source;" shown ''
while IFS='|' read -r edit words; do expect "$edit" 1 "$words" shown "$edit"; done <<'END'
s/2 rows/3 rows/|page.md:4: no command prints: relu: PASS 3 rows
s/1024/1023/|page.md:8: no command prints: saxpy 1023
/^\.\.\./d|page.md:9: no command prints: relu 512
s/saxpy 7.25/saxpi 7.25/|page.md:18: no command prints: saxpi 7.25
s/ of 2026-01-31//|page.md:18: what was measured has no date in its section
s/ of 2026-01-31//|page.md:24: a record has no date in its section
s/is left/was left/|page.md:28: the source has no text "and no thread was left to wake them"
s/A formula/`tensors quarrel with losses` and/|page.md:31: the source has no text "tensors quarrel with losses"
s/    y = a x.*/    relu: PASS 2 rows/|page.md:33: output of a command without ```text: relu: PASS 2 rows
END

# Counts in sentences and tables: pages of this repository, with a number changed.
tree() ( # EDIT PAGE
    rm -rf "$dir/tree" && mkdir "$dir/tree" && ln -s "$PWD"/{.git,build,grader,minitorch,solutions} "$dir/tree" &&
        cp -r README.md labs docs "$dir/tree" && cd "$dir/tree" && sed -i "$1" "$2" &&
        grader/tools/shown.sh "$dir/printed" "$dir/commands" "$2"
)
expect "counts that are right" 0 "5 figures as counted now" tree '' README.md
expect "a wrong count" 1 'lines in 3 marked" is' tree 's/in [0-9]* marked/in 3 marked/' README.md
expect "a wrong bar" 1 "lab.json has 100 40 259.74 15.34, not 15.43" tree 's/15.34 |$/15.43 |/' docs/results/grading.md
finish shown
