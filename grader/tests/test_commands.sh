#!/usr/bin/env bash
# The commands of the handouts and docs run; commands.sh reports those that do not.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
complaints() { grep -vx '    .*' "$dir/log"; }
cat >"$dir/wrong.md" <<'EOF'
    make tea
    make grade LAB=77
    make grade LAB=00 COLOUR=1
    make train-mnist ARGS="--tea"
    build/release/bin/no_such_program --size 3
    build/release/bin/bench_matmul --tea
    minitorch/bench/no_such.sh build/release
    $EDITOR labs/00-tensors/none.c
    datasets/fetch tea
    cd labs   # exit status 86
    git clone tea
    sudo apt-get install tea
Run `make
coffee`, or nothing.
EOF
grader/tools/commands.sh "$dir/wrong.md" >"$dir/log"
expect "each is reported" 0 "commands: 13 commands in 1 pages; 14 complaints" cat "$dir/log"
while IFS='|' read -r line words; do expect "line $line" 0 "wrong.md:$line: $words" complaints; done <<'EOF'
1|make tea: exit status 1
4|make train-mnist ARGS="--tea": exit status 64
5|build/release/bin/no_such_program --size 3: nothing before it is make
5|build/release/bin/no_such_program --size 3: exit status 127
8|$EDITOR labs/00-tensors/none.c: exit status 1
10|cd labs   # exit status 86: exit status 0
11|git clone tea: no test runs it
13|make coffee: exit status
EOF
expect "it says why" 0 "make knows no COLOUR" cat "$dir/log"
expect "it says why" 0 "unknown lab LAB=77" cat "$dir/log"

cat >"$dir/right.md" <<'EOF'
Not commands: `train_mnist`, and "make tea". A command: `make`.

    build/release-mine-02/bin/bench_views --size 32 && \
        cd labs # and what follows in the same block
    $EDITOR 00-tensors/view.c
Then run `minitorch/bench/bench_tokenizer.sh build/release`, which takes long.
EOF
expect "right commands" 0 "commands: 4 commands in 1 pages; 0 complaints" grader/tools/commands.sh "$dir/right.md"
expect "all pages" 0 "; 0 complaints" grader/tools/commands.sh
finish commands
