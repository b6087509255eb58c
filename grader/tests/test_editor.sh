#!/usr/bin/env bash
# build/compile_commands.json: valid, with the student's units, and clang compiles a file of each kind with its command.
# The container for editors: valid, and what it installs exists.
# Tensors and views as gdb prints them (printers.py), and the commands of .vscode/: which lab and step they grade.
. "$(dirname "$0")/../../.ci/check.bash"
cd "$root" || exit 1
make -s compile_commands.json || exit 1
commands=build/compile_commands.json
# command FILE: how it is compiled.
command_of() { sed -nE "s|.*\"file\": \"$1\", \"command\": \"(.*)\"}.*|\1|p" $commands; }
listed() { grep -c "\"file\": \"$1\"" $commands; }
expect "it is JSON, and the files exist" 0 "exist" python3 -c '
import json, os
for entry in json.load(open("'$commands'")):
    assert os.path.exists(os.path.join(entry["directory"], entry["file"])), entry
print("exist")'
expect "the student's unit" 0 1 listed labs/02-backprop/softmax.c
expect "not the reference's beside it" 1 0 listed solutions/02-backprop/softmax.c
if command -v clang >/dev/null; then
    for file in labs/02-backprop/softmax.c labs/06-cuda-kernels/softmax.cu minitorch/cuda/loss.cu grader/build/build.c; do
        command=$(command_of $file)
        command=${command//\\\"/\"}
        expect "$file" 0 "" bash -c "${command/ -c / -fsyntax-only }"
    done
fi
expect "the container's description is JSON" 0 "bookworm" python3 -c '
import json
print(json.load(open(".devcontainer/devcontainer.json"))["image"])'
script=$(sed -nE 's/.*"postCreateCommand": "([^ "]*).*/\1/p' .devcontainer/devcontainer.json)
expect "what it runs first exists" 0 "" test -x "$script"

cat >"$dir/tensors.c" <<'EOF'
#include "core/tensor.h"
static void stop(const mt_tensor *t)
{
    __asm__ volatile("" : : "r"(t));
}
int main(void)
{
    float numbers[20] = { 1, 2, 3, 4, 5, -0.5f, 7, 8, 9 };
    uint16_t bf16[] = { 0x3fc0, 0xff80 }, f16[] = { 0x3e00, 0x7e00 };
    int64_t integers[] = { 1, 1ll << 40 };
    mt_storage f = { .data = numbers }, b = { .data = bf16 }, h = { .data = f16 }, i = { .data = integers };
    mt_storage device = { .device = MT_CUDA }, none = { .data = NULL };
    mt_tensor all[] = {
        { .view = { 2, { 2, 3 }, { 3, 1 }, 0 }, .storage = &f },
        { .view = { 2, { 3, 2 }, { 1, 3 }, 1 }, .storage = &f },
        { .view = { 1, { 9 }, { 1 }, 0 }, .storage = &f },
        { .view = { 0 }, .storage = &f },
        { .view = { 1, { 0 }, { 1 }, 0 }, .storage = &f },
        { .view = { 1, { 2 }, { 1 }, 0 }, .storage = &b, .dtype = MT_BF16 },
        { .view = { 1, { 2 }, { 1 }, 0 }, .storage = &h, .dtype = MT_F16 },
        { .view = { 1, { 2 }, { 1 }, 0 }, .storage = &i, .dtype = MT_I64 },
        { .view = { 1, { 2 }, { 1 }, 0 }, .storage = &device },
        { .view = { 1, { 2 }, { 1 }, 0 }, .storage = &none },
    };
    for (int k = 0; k < (int)(sizeof all / sizeof *all); k++)
        stop(&all[k]);
}
EOF
gcc -std=gnu11 -D_GNU_SOURCE -g -O0 -Iminitorch -o "$dir/tensors" "$dir/tensors.c" || exit 1
commands=(-ex "source grader/tools/printers.py" -ex "break stop" -ex run -ex "print t->view")
for _ in {1..10}; do commands+=(-ex "print *t" -ex continue); done
gdb -q -batch -nx "${commands[@]}" "$dir/tensors" >"$dir/log" 2>&1
printed() { expect "gdb prints $1" 0 " = $1" grep -m1 -xF "\$$n = $1" "$dir/log"; n=$((n + 1)); }
n=1
printed '[2, 3], strides [3, 1], offset 0'
printed 'f32 [2, 3], strides [3, 1], offset 0: [[1, 2, 3], [4, 5, -0.5]]'
printed 'f32 [3, 2], strides [1, 3], offset 1: [[2, 5], [3, -0.5], [4, 7]]'
printed 'f32 [9], strides [1], offset 0: [1, 2, 3, 4, 5, -0.5, 7, 8, ...]'
printed 'f32 [], strides [], offset 0: 1'
printed 'f32 [0], strides [1], offset 0: []'
printed 'bf16 [2], strides [1], offset 0: [1.5, -inf]'
printed 'f16 [2], strides [1], offset 0: [1.5, nan]'
printed 'i64 [2], strides [1], offset 0: [1, 1099511627776]'
printed 'f32 [2], strides [1], offset 0 on the device'
printed 'f32 [2], strides [1], offset 0: its memory cannot be read'

# The commands of the tasks, with what the editor puts in the places of its variables.
mkdir "$dir/labs" && cp -r labs/01-matmul "$dir/labs"
printf '#!/bin/sh\necho "make $*"\n' >"$dir/make" && chmod +x "$dir/make"
task() { # LABEL FILE LINE
    local command
    command=$("${PYTHON:-/usr/bin/python3}" -c 'import json, sys
print(next(t["command"] for t in json.load(open(".vscode/tasks.json"))["tasks"] if t["label"] == sys.argv[1]))' "$1")
    command=${command//'${fileDirname}'/$(dirname "$2")} command=${command//'${file}'/$2} command=${command//'${lineNumber}'/$3}
    PATH=$dir:$PATH bash -c "$command"
}
unit=$dir/labs/01-matmul/loops.c
line=$(grep -n 'MT_TODO("01.2")' "$unit" | cut -d: -f1)
expect "the lab" 0 "make grade LAB=01" task "Grade this lab" "$unit" 1
expect "the step at the cursor" 0 "make grade LAB=01 STEP=01.2" task "Grade the step at the cursor" "$unit" "$line"
expect "its calls" 0 "make debug LAB=01 STEP=01.2" task "Make its failing call again under ASan" "$unit" "$line"
check "the editor starts what make debug links" grep -q '"program": "${workspaceFolder}/build/debug/replay"' .vscode/launch.json
finish editor
