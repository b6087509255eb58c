#!/usr/bin/env bash
# run_layout.sh DIR-OF-CUEMU -- what README.md says about the folders: no two files have one name, but where CUDA has the
# names; calls of DIR's objects go from a folder to an earlier one; the table has every hook, and no other. Ends with
# "N passed, N failed".
set -uo pipefail
emu=$(cd "$1" && pwd)
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0
verdict() { # NAME COMPLAINTS: none is a pass
    if [ -z "$2" ]; then passed=$((passed + 1)) && echo "ok   $1"; else failed=$((failed + 1)) && echo "FAIL $1: $2"; fi
}

verdict "names" "$(find {run,count,check,api,translate,include/cuemu} -type f -printf '%f\n' | sort | uniq -d | xargs)"

above=(count check api)
for folder in run count check; do
    [ $folder = run ] || above=("${above[@]:1}")
    calls=$(nm -u "$emu/obj/$folder"/*.o | awk '$1 == "U" { print $2 }' | sort -u)
    there=$(for name in "${above[@]}"; do nm -g --defined-only "$emu/obj/$name"/*.o; done | awk 'NF == 3 { print $3 }' | sort -u)
    verdict "$folder/ calls nothing of ${above[*]}" "$(comm -12 <(echo "$calls") <(echo "$there") | grep -v '^emu_report_end$' | xargs)"
done

hooks=$(sed -n '/typedef struct emu_hooks/,/^}/p' run/hooks.h | grep -oP '\(\*\K\w+' | sort)
table=$(sed -n '/^| hook /,/^$/p' README.md | cut -d'|' -f2 | grep -oP '`\K\w+' | sort)
verdict "hooks in the table" "$([ -n "$hooks" ] || echo none)$(diff <(echo "$hooks") <(echo "$table") | grep '^[<>]' | xargs)"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
