#!/usr/bin/env bash
# table.awk: what the entries of a table make of a unit, and what is said of those that are wrong.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
awk=$PWD/grader/tools/table.awk
cd "$dir"
mkdir -p units
printf '%s\n' one '    two' '' one '    two' three '}' >units/unit.c

# made LINE...: the unit that an entry with these lines makes, its lines joined by "/", or what is wrong.
made() {
    printf '%s\n' '# A table' '' "${head:-name | unit.c | 02.6 softmax}" "$@" '' >02.txt
    rm -rf out && awk -v units=units -v out=out -f "$awk" 02.txt >list || true
    sed 's/.*\o037//' list | grep . || paste -sd/ out/*/unit.c
}
# makes NAME EXPECTED LINE...
makes() {
    local name=$1 expected=$2
    shift 2
    check "$name: $(made "$@")" [ "$(made "$@")" = "$expected" ]
}
makes "a line" 'one/    two//one/    two/3/}' -three +3
makes "a line less" 'one/    two//one/    two/}' -three
makes "a line more, behind one" 'one/    two//one/    two/three/3/}' ' three' +3
makes "a line more, before one" 'one/    two//one/    two/3/three/}' +3 ' three'
makes "empty lines" 'one/    two/one/    two/three//}' - @ ' three' +
makes "a block between its neighbours" 'one/    two//one/2/three/}' '-    two' +2 ' three'
makes "the second of two places" 'one/    two//one/    2/three/}' @2/2 '-    two' '+    2'
makes "several places, in any order" '1/    two//one/    two/3/}' -three +3 @1/2 -one +1
makes "places are those of the unit as it is" 'three/    two//one/    two/3/}' @1/2 -one +three @ -three +3
makes "signs of the unit itself" 'one/    two//one/    two/-+@#/}' -three +-+@#
head='name | unit.c \
    | 02.6 softmax' makes "a head of two lines" 'one/    two//one/    two/3/}' -three +3

makes "not there" '02.txt:4: name: units/unit.c has this 0 times, not 1: four' -four +4
makes "blanks count" '02.txt:4: name: units/unit.c has this 0 times, not 1:   two' '-  two' +2
makes "there twice" '02.txt:4: name: units/unit.c has this 2 times, not 1: one' -one +1
makes "there less often" '02.txt:5: name: units/unit.c has this 2 times, not 3: one' @2/3 -one +1
makes "no such place" '02.txt:4: name: write `@`, or `@2/3` for the second of three places' @3/2 -one +1
makes "longer than the unit" '02.txt:4: name: units/unit.c has this 0 times, not 1: }' '-}' -
makes "the second block is wrong" '02.txt:7: name: units/unit.c has this 0 times, not 1: four' -three +3 @ -four
makes "two blocks of one line" '02.txt:7: name: another block changes this, too: three' -three +3 @ ' three' +4
makes "an insertion without a place" '02.txt:4: name: an insertion needs the line before or behind it, with a blank as its sign' +3
makes "no change" '02.txt:3: name: it changes nothing' -three +three
makes "no lines" '02.txt:3: name: a block without lines'
makes "an odd sign" '02.txt:4: name: write `@`, or `@2/3` for the second of three places' @two -three
head='name | none.c | 02.6' makes "no such unit" '02.txt:3: name: there is no units/none.c' -three

# What belongs to no entry: exit status 1.
table() { printf -- "$1" >02.txt && awk -v units=units -f "$awk" 02.txt; }
expect "a wrong one, only checked" 0 "02.txt:2: a: units/unit.c has this 2 times" table 'a | unit.c | 02.6\n-one\n'
expect "a right one, only checked" 0 "" table 'a | unit.c | 02.6\n-three\n'
expect "a line without a head" 1 "02.txt:1: this line belongs to no entry" table '-three\n'
expect "a line behind the end of its entry" 1 "02.txt:4: this line belongs to no entry" table 'a | unit.c | 02.6\n-three\n\n+3\n'
expect "a head without a row" 1 "02.txt:1: a head is: name | unit.c | 02.6" table 'a | unit.c | softmax\n-three\n'
expect "a unit elsewhere" 1 "02.txt:1: a head is: " table 'a | ../units/unit.c | 02.6\n-three\n'
expect "a name that is a path" 1 "02.txt:1: a head is: " table '../a | unit.c | 02.6\n-three\n'
expect "a field too many" 1 "02.txt:1: a head is: " table 'a | unit.c | 02.6 | words | words\n-three\n'
expect "a name twice" 1 "02.txt:4: a is in line 1, too" table 'a | unit.c | 02.6\n-three\n\na | unit.c | 02.6\n-three\n'
expect "a head that does not end" 1 "the head does not end" table 'a | unit.c \\\n'
finish tables
