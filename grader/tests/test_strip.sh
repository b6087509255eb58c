#!/usr/bin/env bash
# strip: the skeleton is the expected one; every invalid mark is refused with file:line and nothing is written.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
strip=${STRIP:-build/release/bin/strip}
[ -x "$strip" ] || make -s "$strip"
strip=$(realpath "$strip")
mkdir "$dir/01-matmul"
cd "$dir"
verdict() { # verdict NAME ok|bad
    if [ "$2" = ok ]; then ok; else bad "$1"; fi
}
same() { if cmp -s "$2" "$3"; then verdict "$1" ok; else verdict "$1" bad && diff "$2" "$3" | head -20; fi; }

# refused NAME LINE WORDS: the unit on standard input is refused at LINE with WORDS, and leaves no file behind.
refused() {
    local file=01-matmul/bad.c out rc=0
    cat >$file
    out=$("$strip" $file out.c 2>&1) || rc=$?
    if [ $rc -eq 1 ] && grep -qF -- "$file:$2: " <<<"$out" && grep -qF -- "$3" <<<"$out" && [ -z "$(ls out.c* 2>/dev/null)" ]
    then verdict "$1" ok; else verdict "$1 (exit $rc, said: $out)" bad; fi
}

cat >01-matmul/unit.c <<'UNIT'
/* unit.c -- two regions. */
#include "core/base.h"
static int helper(int x);

/* LAB 01.2 BEGIN  A helper of step 2.
 * Hint: add one. */
static int helper(int x)
{
    return x + 1;
}
/* LAB 01.2 END */

int twice(int x)
{
    for (int i = 0; i < 1; i++) {
        /* LAB 01.1 BEGIN  Call it twice.
         * Hint: helper(helper(x)). */
        x = helper(helper(x));
        /* LAB 01.1 END */
    }
    /* LAB 01.12 BEGIN  Say it. */
    return x;
    /* LAB 01.12 END */
}
UNIT
cat >want.c <<'WANT'
/* unit.c -- two regions. */
#include "core/base.h"
static int helper(int x);

/* TODO 01.2: A helper of step 2.
 * Hint: add one. */

int twice(int x)
{
    for (int i = 0; i < 1; i++) {
        /* TODO 01.1: Call it twice.
         * Hint: helper(helper(x)). */
        MT_TODO("01.1"); /* delete this line when yours stands here */
    }
    /* TODO 01.12: Say it. */
    MT_TODO("01.12"); /* delete this line when yours stands here */
}
WANT
"$strip" 01-matmul/unit.c out.c
same "a skeleton in a file" want.c out.c
rm out.c
"$strip" 01-matmul/unit.c - >out.txt
same "a skeleton on standard output" want.c out.txt
if [ -z "$("$strip" --check 01-matmul/unit.c 2>&1)" ]; then verdict "a good unit" ok; else verdict "a good unit" bad; fi

refused "nested" 3 "region 01.2 begins inside region 01.1 of line 1" <<'UNIT'
  /* LAB 01.1 BEGIN  One. */
  x();
  /* LAB 01.2 BEGIN  Two. */
  y();
  /* LAB 01.2 END */
  /* LAB 01.1 END */
UNIT
refused "no end" 2 "region 01.1 never ends" <<'UNIT'
int f(void)
  /* LAB 01.1 BEGIN  One. */
  x();
UNIT
refused "no begin" 1 "did not begin" <<<'  /* LAB 01.1 END */'
refused "two numbers" 3 "region 01.1 of line 1 ends as 01.2" <<'UNIT'
  /* LAB 01.1 BEGIN  One. */
  x();
  /* LAB 01.2 END */
UNIT
refused "empty" 1 "is empty" <<'UNIT'
  /* LAB 01.1 BEGIN  One. */

  /* only words
   * here */ // and here
  /* LAB 01.1 END */
UNIT
refused "another lab's number" 1 "region 02.1 stands in lab 01" <<'UNIT'
  /* LAB 02.1 BEGIN  One. */
  x();
  /* LAB 02.1 END */
UNIT
refused "no comment" 1 "has no comment" <<'UNIT'
  /* LAB 01.1 BEGIN */
  x();
  /* LAB 01.1 END */
UNIT
refused "comment not closed" 1 "comment never ends" <<'UNIT'
  /* LAB 01.1 BEGIN  One.
  x();
  /* LAB 01.1 END */
UNIT
refused "code after the comment" 2 "code after a region's comment" <<'UNIT'
  /* LAB 01.1 BEGIN  One.
   * Hint. */ x();
  y();
  /* LAB 01.1 END */
UNIT
refused "code before a mark" 1 "not a mark" <<'UNIT'
  x(); /* LAB 01.1 BEGIN  One. */
  y();
  /* LAB 01.1 END */
UNIT
refused "a number with a slip" 1 "not a mark" <<'UNIT'
  /* LAB 1.1 BEGIN  One. */
  y();
  /* LAB 01.1 END */
UNIT
refused "a line comment" 1 "not a mark" <<'UNIT'
  // LAB 01.1 BEGIN  One.
  y();
  /* LAB 01.1 END */
UNIT
refused "column 0 inside a function" 1 "holds code of a function's inside" <<'UNIT'
/* LAB 01.1 BEGIN  One. */
    x();
/* LAB 01.1 END */
UNIT
{ echo '  /* LAB 01.1 BEGIN  One. */' && printf '  x();\n%.0s' $(seq 41) && echo '  /* LAB 01.1 END */'; } |
    refused "41 lines" 1 "has 41 lines"
refused "no region at all" 1 "no marked region" <<<'int x;'

# Errors of files: exit status 2, a message, no partly written file.
trouble() { # trouble NAME WORDS ARGUMENTS
    local name=$1 words=$2 out rc=0
    shift 2
    out=$("$strip" "$@" 2>&1 >/dev/null) || rc=$?
    if [ $rc -eq 2 ] && grep -qF -- "$words" <<<"$out"; then verdict "$name" ok; else verdict "$name (exit $rc: $out)" bad; fi
}
trouble "no such file" "nowhere.c: No such file" nowhere.c out.c
trouble "a folder" "cannot read it" 01-matmul out.c
trouble "no such folder" "No such file or directory" 01-matmul/unit.c no/where/out.c
trouble "over itself" "would replace its own solution" 01-matmul/unit.c ./01-matmul/unit.c
trouble "no arguments" "usage"
rc=0 && "$strip" 01-matmul/unit.c - >/dev/full 2>err.txt || rc=$?
if [ $rc -eq 2 ] && grep -q "No space left" err.txt; then verdict "a full disk" ok; else verdict "a full disk" bad; fi
mkdir wall && trouble "a folder in the way" "wall: " 01-matmul/unit.c wall
if [ -z "$(ls ./*.tmp 2>/dev/null)" ]; then verdict "no temporary file stays" ok; else verdict "no temporary file stays" bad; fi

finish strip
