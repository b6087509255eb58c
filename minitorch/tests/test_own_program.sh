#!/usr/bin/env bash
# docs/OWN_PROGRAM.md: its program compiles and runs in both ways that the page describes, and prints what the page
# says; what is installed can be moved, and says what its processor lacks.
. "$(dirname "$0")/../../.ci/check.bash"
page=$root/docs/OWN_PROGRAM.md
check() { # NAME COMMAND: the command succeeds
    if "${@:2}" >"$dir/log" 2>&1; then ok; else bad "$1:" && cat "$dir/log"; fi
}
block() { awk -v mark="\`\`\`$1" '$0 == mark && !seen {inside = seen = 1; next} /^```/ {inside = 0} inside' "$page"; }
# learns FILE: the loss printed last is below 0.001, and there are as many lines as on the page.
learns() {
    cat "$1"
    [ "$(wc -l <"$1")" -eq "$(block text | wc -l)" ] && tail -1 "$1" | awk '{exit !($NF < 0.001)}'
}
block c >"$dir/sine.c"
check "the page has a program" test -s "$dir/sine.c"
make -s -C "$root" build/release/libgiven.a apps >"$dir/log" 2>&1 || { cat "$dir/log" && exit 1; }

# Outside the tree: the page's own lines, with another home. What was installed is moved, and a program beside it is found.
line=$(grep -E '^    gcc .*sine\.c' "$page") path=$(grep '^    export PKG_CONFIG_PATH=' "$page")
here() { env -C "$dir" HOME="$dir" MT="$root" bash -c "$1"; }
build() { here "${path/minitorch/$1}; ${2:-$line}"; } # FOLDER [LINE]
check "install" here "$(grep '^    make .* install' "$page")"
check "outside the tree: it compiles" build minitorch
mv "$dir/minitorch" "$dir/moved" && rm "$dir/sine"
check "outside the tree: it compiles after the folder was moved" build moved
check "outside the tree: it runs" bash -c "'$dir/sine' >'$dir/out'"
check "outside the tree: it learns" learns "$dir/out"
check "as C++: it compiles" build moved "$(sed 's/gcc -std=gnu11/g++ -std=c++20 -x c++/; s/sine\.c /& -x none /; s/-o sine/-o sine-cpp/' <<<"$line")"
check "as C++: the same numbers" bash -c "'$dir/sine-cpp' | cmp - '$dir/out'"
seq 3000 >"$dir/text"
env -C "$dir" PATH="$dir/moved/bin:$PATH" train_gpt2 -q --data text --layers 1 --heads 1 --width 8 --block 8 --batch 2 --steps 2 --warmup 1 \
    --eval-every 1 --eval-batches 1 -o run >"$dir/log" 2>&1 && [ -s "$dir/run/curve.svg" ] && ok || bad "an installed program, and the one beside it"
expect "no folder" 2 'where to? make install PREFIX=dir' make -s -C "$root" install PREFIX=
check "DESTDIR" make -s -C "$root" install FLAVOUR=release DESTDIR="$dir/a package" PREFIX=/opt/mt
check "a stage without programs" make -s -C "$root" install FLAVOUR=release INSTALLED= PREFIX="$dir/early" # as after lab 05
[ -s "$dir/early/lib/pkgconfig/minitorch.pc" ] && ok || bad "minitorch.pc of a stage: $(find "$dir/early" | head -3)"
[ -x "$dir/a package/opt/mt/bin/plan" ] && [ -s "$dir/a package/opt/mt/lib/libminitorch.a" ] && ok || bad "DESTDIR: $(find "$dir/a package" | head -3)"

if [ "$(uname -m)" = x86_64 ]; then
    objdump -d "$dir/moved/lib/libminitorch.a" >"$dir/code" && grep -q '%ymm' "$dir/code" && ! grep -q '%zmm' "$dir/code" && ok || bad "not for AVX2: $(grep -m1 '%zmm' "$dir/code")"
    # What no x86-64 processor of today has; and the function that says it has nothing that an earlier one lacks.
    echo 'int main(void) { return 3; }' | gcc -std=gnu11 -D_GNU_SOURCE -O3 -march=native -mxop -I"$root/minitorch" "$root/minitorch/core/base.c" -x c - -o "$dir/old"
    expect "an older processor" 1 'old: compiled for processors with xop, which this one lacks' "$dir/old"
    gcc -std=gnu11 -D_GNU_SOURCE -O3 -march=x86-64-v4 -I"$root/minitorch" -c "$root/minitorch/core/base.c" -o "$dir/base.o"
    objdump -d --no-show-raw-insn --disassemble=check_processor "$dir/base.o" >"$dir/log"
    [ "$(wc -l <"$dir/log")" -gt 30 ] && ! grep -qE '%[xyz]mm|\s(andn|shlx|shrx|sarx|rorx|mulx|bextr|bls[a-z]*)\s' "$dir/log" && ok || bad "check_processor"
fi

# Every header, from C++: the first function of each that the library or a unit has is found.
nm -P "$dir/moved/lib/libminitorch.a" 2>/dev/null | awk '$2 == "T" { print $1 }' | sort -u >"$dir/names"
for header in $(cd "$dir/moved/include/minitorch" && find . -name '*.h' | sort); do
    echo "#include \"${header#./}\""
    grep -v '^static' "$root/minitorch/$header" | grep -oE '^[a-z][a-z0-9_ *]*[ *]mt_[a-z0-9_]+\(' | grep -oE 'mt_[a-z0-9_]+\($' | tr -d '(' |
        grep -Fxf "$dir/names" | sed -n 1p >>"$dir/called"
done >"$dir/all.cc"
{
    echo "int main() { void *all[] = {"
    sed 's/.*/    (void *)&,/' "$dir/called"
    echo "}; return !all[0]; }"
} >>"$dir/all.cc"
check "C++: a function of more than 80 headers" test "$(wc -l <"$dir/called")" -gt 80
check "C++: they link" build moved "$(sed 's/gcc -std=gnu11/g++ -std=c++20 -D_GNU_SOURCE -w -x c++/; s/sine\.c /all.cc -x none /; s/-o sine/-o all/' <<<"$line")"
check "C++: they run" "$dir/all"

# Inside: the same file among the apps, in a separate build folder, which is removed afterwards.
mkdir -p "$dir/tree" && cp -r --preserve=timestamps "$root"/{Makefile,minitorch,solutions} "$dir/tree" && cp "$dir/sine.c" "$dir/tree/minitorch/apps/"
mkdir -p "$dir/tree/build/release" && cp -r --preserve=timestamps "$root"/build/release/{obj,units,libgiven.a} "$dir/tree/build/release/"
check "inside the tree: it compiles" make -s -C "$dir/tree" CUDA=off build/release/bin/sine
check "inside the tree: it runs" bash -c "'$dir/tree/build/release/bin/sine' >'$dir/out2'"
check "both ways: the same numbers" cmp "$dir/out" "$dir/out2"
finish "own program"
