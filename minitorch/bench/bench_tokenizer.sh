#!/usr/bin/env bash
# bench_tokenizer.sh BUILD [TEXT] -- bench_tokenizer, then npm's tokenizers over the same text, whose ids must be the
# same.
#
# TEXT: the King James Bible where Debian's `bible` is installed, else tiny Shakespeare. The peers keep their caches
# from pass to pass, ours starts each pass with an empty one. Writes build/bench/tokenizer.csv and tokenizer-peers.csv.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=$1 text=${2:-} out=build/bench
peer=minitorch/bench/peers/tokenizer.js
export NODE_PATH=${NODE_PATH:-build/peers/node_modules}
mkdir -p $out
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

vocabulary=$(datasets/fetch gpt2 2>/dev/null) || { echo "no vocabulary of GPT-2, nothing measured (datasets/fetch gpt2)"; exit 0; }
vocabulary=${vocabulary##* in }
if [ -z "$text" ] && command -v bible >/dev/null; then
    text=$work/kjv.txt
    bible genesis1:1-revelation22:21 >"$text" 2>/dev/null
elif [ -z "$text" ]; then
    text=$(datasets/fetch --or-standin shakespeare 2>/dev/null) || exit 1
    text=${text##* in }/tinyshakespeare.txt
fi
rc=0
"$build/bin/bench_tokenizer" --text "$text" --vocabulary "$vocabulary" --csv $out/tokenizer.csv || rc=1
"$build/bin/tokenize" -q -n -v "$vocabulary" -o "$work/ours" "$text" >/dev/null || exit 1
tail -c +25 "$work/ours" >"$work/ids"
echo "package,tokens,seconds,tokens_per_s" >$out/tokenizer-peers.csv
for package in gpt-tokenizer tiktoken; do
    if ! said=$(node $peer $package "$text" 5 "$work/theirs" 2>/dev/null); then
        echo "$package is missing (npm install --prefix build/peers $package)"
        continue
    fi
    same='the same ids'
    cmp -s "$work/ids" "$work/theirs" || { same='OTHER IDS'; rc=1; }
    awk -v name=$package -v same="$same" '{ printf "%-14s %8.4f s  %6.1f M tokens/s  %s\n", name, $2, $1 / $2 / 1e6, same }' <<<"$said"
    awk -v name=$package '{ printf "%s,%d,%s,%.0f\n", name, $1, $2, $1 / $2 }' <<<"$said" >>$out/tokenizer-peers.csv
done
exit $rc
