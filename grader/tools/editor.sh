#!/usr/bin/env bash
# editor.sh FLAGS... -- writes build/compile_commands.json, where clangd looks: how each file is compiled. FLAGS are those of
# C files. Of a lab's units it has those in labs/, which students edit; .cu files are read as CUDA, with the emulator's
# headers.
set -euo pipefail
cd "$(dirname "$0")/../.."
cuda="clang++ -x cuda --cuda-host-only -nocudainc -nocudalib -Wno-unknown-cuda-version -Xclang -fcuda-allow-variadic-functions"
cuda+=" -std=c++17 -isystem minitorch/emulator/include -include cuemu/editor.h -Iminitorch"
mkdir -p build
[ -d solutions ] && solutions=solutions || solutions="" # a release has none
find minitorch grader $solutions labs \( -name '*.c' -o -name '*.cu' \) -not -path 'grader/attacks/*' -not -path 'grader/variants/*' \
    -not -path '*/emulator/tests/*' |
    sort | awk -v c="clang $* -DMG_MARCH='\"native\"' -DMG_LABS= -DMG_COUNTED_LABS= -DMG_RESERVES=" -v cuda="$cuda" -v root="$PWD" '
    function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
    /^labs\// { mine[substr($0, 6)] = 1 }
    { file[++n] = $0 }
    END {
        printf "["
        for (i = 1; i <= n; i++) {
            if (file[i] ~ /^solutions\// && substr(file[i], 11) in mine) continue
            how = (file[i] ~ /\.cu$/ ? cuda : c) (file[i] ~ /^labs\// ? " -Wno-unused" : "") " -c " file[i]
            printf "%s\n{\"directory\": %s, \"file\": %s, \"command\": %s}", comma, quoted(root), quoted(file[i]), quoted(how)
            comma = ","
        }
        print "\n]"
    }' >build/compile_commands.json.new
mv build/compile_commands.json.new build/compile_commands.json
