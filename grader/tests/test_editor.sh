#!/usr/bin/env bash
# build/compile_commands.json: valid, with the student's units, and clang compiles a file of each kind with its command.
# The container for editors: valid, and what it installs exists.
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
finish editor
