#!/usr/bin/env bash
# docs/OWN_PROGRAM.md: its program compiles and runs in both ways that the page describes, and prints what the page
# says.
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

# Outside the tree: the page's own compiler line.
line=$(grep -E '^    gcc .*sine\.c' "$page")
check "outside the tree: it compiles" env -C "$dir" MT="$root" bash -c "$line"
check "outside the tree: it runs" bash -c "'$dir/sine' >'$dir/out'"
check "outside the tree: it learns" learns "$dir/out"
check "as C++: it compiles" env -C "$dir" MT="$root" bash -c "$(sed 's/gcc -std=gnu11/g++ -std=c++20 -x c++/; s/sine\.c /& -x none /; s/-o sine/-o sine-cpp/' <<<"$line")"
check "as C++: the same numbers" bash -c "'$dir/sine-cpp' | cmp - '$dir/out'"

# Every header, from C++: the first function of each that the library or a unit has is found.
nm -P "$root"/build/release/libgiven.a "$root"/build/release/units/*/*.o 2>/dev/null | awk '$2 == "T" { print $1 }' | sort -u >"$dir/names"
for header in $(cd "$root/minitorch" && find . -name '*.h' | grep -vE '^\./(apps|bench|cuda|emulator|testing|tests)/' | sort); do
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
check "C++: they link" env -C "$dir" MT="$root" bash -c "$(sed 's/gcc -std=gnu11/g++ -std=c++20 -D_GNU_SOURCE -w -x c++/; s/sine\.c /all.cc -x none /; s/-o sine/-o all/' <<<"$line")"
check "C++: they run" "$dir/all"

# Inside: the same file among the apps, in a separate build folder, which is removed afterwards.
mkdir -p "$dir/tree" && cp -r --preserve=timestamps "$root"/{Makefile,minitorch,solutions} "$dir/tree" && cp "$dir/sine.c" "$dir/tree/minitorch/apps/"
mkdir -p "$dir/tree/build/release" && cp -r --preserve=timestamps "$root"/build/release/{obj,units,libgiven.a} "$dir/tree/build/release/"
check "inside the tree: it compiles" make -s -C "$dir/tree" CUDA=off build/release/bin/sine
check "inside the tree: it runs" bash -c "'$dir/tree/build/release/bin/sine' >'$dir/out2'"
check "both ways: the same numbers" cmp "$dir/out" "$dir/out2"
finish "own program"
