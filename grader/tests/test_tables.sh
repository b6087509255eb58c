#!/usr/bin/env bash
# table.awk: what the entries of a table make of a unit, and what is said of those that are wrong. entry.sh: the entries that
# it writes make the edited unit again, and what is said where there is none.
. "$(dirname "$0")/../../.ci/check.bash"
set -e
cd "$root"
awk=$PWD/grader/tools/table.awk entry=$PWD/grader/tools/entry.sh
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

# ---- entry.sh: the edited unit, what is in the table, and the unit that the table makes ------------------------------
mkdir -p solutions/02-toy grader/{mutants,variants} edited && mv units/unit.c solutions/02-toy && echo other >solutions/02-toy/other.c
export ROOT=$dir
table=grader/mutants/02.txt
write() { "$entry" "${kind:-mutants}" "${lab:-02}" "${from:-edited}" "${name-name}" "${row-02.6 softmax: large}" "${words:-}"; }
# edits NAME SCRIPT LINE...: sed's script makes of the unit what an entry with these lines does.
edits() {
    local what=$1 lines
    sed "$2" solutions/02-toy/unit.c >edited/unit.c
    rm -rf $table out && write >said
    printf '%s\n' "# Mutants of lab 02, by steps. The form: grader/tools/table.awk." "" "name | unit.c | 02.6 softmax: large" "${@:3}" >expected
    check "$what: $(cat $table)" cmp expected $table
    awk -v units=solutions/02-toy -v out=out -f "$awk" $table >list
    check "$what: the same bytes" cmp out/name/unit.c edited/unit.c
}
edits "a line" 's/three/3/' -three +3
edits "a line less" '/three/d' -three
edits "lines more" 's/three/&\n\n 3/' ' three' + '+ 3'
edits "before the first line" '1i zero' @1/2 +zero ' one'
edits "behind the last line" '$a four' ' }' +four
edits "a line that is there twice" '5s/two/2/' @2/2 '-    two' '+    2'
edits "behind a line that is there twice, before one that is not" '5a 2' +2 ' three'
edits "between lines that are there twice" '4a 2' @2/2 ' one' +2
edits "several places" '1s/one/1/; 4s/one/1/; /}/d' @1/2 -one +1 @2/2 -one +1 @ '-}'
edits "places beside one line" '2a 0
3a 0' +0 ' ' +0
edits "every line" 's/$/./' -one '-    two' - -one '-    two' -three '-}' +one. '+    two.' +. +one. '+    two.' +three. +}.

rm $table && sed s/three/3/ solutions/02-toy/unit.c >edited/unit.c
for at in 02.10:d 02.9:c 02.6:e 02.6:a 02.6:b; do row=${at%:*} name=${at#*:} write; done >said
names() { sed -nE 's/^([a-z]+) \| .*/\1/p' $table | xargs; }
expect "in the order of steps and names" 0 "a b e c d" names
expect "where it is, and how to go on" 0 "$table:7: b. Next: make mutants LAB=02" cat said
name=long row=02.11 words="$(seq -s ' ' 60)" expect "a head of several lines" 0 "$table:23: long" write
expect "of at most 120 columns" 1 "" grep -E '^.{121}' $table
name=flags words='a hint | needs: sse2' expect "words and flags" 0 "flags" write
expect "are fields" 0 "flags | unit.c | 02.6 softmax: large | a hint | needs: sse2" cat $table
kind=variants row=02.6 words="3 is three" expect "a variant" 0 "grader/variants/02.txt:3: name. Next: make variants LAB=02" write
expect "with its reason" 0 "name | unit.c | 02.6 | 3 is three" cat grader/variants/02.txt

cp $table before
refuses() { expect "$1" 2 ": $2" write && check "$1: the table is as it was" cmp before $table; }
name=a refuses "a name that is there" "$table has a already, choose another name (line 3)"
name= refuses "no name" "write LAB=02 FROM=folder NAME=what-is-wrong"
name=../up refuses "a name that is a path" "a head is: name | unit.c"
name='a | b' refuses "a name of two fields" "a head is: name | unit.c"
row=03.1 refuses "a step of another lab" "ROW begins with a step of lab 02, as 02.1: 03.1"
row='02.6 | x' words=y refuses "a row of two fields" "a head is: name | unit.c"
words='a | needs: sse2 | b' refuses "a field too many" "a head is: name | unit.c"
words=$'a\nb' refuses "words of two lines" "an entry cannot say this"
words=' a' refuses "blanks that would be lost" "an entry cannot say this"
lab=99 refuses "no such lab" "there is no lab 99"
from=nowhere refuses "no such folder" "there is no folder nowhere"
from=grader refuses "a folder without units" "there is no unit in grader"
printf 'one\ntwo' >edited/unit.c && refuses "a last line without an end" "an entry cannot say this"
cp solutions/02-toy/unit.c edited && refuses "no change" "no unit in edited differs from that in solutions/02-toy"
touch edited/{unit,other}.c && : >edited/unit.c && : >edited/other.c
refuses "two units" "an entry changes one unit, but these differ from those in solutions/02-toy: other.c unit.c"
rm edited/* && touch edited/new.c && refuses "an unknown unit" "edited/new.c: lab 02 has no unit new.c"
kind=variants refuses "a variant without a reason" "write LAB=02 FROM=folder NAME=what-is-different" 2>/dev/null
kind=variants row='02.6 softmax' words=why refuses "a variant of a row" "ROW of a variant is a step: 02.6"
finish tables
